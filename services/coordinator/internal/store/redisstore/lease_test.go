package redisstore_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/redisstore"
)

func TestATakerWaitsUntilTheHolderReleases(t *testing.T) {
	t.Parallel()
	_, client, kept, _ := start(t)
	holder, err := kept.Lease(t.Context(), orders(), time.Minute)
	require.NoError(t, err)
	type result struct {
		lease store.Lease
		err   error
	}
	taken := make(chan result, 1)
	go func() {
		lease, err := kept.Lease(t.Context(), orders(), time.Minute)
		taken <- result{lease, err}
	}()
	// One SET is the holder's, two more are the taker's first tries.
	require.Eventually(t, func() bool { return calls(t, client, "set") >= 3 }, 5*time.Second, time.Millisecond)
	require.NoError(t, holder.Release(t.Context()))
	got := <-taken
	require.NoError(t, got.err)
	require.NotEqual(t, holder.Token(), got.lease.Token())
	require.NoError(t, got.lease.Release(t.Context()))
}

func TestATakerGivesUpAfterItsWaitAndWithItsContext(t *testing.T) {
	t.Parallel()
	client := redisproc.Start(t).Client(t)
	kept := newStore(t, client, redisstore.Options{LeaseWait: 30 * time.Millisecond})
	_, err := kept.Lease(t.Context(), orders(), time.Minute)
	require.NoError(t, err)
	_, err = kept.Lease(t.Context(), orders(), time.Minute)
	require.ErrorIs(t, err, store.ErrBusy)

	patient := newStore(t, client, redisstore.Options{LeaseWait: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err = patient.Lease(ctx, orders(), time.Minute)
	require.Error(t, err)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// Field case F31. The leases are too long to end by themselves during the test, and a
// goroutine left behind fails the package (TestMain).
func TestFieldF31TenThousandLeasesLeaveNoKeyNoTimerAndNoCommandBehind(t *testing.T) {
	t.Parallel()
	const workers, each = 8, 1250
	client := redisproc.Start(t).Client(t)
	kept := newStore(t, client, redisstore.Options{})
	var group sync.WaitGroup
	failures := make([]error, workers)
	for worker := range workers {
		group.Go(func() {
			key := store.Key{Stream: "orders", Group: fmt.Sprint(worker)}
			for range each {
				lease, err := kept.Lease(t.Context(), key, time.Hour)
				if err == nil {
					err = lease.Release(t.Context())
				}
				if err != nil {
					failures[worker] = err
					return
				}
			}
		})
	}
	group.Wait()
	for _, err := range failures {
		require.NoError(t, err)
	}
	size, err := client.DBSize(t.Context()).Result()
	require.NoError(t, err)
	require.Zero(t, size)

	released, err := kept.Lease(t.Context(), orders(), time.Hour)
	require.NoError(t, err)
	require.NoError(t, released.Release(t.Context()))
	sent := calls(t, client, "evalsha")
	require.NoError(t, released.Release(t.Context()))
	require.ErrorIs(t, released.Extend(t.Context(), time.Hour), store.ErrBusy)
	require.Equal(t, sent, calls(t, client, "evalsha"), "nothing is sent for a released token")
}
