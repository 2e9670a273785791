package peers_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/peers"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ttl  = 10 * time.Second
	call = 4 * time.Second
)

// house is one store with its coordinators, in a bubble of time.
type house struct {
	t    *testing.T
	kept *memstore.Store
	down atomic.Bool
	// newest is the newest schema of a record in the store.
	newest atomic.Int64
	stuck  atomic.Bool // records cannot be written again
}

// Announce implements store.Registry.
func (h *house) Announce(ctx context.Context, peer store.Peer, ttl time.Duration) ([]store.Peer, error) {
	if h.down.Load() {
		return nil, &store.UnavailableError{State: "UNREACHABLE", Cause: errors.New("away")}
	}
	return h.kept.Announce(ctx, peer, ttl)
}

// Withdraw implements store.Registry.
func (h *house) Withdraw(ctx context.Context, id string) error { return h.kept.Withdraw(ctx, id) }

func bubble(t *testing.T, run func(h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &house{t: t}
		h.kept = memstore.New(func() store.Millis { return store.Millis(time.Now().UnixMilli()) })
		h.newest.Store(1)
		run(h)
	})
}

// release starts a coordinator that reads and writes schemas up to newest.
func (h *house) release(id string, newest int) *peers.Peers {
	h.t.Helper()
	p := peers.New(peers.Config{ID: id, Oldest: 1, Newest: newest, TTL: ttl, CallTimeout: call}, h, h.rewrite, slog.New(slog.DiscardHandler))
	p.Announce(h.t.Context())
	p.Start()
	h.t.Cleanup(func() { p.Close(context.WithoutCancel(h.t.Context())) })
	return p
}

func (h *house) rewrite(_ context.Context, schema int) error {
	if h.stuck.Load() {
		return errors.New("not written")
	}
	h.newest.Store(min(h.newest.Load(), int64(schema)))
	return nil
}

// write is a change of a record by a coordinator.
func (h *house) write(by *peers.Peers) { h.newest.Store(int64(by.Schema())) }

func (h *house) pass(d time.Duration) {
	require.NoError(h.t, clock.Sleep(h.t.Context(), d)) // the bubble's time
	synctest.Wait()
}

func TestAnUpdateWritesTheNewerSchemaOnlyAfterTheLastOlderCoordinatorHasGone(t *testing.T) {
	t.Parallel()
	bubble(t, func(h *house) {
		t := h.t
		oldA, oldB := h.release("oldA", 1), h.release("oldB", 1)
		newA := h.release("newA", 2)
		for range 5 {
			h.pass(ttl)
			require.Equal(t, 1, newA.Schema())
			require.NoError(t, oldA.Ready(), "who serves goes on")
		}
		oldA.Close(t.Context())
		newB := h.release("newB", 2)
		h.pass(3 * ttl)
		require.Equal(t, 1, newA.Schema())
		oldB.Close(t.Context())
		h.pass(ttl / 2)
		require.Equal(t, 1, newA.Schema(), "one that hung for a moment may come back")
		h.pass(2 * ttl)
		require.Equal(t, 2, newA.Schema())
		require.Equal(t, 2, newB.Schema())
		require.NoError(t, newA.Ready())
	})
}

func TestACoordinatorThatDiedIsWaitedForUntilItsAnnouncementEnds(t *testing.T) {
	t.Parallel()
	bubble(t, func(h *house) {
		t := h.t
		_, err := h.Announce(t.Context(), store.Peer{ID: "dies", Reads: 1, Writes: 1}, ttl)
		require.NoError(t, err)
		next := h.release("new", 2)
		h.pass(ttl + ttl/2)
		require.Equal(t, 1, next.Schema())
		h.pass(2 * ttl)
		require.Equal(t, 2, next.Schema())
	})
}

