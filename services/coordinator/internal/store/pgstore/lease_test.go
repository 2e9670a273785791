package pgstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/pgstore"
)

func leaseGivenUp(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	pool := migrated(t, server.Database(t))
	kept := newStore(t, pool, pgstore.Options{LeaseWait: 30 * time.Millisecond})
	held, err := kept.Lease(t.Context(), orders(), time.Hour)
	require.NoError(t, err)
	_, err = kept.Lease(t.Context(), orders(), time.Hour)
	require.ErrorIs(t, err, store.ErrBusy)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err = newStore(t, pool, pgstore.Options{LeaseWait: time.Hour}).Lease(ctx, orders(), time.Hour)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, held.Release(t.Context()))
}

// Field case F31: what is released leaves nothing behind.
func leaseLeavesNothing(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	pool := migrated(t, server.Database(t))
	kept := newStore(t, pool, pgstore.Options{})
	for range 100 {
		held, err := kept.Lease(t.Context(), orders(), time.Hour)
		require.NoError(t, err)
		require.NoError(t, held.Release(t.Context()))
		require.ErrorIs(t, held.Extend(t.Context(), time.Hour), store.ErrBusy)
	}
	require.Zero(t, count(t, pool, "SELECT count(*) FROM rsc_lease"))
}
