package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// The operations of the store that write.
const (
	opCreate = "create"
	opCommit = "commit"
	opTouch  = "touch"
	opDelete = "delete"
)

// Store returns inner, with its writes counted and timed.
func (m *Metrics) Store(inner store.Archive) store.Archive { return measured{inner, m} }

type measured struct {
	store.Archive

	metrics *Metrics
}

// Create implements store.Store.
func (s measured) Create(ctx context.Context, c store.Create) (store.Committed, error) {
	began := clock.Now()
	done, err := s.Archive.Create(ctx, c)
	s.metrics.wrote(opCreate, clock.Since(began), err)
	return done, err
}

// Commit implements store.Store.
func (s measured) Commit(ctx context.Context, c store.Commit) (store.Committed, error) {
	began := clock.Now()
	done, err := s.Archive.Commit(ctx, c)
	s.metrics.wrote(opCommit, clock.Since(began), err)
	s.metrics.beats(len(c.Beats))
	return done, err
}

// Touch implements store.Store.
func (s measured) Touch(ctx context.Context, t store.Touch) (store.Touched, error) {
	began := clock.Now()
	done, err := s.Archive.Touch(ctx, t)
	s.metrics.wrote(opTouch, clock.Since(began), err)
	s.metrics.beats(len(t.Beats))
	return done, err
}

// Delete implements store.Store.
func (s measured) Delete(ctx context.Context, key store.Key, version store.Version, event []byte) (store.Committed, error) {
	began := clock.Now()
	done, err := s.Archive.Delete(ctx, key, version, event)
	s.metrics.wrote(opDelete, clock.Since(began), err)
	return done, err
}

// Lease implements store.Store.
func (s measured) Lease(ctx context.Context, key store.Key, ttl time.Duration) (store.Lease, error) {
	lease, err := s.Archive.Lease(ctx, key, ttl)
	if errors.Is(err, store.ErrBusy) {
		s.metrics.busy.WithLabelValues().Inc()
	}
	return lease, err
}

// wrote counts a write. One whose guard did not hold has not failed: it is decided again.
func (m *Metrics) wrote(operation string, took time.Duration, err error) {
	m.writeTime.Observe(took, operation)
	switch {
	case err == nil:
		m.commits.WithLabelValues(operation).Inc()
	case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrExists), errors.Is(err, store.ErrNotFound):
	default:
		m.writesFailed.WithLabelValues(operation).Inc()
	}
}

func (m *Metrics) beats(n int) {
	if n > 0 {
		m.batch.Observe(float64(n))
	}
}
