package storetest

import (
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func leaseClaims() []claim {
	return []claim{
		{"one holder at a time, each with a token of its own", leaseExclusive},
		{"records do not share it", leasePerKey},
		{"it ends by itself", leaseEnds},
		{"the holder extends it", leaseExtends},
		{"only the holder extends or releases it", leaseForeign},
		{"release is idempotent and nothing is extended after it (F31)", leaseReleased},
		{"it needs no record", leaseNoRecord},
		{"of many takers one wins", leaseRace},
	}
}

func taken(t trial, ttl time.Duration) store.Lease {
	t.Helper()
	lease, err := t.Store.Lease(t.Context(), orders(), ttl)
	require.NoError(t, err)
	require.NotEmpty(t, lease.Token())
	return lease
}

func busy(t trial) {
	t.Helper()
	_, err := t.Store.Lease(t.Context(), orders(), lifetime)
	require.ErrorIs(t, err, store.ErrBusy)
}

func leaseExclusive(t trial) {
	first := taken(t, lifetime)
	busy(t)
	require.NoError(t, first.Release(t.Context()))
	second := taken(t, lifetime)
	require.NotEqual(t, first.Token(), second.Token())
	busy(t)
}

func leasePerKey(t trial) {
	taken(t, lifetime)
	for _, key := range []store.Key{{Stream: "orders"}, {Stream: "orders", Group: "other"}, {Stream: "orders:workers"}} {
		_, err := t.Store.Lease(t.Context(), key, lifetime)
		require.NoError(t, err)
	}
}

func leaseEnds(t trial) {
	first := taken(t, 20*time.Millisecond)
	t.Pass(t.T, 30*time.Millisecond)
	second := taken(t, lifetime)
	require.ErrorIs(t, first.Extend(t.Context(), lifetime), store.ErrBusy)
	require.NoError(t, first.Release(t.Context()))
	busy(t)
	require.NoError(t, second.Release(t.Context()))
}

func leaseExtends(t trial) {
	lease := taken(t, time.Second)
	require.NoError(t, lease.Extend(t.Context(), lifetime))
	t.Pass(t.T, 1100*time.Millisecond)
	busy(t)
	require.NoError(t, lease.Extend(t.Context(), lifetime))
	require.NoError(t, lease.Release(t.Context()))
	taken(t, lifetime)
}

func leaseForeign(t trial) {
	lost := taken(t, 20*time.Millisecond)
	t.Pass(t.T, 30*time.Millisecond)
	require.ErrorIs(t, lost.Extend(t.Context(), lifetime), store.ErrBusy, "it ended, though nobody took it")
	owner := taken(t, lifetime)
	require.ErrorIs(t, lost.Extend(t.Context(), lifetime), store.ErrBusy)
	require.NoError(t, lost.Release(t.Context()))
	require.NoError(t, owner.Extend(t.Context(), lifetime))
}

func leaseReleased(t trial) {
	lease := taken(t, lifetime)
	require.NoError(t, lease.Release(t.Context()))
	require.NoError(t, lease.Release(t.Context()))
	require.ErrorIs(t, lease.Extend(t.Context(), lifetime), store.ErrBusy)
	next := taken(t, lifetime)
	require.NoError(t, lease.Release(t.Context()))
	busy(t)
	require.NoError(t, next.Extend(t.Context(), lifetime))
}

func leaseNoRecord(t trial) {
	lease := taken(t, lifetime)
	require.NoError(t, lease.Release(t.Context()))
	require.Empty(t, listed(t))
	created(t)
}

func leaseRace(t trial) {
	const takers = 16
	var group sync.WaitGroup
	results := make(chan error, takers)
	for range takers {
		group.Go(func() {
			_, err := t.Store.Lease(t.Context(), orders(), lifetime)
			results <- err
		})
	}
	group.Wait()
	close(results)
	won := 0
	for err := range results {
		if err == nil {
			won++
			continue
		}
		require.ErrorIs(t, err, store.ErrBusy)
	}
	require.Equal(t, 1, won)
}
