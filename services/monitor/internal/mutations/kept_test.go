package mutations_test

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/mutations"
)

// Monitoring, Observe: viewers add no calls.
func TestThoseWhoLookShareOneRead(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	write(t, rdb, sent(1, protocol.AuditOutcome))
	var now atomic.Int64
	kept := mutations.NewKept(mutations.NewReader(rdb, "p"), 5*time.Second, func() time.Time { return time.Unix(now.Load(), 0) })
	look := func(want int) {
		t.Helper()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				found, err := kept.Recent(t.Context(), "orders", "billing")
				assert.NoError(t, err)
				assert.Len(t, found, want)
			})
		}
		all.Wait()
	}
	reads := func() int {
		stats, err := rdb.Info(t.Context(), "commandstats").Result()
		require.NoError(t, err)
		_, rest, _ := strings.Cut(stats, "cmdstat_xrevrange:calls=")
		text, _, _ := strings.Cut(rest, ",")
		count, err := strconv.Atoi(text)
		require.NoError(t, err)
		return count
	}
	look(1)
	require.Equal(t, 1, reads())
	write(t, rdb, sent(2, protocol.AuditOutcome))
	now.Store(4)
	look(1)
	require.Equal(t, 1, reads())
	now.Store(5)
	look(2)
	require.Equal(t, 2, reads())

	none, err := kept.Recent(t.Context(), "orders", "others")
	require.NoError(t, err)
	require.Empty(t, none)
	require.Equal(t, 3, reads(), "another group is read for itself")
}

func TestAFailureIsNotKept(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	own := audit.OwnStream("p", "orders", "billing")
	require.NoError(t, rdb.Set(t.Context(), own, "no stream", 0).Err())
	kept := mutations.NewKept(mutations.NewReader(rdb, "p"), time.Hour, func() time.Time { return time.Unix(0, 0) })
	_, err := kept.Recent(t.Context(), "orders", "billing")
	require.Error(t, err)
	require.NoError(t, rdb.Del(t.Context(), own).Err())
	write(t, rdb, sent(1, protocol.AuditOutcome))
	found, err := kept.Recent(t.Context(), "orders", "billing")
	require.NoError(t, err)
	require.Len(t, found, 1)
}
