package provision

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// ended ends the group g on shards 0 … shards-1.
func (b *bench) ended(shards int, keep Keep) Removal {
	b.t.Helper()
	removal, err := b.end(b.t.Context(), "orders", upTo(shards), "g", keep)
	require.NoError(b.t, err)
	return removal
}

func TestLastGroupTakesKeyAndMarkerWithItAndOthersKeepThem(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.made(300)
	b.do("XGROUP", "CREATE", "orders:7", "other", "0")
	b.do("XADD", "orders:7", "1-0", "f", "v")
	b.do("XADD", "orders:8", "1-0", "f", "v")
	count := &trips{}
	b.rdb.AddHook(count)

	require.Equal(t, Removal{Keys: 300, Total: 300, Destroyed: 300, Deleted: 299}, b.ended(300, DeleteKeys))
	require.Equal(t, int64(3), count.sent.Load())
	require.Equal(t, int64(2), b.rdb.DBSize(t.Context()).Val())
	require.Equal(t, int64(1), b.rdb.XLen(t.Context(), "orders:7").Val())
	require.Contains(t, groupsOn(t, b.rdb, "orders:7"), "other")
	require.Equal(t, preparing().String(), b.rdb.Get(t.Context(), "redis-stream:coord:shard:{orders:7}").Val())

	require.Equal(t, Removal{Keys: 300, Total: 300}, b.ended(300, DeleteKeys), "again there is nothing to do")
}

func TestKeptKeysLoseOnlyTheGroup(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.made(2, groups("g", "h")...)
	b.do("XADD", "orders:0", "1-0", "f", "v")
	require.Equal(t, Removal{Keys: 2, Total: 2, Destroyed: 2}, b.ended(2, KeepKeys))
	require.Equal(t, int64(1), b.rdb.XLen(t.Context(), "orders:0").Val())
	require.NotContains(t, groupsOn(t, b.rdb, "orders:0"), "g")
	require.Equal(t, int64(4), b.rdb.DBSize(t.Context()).Val(), "keys and markers")
}

func TestKeysThatAreNoStreamAreLeftAloneAndListed(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.made(3)
	b.do("SET", "orders:1", "somebody's")
	require.Equal(t, Removal{Keys: 3, Total: 3, Destroyed: 2, Deleted: 2, Foreign: []string{"orders:1"}}, b.ended(3, DeleteKeys))
	require.Equal(t, "somebody's", b.rdb.Get(t.Context(), "orders:1").Val())
}

func TestDeletedStreamLeavesNoSealBehindAndKeepsRetiredData(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.sealed(RetainForever)
	require.Equal(t, Removal{Keys: 1, Total: 1}, b.ended(1, KeepKeys))
	require.Equal(t, int64(2), b.exists("orders:0", "redis-stream:coord:shard:{orders:0}"))
	require.Equal(t, Removal{Keys: 1, Total: 1}, b.ended(1, DeleteKeys))
	require.Equal(t, []string{b.RetiredKey("orders", 0, "01J")}, b.rdb.Keys(t.Context(), "*").Val())
	_, err := b.Provision(t.Context(), "orders", upTo(1), groups(), 1)
	require.NoError(t, err, "it can be made again")
	b.complete(1)
}

func TestDestroyThatBreaksOffIsCompletedByARetry(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t, redisproc.WithAOF("always"))
	b := newBench(t, server.Client(t))
	b.made(300)
	b.rdb.AddHook(&trips{before: func(n int64) {
		if n == 2 {
			server.Kill()
		}
	}})
	removal, err := b.end(t.Context(), "orders", upTo(300), "g", DeleteKeys)
	var step *StepError
	require.ErrorAs(t, err, &step)
	require.Equal(t, "orders:128", step.Key)
	require.Equal(t, redisx.StateUnreachable, step.State())
	require.Equal(t, Removal{Keys: 128, Total: 300, Destroyed: 128, Deleted: 128}, removal)

	server.Restart()
	require.Equal(t, Removal{Keys: 300, Total: 300, Destroyed: 172, Deleted: 172}, b.ended(300, DeleteKeys))
	require.Zero(t, b.rdb.DBSize(t.Context()).Val())
}
