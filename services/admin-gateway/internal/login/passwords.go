package login

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/users"
)

const (
	// rememberFor is how long a right password is not hashed again for basic authentication
	// (gateway, Authentication).
	rememberFor   = time.Minute
	maxRemembered = 10_000
	// hashPatience bounds how long a password waits for its turn to be hashed.
	hashPatience = 5 * time.Second
	// maxFlights is how many checks are under way at most, as many as get their turn within
	// that time. More would only hold up what else the gateway does.
	maxFlights = 64
)

// errWrong comes for a wrong password and for a user that does not exist.
var errWrong = errors.New("no user has this name and password")

// lockedError comes while no password is tried for an account or from an address.
type lockedError struct{ wait time.Duration }

func (e *lockedError) Error() string {
	return fmt.Sprintf("no password is tried for %s", e.wait)
}

// passwords checks names with passwords. It is safe for concurrent use.
type passwords struct {
	users *users.Directory
	locks *Lockout
	now   func() time.Time
	// secret keys the MACs under which checks are known; no password is kept.
	secret []byte

	mu sync.Mutex
	// flights are the checks that are under way, remembered the right ones with the time until
	// which they are.
	flights    map[checkKey]*flight
	remembered map[checkKey]time.Time
}

// checkKey stands for a name with a password, checked with one table.
type checkKey struct {
	generation uint64
	mac        [sha256.Size]byte
}

// flight is a check with its result, which counts when done is closed.
type flight struct {
	done chan struct{}
	err  error
}

func newPasswords(directory *users.Directory, locks *Lockout, now func() time.Time) *passwords {
	p := &passwords{
		users: directory, locks: locks, now: now, secret: make([]byte, sha256.Size),
		flights: map[checkKey]*flight{}, remembered: map[checkKey]time.Time{},
	}
	_, _ = rand.Read(p.secret) // which never fails
	return p
}

// check returns the user with this name and password, or errWrong, a *lockedError, or a
// *protocol.Error with OVERLOADED. With remembered, a password that was right within the last
// minute, by the table of now, is not hashed again.
func (p *passwords) check(ctx context.Context, name, password string, from netip.Addr, remembered bool) (auth.Principal, error) {
	if err := p.compare(ctx, name, password, from, remembered); err != nil {
		return auth.Principal{}, err
	}
	principal, known := p.users.Principal(name)
	if !known {
		return auth.Principal{}, errWrong // removed meanwhile
	}
	p.locks.Prove(name, from)
	return principal, nil
}

// compare joins the check of the name with the password, or makes it.
func (p *passwords) compare(ctx context.Context, name, password string, from netip.Addr, remembered bool) error {
	key := p.key(name, password)
	for {
		if wait := p.locks.Wait(name, from); wait > 0 {
			return &lockedError{wait}
		}
		f, mine := p.join(key, remembered)
		if mine {
			p.fly(ctx, key, f, name, password, from)
			return f.err
		}
		select {
		case <-f.done:
		case <-ctx.Done():
			return overloaded().Because(ctx.Err())
		}
		if _, locked := errors.AsType[*lockedError](f.err); !locked {
			return f.err
		}
		// Another address was refused. This one asks for itself.
	}
}

// key returns what a check is known by. The generation is read before the check: what is
// found with a later table is kept under a number that nobody asks for again.
func (p *passwords) key(name, password string) checkKey {
	key := checkKey{generation: p.users.Generation()}
	mac := hmac.New(sha256.New, p.secret)
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(name)))
	mac.Write(size[:])
	mac.Write([]byte(name))
	mac.Write([]byte(password))
	key.mac = [sha256.Size]byte(mac.Sum(nil))
	return key
}

// join returns the check of the key that is under way, with remembered also one that has
// ended well, or a new one, which the caller flies. When there are too many it returns one
// that has ended as overloaded.
func (p *passwords) join(key checkKey, remembered bool) (joined *flight, mine bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until, known := p.remembered[key]; remembered && known && p.now().Before(until) {
		return landed(nil), false
	}
	if flying := p.flights[key]; flying != nil {
		return flying, false
	}
	if len(p.flights) >= maxFlights {
		return landed(overloaded()), false
	}
	fresh := &flight{done: make(chan struct{}), err: overloaded()}
	p.flights[key] = fresh
	return fresh, true
}

// fly checks a password. It does so to the end when the caller has gone away, else a guess
// could be taken back before it counts.
func (p *passwords) fly(ctx context.Context, key checkKey, f *flight, name, password string, from netip.Addr) {
	defer p.land(key, f)
	attempt, wait := p.locks.Begin(name, from)
	if attempt == nil {
		f.err = &lockedError{wait}
		return
	}
	defer attempt.Dropped()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), hashPatience)
	defer cancel()
	_, passes, err := p.users.Check(ctx, name, password)
	switch {
	case err != nil:
		f.err = err
	case !passes:
		attempt.Failed()
		f.err = errWrong
	default:
		attempt.Passed()
		f.err = nil
	}
}

func (p *passwords) land(key checkKey, f *flight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.flights, key)
	if f.err == nil {
		p.remember(key)
	}
	close(f.done)
}

func (p *passwords) remember(key checkKey) {
	now := p.now()
	for known, until := range p.remembered {
		if known.generation != key.generation || !now.Before(until) {
			delete(p.remembered, known)
		}
	}
	if len(p.remembered) < maxRemembered {
		p.remembered[key] = now.Add(rememberFor)
	}
}

// landed returns a flight that has ended.
func landed(err error) *flight {
	f := &flight{done: make(chan struct{}), err: err}
	close(f.done)
	return f
}

func overloaded() *protocol.Error {
	return protocol.Errorf(protocol.CodeOverloaded, "too many passwords are being checked at the moment")
}
