package redisstore

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

// lease is the owner's side of a multi-step lease. It has no timer: what is not
// extended ends by itself, and after Release nothing is sent for it (field case F31).
type lease struct {
	store *Store
	key   store.Key
	token string

	mu       sync.Mutex // held over calls, so that Release is the last of them
	released bool       // Release was called: no Extend any more
	done     bool       // Release was answered
}

// Lease implements store.Store. It waits for another holder, with jittered pauses from
// 2 ms, up to Options.LeaseWait or the end of ctx, and fails with store.ErrBusy then.
func (s *Store) Lease(ctx context.Context, key store.Key, ttl time.Duration) (store.Lease, error) {
	if err := key.Check(s.options.KeyPrefix); err != nil {
		return nil, err
	}
	wanted := &lease{store: s, key: key, token: rand.Text()}
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval, pauses.Multiplier = firstPause, maxPause, 2
	since := clock.Now()
	for {
		err := wanted.call(ctx, s.scripts.take, wanted.token, ttl.Milliseconds())
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
	return l.call(ctx, l.store.scripts.extend, l.token, ttl.Milliseconds())
}

// Release implements store.Lease. When it fails it may be called again.
func (l *lease) Release(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return nil
	}
	l.released = true
	if err := l.call(ctx, l.store.scripts.release, l.token); err != nil {
		return err
	}
	l.done = true
	return nil
}

func (l *lease) call(ctx context.Context, script script, args ...any) error {
	answer, err := l.store.run(ctx, script, writes, []string{l.store.keys.of(l.key).lease}, args...)
	switch {
	case err != nil:
		return l.store.fault(l.key, err)
	case answer.word == wordOK:
		return nil
	default:
		return answer.refusal(l.key)
	}
}
