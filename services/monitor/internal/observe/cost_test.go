package observe_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/observe"
)

// seeded returns a client that knows one node of a cluster.
func seeded(t *testing.T, cluster *redisproc.Cluster) redis.UniversalClient {
	t.Helper()
	rdb, err := redisx.New(redisx.Options{Addrs: cluster.Addrs()[:1], Cluster: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// provide makes the shards of streams with their groups, and returns the groups.
func provide(t *testing.T, rdb redis.UniversalClient, streams, shards int) []protocol.GroupSnapshot {
	t.Helper()
	var groups []protocol.GroupSnapshot
	_, err := rdb.Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
		for s := range streams {
			prefix := fmt.Sprintf("orders%02d", s)
			for i := range shards {
				pipe.XGroupCreateMkStream(t.Context(), routing.StreamKey(prefix, i), "a", "0")
			}
			groups = append(groups, group(prefix, "a", shards))
		}
		return nil
	})
	require.NoError(t, err)
	return groups
}

// How many streams with how many shards are many.
const manyStreams, manyShards = 64, 64

// crowded has a cluster of three whose 4,096 shards in 64 groups all have unread and pending
// entries, two of each.
func crowded(t *testing.T) (*redisproc.Cluster, []protocol.GroupSnapshot) {
	t.Helper()
	cluster := redisproc.StartCluster(t, 3)
	rdb := seeded(t, cluster)
	groups := provide(t, rdb, manyStreams, manyShards)
	work(t, rdb, 4, 2)
	return cluster, groups
}

// work adds entries to all shards and has some read.
func work(t *testing.T, rdb redis.UniversalClient, added, read int) {
	t.Helper()
	_, err := rdb.Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
		for s := range manyStreams {
			for i := range manyShards {
				key := routing.StreamKey(fmt.Sprintf("orders%02d", s), i)
				for range added {
					pipe.XAdd(t.Context(), &redis.XAddArgs{Stream: key, Values: []string{"f", "v"}})
				}
				pipe.XReadGroup(t.Context(), &redis.XReadGroupArgs{
					Group: "a", Consumer: "c", Streams: []string{key, ">"}, Count: int64(read), Block: -1,
				})
			}
		}
		return nil
	})
	require.NoError(t, err)
}

// TestARoundOfManyShardsIsCheap: 4,096 shards in 64 groups on three primaries, all with unread
// and pending entries that change between the rounds, sizes and consumers due in between: at
// most three commands a shard in each round, and a pipeline for 64 shards of a node with
// everything that is asked beside (performance, P25).
func TestARoundOfManyShardsIsCheap(t *testing.T) {
	t.Parallel()
	cluster, groups := crowded(t)
	rdb, writer := seeded(t, cluster), seeded(t, cluster)
	sent := watchNodes(t, rdb)
	o := observerOf(rdb, observe.Config{RoundTimeout: 30 * time.Second, MemoryEvery: 3, ConsumersEvery: 5}, groups...)
	const shards = manyStreams * manyShards
	var fastest time.Duration
	topics := map[string]int{}
	for number := 1; number <= 8; number++ {
		r := round(t, o)
		cost := sent.taken()
		perNode := requireComplete(t, r)
		require.Len(t, perNode, 3)
		for node, count := range perNode {
			require.LessOrEqual(t, cost.pipelines[node], (count+63)/64, "round %d: %d shards of %s", number, count, node)
		}
		all := 0
		for key, count := range cost.perKey {
			require.LessOrEqual(t, count, 3, "round %d: %s", number, key)
			all += count
		}
		require.Len(t, cost.perKey, shards)
		require.LessOrEqual(t, all, 3*shards)
		require.LessOrEqual(t, cost.others, 12, "who the nodes are, and where the slots; the client asks for these too")
		if number == 1 || r.Took < fastest {
			fastest = r.Took
		}
		for name, count := range cost.commands {
			topics[name] += count
		}
		t.Logf("round %d of %d shards took %v: %.2f commands a shard, pipelines %v", number, shards, r.Took, float64(all)/shards, cost.pipelines)
		work(t, writer, 3, 2)
	}
	for _, name := range []string{"xrange", "xpending", "memory usage", "xinfo consumers"} {
		require.GreaterOrEqual(t, topics[name], shards, "%s has had its turn", name)
	}
	require.Less(t, fastest, 5*time.Second, "a goal of 2 s, on a machine that is four times as slow")
}

// requireComplete requires that every shard was read, and returns how many each node has.
func requireComplete(t *testing.T, r facts.Round) map[string]int {
	t.Helper()
	perNode := map[string]int{}
	for _, stream := range r.Streams {
		for _, shard := range stream.Shards {
			require.Empty(t, shard.Problem, "%s: %s", shard.Key, shard.Detail)
			a := shard.Groups["a"]
			require.NotNil(t, a.Lag, shard.Key)
			require.Positive(t, a.Pending, shard.Key)
			if r.Number > 1 {
				require.True(t, a.FirstUnreadID != nil || a.EarlierUnread != nil, "%s: round %d", shard.Key, r.Number)
				require.True(t, a.OldestPendingID != nil || a.EarlierPending != nil, "%s: round %d", shard.Key, r.Number)
			}
			if r.Number > 3 {
				require.NotNil(t, shard.Memory, shard.Key)
			}
			perNode[*shard.Node.Endpoint]++
		}
	}
	return perNode
}

