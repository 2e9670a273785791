package login

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// maxRevoked is how many revocations are kept at most. Beyond it, logging out is
	// refused: forgetting one would make a token valid again.
	maxRevoked = 1_000_000
	// sweepEvery is how often those that are over are dropped.
	sweepEvery = time.Minute
)

// Revocations knows the tokens and sessions that were logged out.
type Revocations interface {
	// Revoke ends the token of an id. until is when the token would have ended by itself, and
	// the revocation may be forgotten. An error is a *protocol.Error; the token may be over
	// all the same.
	Revoke(ctx context.Context, id string, until time.Time) error
	// Revoked tells whether a token was ended. It asks nobody else.
	Revoked(id string) bool
}

// LocalRevocations is the Revocations of a gateway that is the only one. A restart forgets
// them. It is safe for concurrent use.
type LocalRevocations struct {
	now func() time.Time

	mu    sync.RWMutex
	until map[string]time.Time
	swept time.Time
}

// NewLocalRevocations returns a LocalRevocations that knows none. now is the clock.
func NewLocalRevocations(now func() time.Time) *LocalRevocations {
	return &LocalRevocations{now: now, until: map[string]time.Time{}, swept: now()}
}

// Revoke implements Revocations. It refuses with OVERLOADED beyond a million that have not
// ended.
func (l *LocalRevocations) Revoke(_ context.Context, id string, until time.Time) error {
	if !l.add(id, until) {
		return protocol.Errorf(protocol.CodeOverloaded, "too many tokens were logged out that have not ended yet")
	}
	return nil
}

// Revoked implements Revocations.
func (l *LocalRevocations) Revoked(id string) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	until, known := l.until[id]
	return known && l.now().Before(until)
}

// add keeps a revocation, and tells whether there was room.
func (l *LocalRevocations) add(id string, until time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if now.Sub(l.swept) >= sweepEvery {
		l.sweep(now)
	}
	if _, known := l.until[id]; !known && len(l.until) >= maxRevoked {
		return false
	}
	l.until[id] = until
	return true
}

func (l *LocalRevocations) sweep(now time.Time) {
	l.swept = now
	for id, until := range l.until {
		if !now.Before(until) {
			delete(l.until, id)
		}
	}
}

// all returns what is kept.
func (l *LocalRevocations) all() map[string]time.Time {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return maps.Clone(l.until)
}
