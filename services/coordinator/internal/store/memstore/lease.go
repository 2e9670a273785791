package memstore

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// held is a multi-step lease as it is stored.
type held struct {
	token string
	until store.Millis
}

// by tells whether the lease is still held by the owner of the token.
func (h held) by(token string, clock store.Millis) bool {
	return h.token == token && clock < h.until
}

// lease is the owner's side of a multi-step lease.
type lease struct {
	store *Store
	key   store.Key
	token string

	mu       sync.Mutex
	released bool
}

// Lease implements store.Store. It does not wait: the clock is the test's.
func (s *Store) Lease(ctx context.Context, key store.Key, ttl time.Duration) (store.Lease, error) {
	if err := s.enter(ctx, key.Check(protocol.DefaultKeyPrefix)); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	clock := s.now()
	if clock < s.image.leases[key].until {
		return nil, store.ErrBusy
	}
	token := rand.Text()
	s.image.leases[key] = held{token: token, until: clock.Add(ttl)}
	return &lease{store: s, key: key, token: token}, nil
}

// Token implements store.Lease.
func (l *lease) Token() string { return l.token }

// Extend implements store.Lease.
func (l *lease) Extend(ctx context.Context, ttl time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return store.ErrBusy
	}
	if err := l.store.enter(ctx, nil); err != nil {
		return err
	}
	defer l.store.mu.Unlock()
	clock := l.store.now()
	if !l.store.image.leases[l.key].by(l.token, clock) {
		return store.ErrBusy
	}
	l.store.image.leases[l.key] = held{token: l.token, until: clock.Add(ttl)}
	return nil
}

// Release implements store.Lease.
func (l *lease) Release(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.released {
		return nil
	}
	if err := l.store.enter(ctx, nil); err != nil {
		return err
	}
	defer l.store.mu.Unlock()
	if l.store.image.leases[l.key].token == l.token {
		delete(l.store.image.leases, l.key)
	}
	l.released = true
	return nil
}