// TestFieldF19EveryCommandHasOneKey: of shards in different slots none is asked together.
func TestFieldF19EveryCommandHasOneKey(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	writer, rdb := seeded(t, cluster), seeded(t, cluster)
	groups := provide(t, writer, 2, 8)
	do(t, writer, "XADD "+routing.StreamKey("orders00", 0)+" * f v")
	sent := watchNodes(t, rdb)
	o := observerOf(rdb, observe.Config{}, groups...)
	for range 4 {
		r := round(t, o)
		perKey := sent.taken().perKey
		require.Len(t, perKey, 16)
		for key := range perKey {
			require.NotContains(t, key, " ")
		}
		require.Len(t, r.Streams, 2)
		for _, stream := range r.Streams {
			for _, shard := range stream.Shards {
				require.Empty(t, shard.Problem, "%s: %s", shard.Key, shard.Detail)
			}
		}
	}
}

// TestFieldF20NoReplicaIsAsked: what a replica says may be old, or missing (F05).
func TestFieldF20NoReplicaIsAsked(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	replicas := []string{cluster.AddReplica(t, 0).Addr(), cluster.AddReplica(t, 1).Addr()}
	groups := provide(t, seeded(t, cluster), 1, 16)
	rdb := seeded(t, cluster)
	sent := watchNodes(t, rdb)
	o := observerOf(rdb, observe.Config{}, groups...)
	settled(t, o)
	cost := sent.taken()
	require.Len(t, cost.pipelines, 3)
	for _, replica := range replicas {
		require.NotContains(t, cost.pipelines, replica)
	}
}

// TestOneShardThatIsElsewhereDisturbsNoOther: a client of one server, which is a node of a
// cluster, is refused the shards of the others with MOVED. It says so of these alone.
func TestOneShardThatIsElsewhereDisturbsNoOther(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	groups := provide(t, seeded(t, cluster), 1, 16)
	here := cluster.Node(0).Client(t)
	o := observerOf(here, observe.Config{}, groups...)
	read, moved := 0, 0
	for _, shard := range round(t, o).Streams[0].Shards {
		if shard.Problem == "" {
			require.Contains(t, shard.Groups, "a")
			read++
			continue
		}
		require.Equal(t, facts.ProblemUnreachable, shard.Problem)
		require.Contains(t, shard.Detail, "MOVED")
		moved++
	}
	require.Positive(t, read)
	require.Positive(t, moved)
}

// TestAStreamAtRestIsNotAskedTwice: what cannot have changed is not asked again but now and
// then, and stays known.
func TestAStreamAtRestIsNotAskedTwice(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	for _, line := range []string{
		"XADD orders:0 1-0 f v", "XADD orders:0 2-0 f v", "XADD orders:0 3-0 f v", "XGROUP CREATE orders:0 a 0",
		"XREADGROUP GROUP a c COUNT 1 STREAMS orders:0 >",
	} {
		do(t, rdb, line)
	}
	sent := watch(rdb)
	o := observerOf(rdb, observe.Config{MemoryEvery: 1000, ConsumersEvery: 1000}, group("orders", "a", 1))
	settled(t, o)
	sent.taken()
	asked := map[string]int{}
	for range 20 {
		a := round(t, o).Streams[0].Shards[0].Groups["a"]
		require.Equal(t, []*string{new("2-0"), new("1-0")}, []*string{a.FirstUnreadID, a.OldestPendingID})
		require.Equal(t, new(int64(2)), a.Tail)
		_, commands, _ := sent.taken()
		for name, count := range commands {
			asked[name] += count
		}
	}
	require.Equal(t, 20, asked["xinfo stream"])
	require.LessOrEqual(t, asked["xrange"]+asked["xpending"], 4)

	// What happens is seen, also what leaves the numbers of entries as they were.
	do(t, rdb, "XACK orders:0 a 1-0")
	a := round(t, o).Streams[0].Shards[0].Groups["a"]
	require.Nil(t, a.OldestPendingID)
	do(t, rdb, "XDEL orders:0 2-0")
	do(t, rdb, "XADD orders:0 9-"+strconv.Itoa(9)+" f v")
	a = round(t, o).Streams[0].Shards[0].Groups["a"]
	require.Equal(t, []any{new("3-0"), new(int64(2))}, []any{a.FirstUnreadID, a.Tail})
}

// TestBusyGroupsTellTheLastKnownInBetween: where both change between all rounds, unread and
// pending entries take turns, and the other one is told with its time.
func TestBusyGroupsTellTheLastKnownInBetween(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	do(t, rdb, "XGROUP CREATE orders:0 a 0 MKSTREAM")
	o := observerOf(rdb, observe.Config{MemoryEvery: 1000, ConsumersEvery: 1000}, group("orders", "a", 1))
	var before facts.Shard
	for number := range 20 {
		for range 5 {
			do(t, rdb, "XADD orders:0 * f v")
		}
		do(t, rdb, "XREADGROUP GROUP a c COUNT 3 STREAMS orders:0 >")
		shard := round(t, o).Streams[0].Shards[0]
		a := shard.Groups["a"]
		if number > 4 {
			last := before.Groups["a"]
			require.NotEqual(t, a.FirstUnreadID == nil, a.OldestPendingID == nil, "one of them is asked")
			if a.FirstUnreadID == nil {
				require.Equal(t, &facts.Sighting{ID: *last.FirstUnreadID, At: before.At, Rounds: 1}, a.EarlierUnread)
				require.Nil(t, a.Tail)
			} else {
				require.Equal(t, &facts.Sighting{ID: *last.OldestPendingID, At: before.At, Rounds: 1}, a.EarlierPending)
				require.Equal(t, a.Lag, a.Tail)
			}
		}
		before = shard
	}
}
