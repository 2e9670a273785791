package reshard_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/storetest"
)

// fuse counts the calls that a coordinator makes to the store and to the shards, and blows
// at one of them.
type fuse struct {
	at     int  // which call fails, counted from 1; 0 for none
	after  bool // the call has its effect and its answer is lost, otherwise it is not made
	deadly bool // the process dies with it: no later call is made

	mu    sync.Mutex
	calls int
	blown bool
	lost  string // the call that failed
}

var errFuse = errors.New("the fuse has blown")

// enter is asked before a call.
func (f *fuse) enter(call string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.blown && f.deadly {
		return errFuse
	}
	f.calls++
	if f.calls != f.at || f.after {
		return nil
	}
	f.blown, f.lost = true, call
	return errFuse
}

// leave is asked after a call that succeeded.
func (f *fuse) leave(call string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls != f.at || !f.after || f.blown {
		return nil
	}
	f.blown, f.lost = true, call
	return errFuse
}

// dead tells whether the process is gone.
func (f *fuse) dead() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.blown && f.deadly
}

// hasBlown tells whether the call came that was to fail.
func (f *fuse) hasBlown() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.blown
}

// fit puts the fuse into a coordinator.
func (f *fuse) fit(c *coordinator) {
	away := func(err error) error {
		if err == nil {
			return nil
		}
		return &store.UnavailableError{State: "TIMEOUT", Written: true, Cause: err}
	}
	c.kept.Faulty.Before(func(_ context.Context, call storetest.Call) error {
		return away(f.enter(call.Op + " " + call.Key.String()))
	})
	c.kept.Faulty.After(func(_ context.Context, call storetest.Call) error {
		return away(f.leave(call.Op + " " + call.Key.String()))
	})
	c.kept.fuse = f
	c.shards.fail(f.enter, f.leave)
}

// fusedStore is a store whose leases die with the process that holds them.
type fusedStore struct {
	*storetest.Faulty
	fuse *fuse // nil for none
}

func (s *fusedStore) Lease(ctx context.Context, key store.Key, ttl time.Duration) (store.Lease, error) {
	held, err := s.Faulty.Lease(ctx, key, ttl)
	if err != nil || s.fuse == nil {
		return held, err
	}
	return fusedLease{held, s.fuse}, nil
}

type fusedLease struct {
	store.Lease
	fuse *fuse
}

func (l fusedLease) Extend(ctx context.Context, ttl time.Duration) error {
	if err := l.fuse.enter("Extend"); err != nil {
		return err
	}
	if err := l.Lease.Extend(ctx, ttl); err != nil {
		return err
	}
	return l.fuse.leave("Extend")
}

func (l fusedLease) Release(ctx context.Context) error {
	if err := l.fuse.enter("Release"); err != nil {
		return err
	}
	if err := l.Lease.Release(ctx); err != nil {
		return err
	}
	return l.fuse.leave("Release")
}