func TestOnTheWayBackTheOlderIsReadyOnlyWhenItCanReadEverything(t *testing.T) {
	t.Parallel()
	bubble(t, func(h *house) {
		t := h.t
		newA, newB := h.release("newA", 2), h.release("newB", 2)
		h.pass(2 * ttl)
		h.write(newA)
		require.EqualValues(t, 2, h.newest.Load())

		h.stuck.Store(true)
		old := h.release("old", 1)
		require.ErrorContains(t, old.Ready(), "newA (schema 2), newB (schema 2)")
		h.pass(ttl)
		require.Equal(t, 1, newA.Schema())
		require.Equal(t, 1, newB.Schema())
		require.Error(t, old.Ready(), "records may still be in schema 2")

		h.stuck.Store(false)
		h.pass(2 * ttl)
		require.NoError(t, old.Ready())
		require.EqualValues(t, 1, h.newest.Load())
		h.write(newB)
		require.EqualValues(t, 1, h.newest.Load())
	})
}

func TestWhatWasOnItsWayWhenAnOlderOneCameIsWrittenAgainToo(t *testing.T) {
	t.Parallel()
	bubble(t, func(h *house) {
		t := h.t
		next := h.release("new", 2)
		h.pass(2 * ttl)
		require.Equal(t, 2, next.Schema())
		old := h.release("old", 1)
		h.pass(ttl / 4)
		require.Equal(t, 1, next.Schema())
		require.Error(t, old.Ready())
		h.newest.Store(2) // a write that was decided before comes late
		h.pass(2 * ttl)
		require.NoError(t, old.Ready())
		require.EqualValues(t, 1, h.newest.Load())
	})
}

// TestANewerOneThatJustStartedDoesNotClaimThatNothingIsNewer: after a restart of all nobody knows what is in the store.
func TestANewerOneThatJustStartedDoesNotClaimThatNothingIsNewer(t *testing.T) {
	t.Parallel()
	bubble(t, func(h *house) {
		t := h.t
		h.newest.Store(2)
		h.release("new", 2)
		old := h.release("old", 1)
		require.Error(t, old.Ready())
		h.pass(2 * ttl)
		require.NoError(t, old.Ready())
		require.EqualValues(t, 1, h.newest.Load())
	})
}

func TestACoordinatorThatCannotBeAnnouncedWritesWhatAllRead(t *testing.T) {
	t.Parallel()
	bubble(t, func(h *house) {
		t := h.t
		next := h.release("new", 2)
		h.pass(2 * ttl)
		require.Equal(t, 2, next.Schema())
		h.down.Store(true)
		h.pass(ttl / 2)
		require.Equal(t, 2, next.Schema())
		h.pass(ttl)
		require.Equal(t, 1, next.Schema())
		h.down.Store(false)
		h.pass(ttl / 2)
		require.Equal(t, 1, next.Schema(), "others may have come and gone")
		h.pass(2 * ttl)
		require.Equal(t, 2, next.Schema())
	})
}

func TestOneThatNobodyKnowsYetIsNotReady(t *testing.T) {
	t.Parallel()
	bubble(t, func(h *house) {
		t := h.t
		h.down.Store(true)
		p := h.release("a", 1)
		require.ErrorContains(t, p.Ready(), "not announced")
		h.down.Store(false)
		h.pass(ttl / 2)
		require.NoError(t, p.Ready())
		require.Empty(t, p.Others())
		h.release("b", 1)
		h.pass(ttl / 2)
		require.Equal(t, []store.Peer{{ID: "b", Reads: 1, Writes: 1}}, p.Others())
	})
}

// TestOneReleaseAloneWritesNothingAgain: where all are of one schema there is nothing to do.
func TestOneReleaseAloneWritesNothingAgain(t *testing.T) {
	t.Parallel()
	bubble(t, func(h *house) {
		t := h.t
		h.stuck.Store(true)
		a, b := h.release("a", 1), h.release("b", 1)
		h.pass(5 * ttl)
		for _, p := range []*peers.Peers{a, b} {
			require.NoError(t, p.Ready())
			require.Equal(t, 1, p.Schema())
		}
	})
}
