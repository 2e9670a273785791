package login

import (
	"net/netip"
	"sync"
	"time"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/address"
)

// How many failures within the window are free of a pause (reliability, Login and tokens).
const (
	accountFailures = 10
	addressFailures = 30
)

// How much is kept, 100,000 tallies of some hundred bytes together.
const (
	maxAccounts  = 40_000
	maxAddresses = 40_000
	maxProven    = 20_000
	// provenFor is how long an address is known to be one of an account's.
	provenFor = 30 * 24 * time.Hour
)

// Lockout bounds how often passwords are guessed: 10 failures for an account and 30 from an
// address (of IPv6, from a /64) within 15 minutes, each further one after a pause that
// doubles from 1 second to 5 minutes. Tries that are under way count as failures until they
// have ended. It is safe for concurrent use.
//
// The trade: an account that somebody guesses at is slow for its user too, but never closed.
// An address from which the account's password was right before is not held up by others'
// failures, it has a count of its own; nor is who holds a token or session. From an address
// that is new, the right password is taken after the pause, for which those that have not
// failed have a quarter less to wait, so that who keeps the account locked from a few
// addresses cannot take every turn. What guessing gains is bounded by one password a pause.
// Every gateway counts for itself.
type Lockout struct {
	now func() time.Time

	mu sync.Mutex
	// proven are pairs of account and address.
	accounts, addresses, proven *book
}

// NewLockout returns a Lockout that has seen nothing. now is the clock.
func NewLockout(now func() time.Time) *Lockout {
	return &Lockout{now: now, accounts: newBook(maxAccounts), addresses: newBook(maxAddresses), proven: newBook(maxProven)}
}

// Wait returns how long a password for the account is refused from the address, 0 when one
// may be tried now. The account need not exist.
func (l *Lockout) Wait(account string, from netip.Addr) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, bucket := l.now(), address.Bucket(from)
	var wait time.Duration
	if t := l.addresses.find(digestOf(bucket)); t != nil {
		wait = t.pausing(now, "")
	}
	if t := l.provenPair(now, account, bucket); t != nil {
		return max(wait, t.pausing(now, ""))
	}
	if t := l.accounts.find(digestOf(account)); t != nil {
		wait = max(wait, t.pausing(now, bucket))
	}
	return wait
}

// Begin counts a try of a password, of which the caller says how it ended. It returns nil
// and how long to wait when the try is refused. A refusal leaves no trace, else asking would
// be enough to push what counts out of the memory.
func (l *Lockout) Begin(account string, from netip.Addr) (*Attempt, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, bucket := l.now(), address.Bucket(from)
	place := entry{book: l.addresses, key: digestOf(bucket), limit: addressFailures}
	counted := entry{book: l.accounts, key: digestOf(account), limit: accountFailures, from: bucket}
	if l.provenPair(now, account, bucket) != nil {
		counted = entry{book: l.proven, key: digestOf(account, bucket), limit: accountFailures}
	}
	if wait := max(place.wait(now), counted.wait(now)); wait > 0 {
		return nil, wait
	}
	place.begin()
	counted.begin()
	return &Attempt{lockout: l, name: account, bucket: bucket, account: counted, place: place}, 0
}

// Prove notes that the account's password was right from the address.
func (l *Lockout) Prove(account string, from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prove(account, address.Bucket(from))
}

func (l *Lockout) prove(account, bucket string) {
	l.proven.take(digestOf(account, bucket)).proven = l.now()
}

// provenPair returns the tally of an account at an address where its password was right, nil
// at others.
func (l *Lockout) provenPair(now time.Time, account, bucket string) *tally {
	t := l.proven.find(digestOf(account, bucket))
	if t == nil || now.Sub(t.proven) >= provenFor {
		return nil
	}
	return t
}

// Attempt is a try of a password that is under way. It ends once, with the first of Failed,
// Passed and Dropped; the others do nothing after it.
type Attempt struct {
	lockout *Lockout
	// name and bucket are the account and the address.
	name, bucket   string
	account, place entry
	ended          bool
}

// Failed ends the attempt: the password was wrong.
func (a *Attempt) Failed() {
	a.end(func(now time.Time) {
		a.account.tally.fail(now, a.account.limit, a.account.from)
		a.place.tally.fail(now, a.place.limit, "")
	})
}

// Passed ends the attempt: the password was right. The failures of the account are forgotten,
// those of the address are not, else who has a user could guess at others without end.
func (a *Attempt) Passed() {
	a.end(func(time.Time) {
		a.account.tally.clear()
		a.lockout.prove(a.name, a.bucket)
	})
}

// Dropped ends the attempt without a result: the password was not compared.
func (a *Attempt) Dropped() { a.end(func(time.Time) {}) }

// end ends the attempt, where it has not ended, and notes the result.
func (a *Attempt) end(note func(now time.Time)) {
	a.lockout.mu.Lock()
	defer a.lockout.mu.Unlock()
	if a.ended {
		return
	}
	a.ended = true
	a.account.tally.trying--
	a.place.tally.trying--
	note(a.lockout.now())
	a.account.close()
	a.place.close()
}

// entry is the tally of one account or address that a try is about.
type entry struct {
	book  *book
	key   digest
	limit int
	// from is the address that has a head start or none, empty where the tally is of one
	// address alone.
	from string
	// tally is there once the try has begun.
	tally *tally
}

func (e *entry) wait(now time.Time) time.Duration {
	known := e.book.find(e.key)
	if known == nil {
		return 0
	}
	return known.wait(now, e.limit, e.from)
}

func (e *entry) begin() {
	e.tally = e.book.take(e.key)
	e.tally.trying++
}

// close gives the room back where there is nothing to remember.
func (e *entry) close() {
	if e.tally.empty() {
		e.book.drop(e.key)
	}
}
