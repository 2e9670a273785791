package pgstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// The pauses between two attempts to take a lease: they double and are jittered.
const (
	firstPause = 2 * time.Millisecond
	maxPause   = 100 * time.Millisecond
)

const (
	takeStatement    = "SELECT rsc_take($1, $2, $3, $4)"
	extendStatement  = "SELECT rsc_extend($1, $2, $3, $4)"
	releaseStatement = "WITH released AS (DELETE FROM rsc_lease WHERE stream_prefix = $1 AND consumer_group = $2 AND token = $3) SELECT true"
)

// lease is the owner's side of a multi-step lease. It has no timer: what is not extended
// ends by itself, and after Release nothing is sent for it (field case F31).
type lease struct {
	store *Store
	key   store.Key
	token string

	mu       sync.Mutex // held over calls, so that Release is the last of them
	released bool       // Release was called: no Extend any more
	done     bool       // Release was answered
}

// Lease implements store.Store. It waits for another holder, with jittered pauses from 2 ms,
// up to Options.LeaseWait or the end of ctx, and fails with store.ErrBusy then.
func (s *Store) Lease(ctx context.Context, key store.Key, ttl time.Duration) (store.Lease, error) {
	if err := key.Check(s.options.KeyPrefix); err != nil {
		return nil, err
	}
	wanted := &lease{store: s, key: key, token: rand.Text()}
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval, pauses.Multiplier = firstPause, maxPause, 2
	since := clock.Now()
	for {
		err := wanted.call(ctx, takeStatement, ttl.Milliseconds())
		if err == nil {
			return wanted, nil
		}
		left := s.options.LeaseWait - clock.Since(since)
		if !errors.Is(err, store.ErrBusy) || left <= 0 {
			return nil, err
		}
		if ended := clock.Sleep(ctx, min(left, pauses.NextBackOff())); ended != nil {
			return nil, fmt.Errorf("%w (%w)", err, ended)
		}
	}
}

// Token implements store.Lease.
func (l *lease) Token() string { return l.token }

// Extend implements store.Lease.
func (l *lease) Extend(ctx context.Context, ttl time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return fmt.Errorf("%w: %q was released", store.ErrBusy, l.key)
	}
	return l.call(ctx, extendStatement, ttl.Milliseconds())
}

// Release implements store.Lease. When it fails it may be called again.
func (l *lease) Release(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return nil
	}
	l.released = true
	if err := l.call(ctx, releaseStatement); err != nil {
		return err
	}
	l.done = true
	return nil
}

// call runs a statement about the lease, which answers whether it is this one's.
func (l *lease) call(ctx context.Context, statement string, args ...any) error {
	var held bool
	args = append([]any{l.key.Stream, l.key.Group, []byte(l.token)}, args...)
	if err := l.store.call(ctx, writes, into(&held), statement, args...); err != nil {
		return fmt.Errorf("lease of %q: %w", l.key, err)
	}
	if !held {
		return fmt.Errorf("%w: %q", store.ErrBusy, l.key)
	}
	return nil
}
