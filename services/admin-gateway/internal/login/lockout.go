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
// and how long to wait when the try is refused.
func (l *Lockout) Begin(account string, from netip.Addr) (*Attempt, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, bucket := l.now(), address.Bucket(from)
	a := &Attempt{lockout: l, name: account, bucket: bucket, place: l.addresses.take(digestOf(bucket))}
	wait := a.place.wait(now, addressFailures, "")
	if a.account = l.provenPair(now, account, bucket); a.account == nil {
		a.account, a.from = l.accounts.take(digestOf(account)), bucket
	}
	if wait = max(wait, a.account.wait(now, accountFailures, a.from)); wait > 0 {
		return nil, wait
	}
	a.place.trying++
	a.account.trying++
	return a, 0
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
	name, bucket string
	// from is empty where the account's tally is of this address alone.
	from           string
	account, place *tally
	ended          bool
}

// Failed ends the attempt: the password was wrong. It tells whether a pause begins.
func (a *Attempt) Failed() bool {
	a.lockout.mu.Lock()
	defer a.lockout.mu.Unlock()
	if a.end() {
		return false
	}
	now := a.lockout.now()
	ofAccount := a.account.fail(now, accountFailures, a.from)
	return a.place.fail(now, addressFailures, "") || ofAccount
}

// Passed ends the attempt: the password was right. The failures of the account are forgotten,
// those of the address are not, else who has a user could guess at others without end.
func (a *Attempt) Passed() {
	a.lockout.mu.Lock()
	defer a.lockout.mu.Unlock()
	if a.end() {
		return
	}
	a.place.trying--
	a.account.trying--
	a.account.clear()
	a.lockout.prove(a.name, a.bucket)
}

// Dropped ends the attempt without a result: the password was not compared.
func (a *Attempt) Dropped() {
	a.lockout.mu.Lock()
	defer a.lockout.mu.Unlock()
	if a.end() {
		return
	}
	a.place.trying--
	a.account.trying--
}

// end tells whether the attempt had ended before.
func (a *Attempt) end() bool {
	before := a.ended
	a.ended = true
	return before
}
