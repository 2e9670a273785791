package observe_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/observe"
)

// TestFieldF36AllShardsOfAClusterAreReportedFromOneSeed, also those of a slot that moves.
func TestFieldF36AllShardsOfAClusterAreReportedFromOneSeed(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	rdb := seeded(t, cluster)
	o := observerOf(rdb, observe.Config{}, provide(t, rdb, 1, 8)...)
	r := round(t, o)
	endpoints := map[string]bool{}
	for _, shard := range r.Streams[0].Shards {
		require.Empty(t, shard.Problem, shard.Detail)
		endpoints[*shard.Node.Endpoint] = true
		require.NotEmpty(t, *shard.Node.ID)
		require.Len(t, shard.Node.RunID, 40)
		require.LessOrEqual(t, *shard.Node.SlotFirst, shard.Slot)
		require.GreaterOrEqual(t, *shard.Node.SlotLast, shard.Slot)
	}
	require.Len(t, endpoints, 3)

	moving := r.Streams[0].Shards[0]
	var source, target *redis.Client
	for i, addr := range cluster.Addrs() {
		if addr == *moving.Node.Endpoint {
			source, target = cluster.Node(i).Client(t), cluster.Node((i+1)%3).Client(t)
		}
	}
	sourceID, targetID := source.ClusterMyID(t.Context()).Val(), target.ClusterMyID(t.Context()).Val()
	do(t, target, fmt.Sprintf("CLUSTER SETSLOT %d IMPORTING %s", moving.Slot, sourceID))
	do(t, source, fmt.Sprintf("CLUSTER SETSLOT %d MIGRATING %s", moving.Slot, targetID))
	requireAll(t, round(t, o), "the slot is about to move")
	require.NoError(t, source.Migrate(t.Context(), "127.0.0.1", portOf(target), moving.Key, 0, 5*time.Second).Err())
	requireAll(t, round(t, o), "the key has moved, the slot has not (ASK)")
	for _, node := range []*redis.Client{target, source} {
		do(t, node, fmt.Sprintf("CLUSTER SETSLOT %d NODE %s", moving.Slot, targetID))
	}
	requireAll(t, round(t, o), "the slot has moved (MOVED)")
	require.Eventually(t, func() bool {
		return *round(t, o).Streams[0].Shards[0].Node.ID == targetID
	}, time.Minute, 10*time.Millisecond, "the nodes tell each other")
}

func requireAll(t *testing.T, r facts.Round, when string) {
	t.Helper()
	for _, shard := range r.Streams[0].Shards {
		require.Emptyf(t, shard.Problem, "%s: %s: %s", when, shard.Key, shard.Detail)
		require.Contains(t, shard.Groups, "a", when)
	}
}

func portOf(rdb *redis.Client) string { return rdb.Options().Addr[len("127.0.0.1:"):] }

// TestAReplicaThatIsPromotedIsFollowed: with its own run id, and all shards are there again.
func TestAReplicaThatIsPromotedIsFollowed(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	replica := cluster.AddReplica(t, 0)
	rdb := seeded(t, cluster)
	o := observerOf(rdb, observe.Config{RoundTimeout: 10 * time.Second}, provide(t, rdb, 1, 8)...)
	before := map[string]string{}
	for _, shard := range round(t, o).Streams[0].Shards {
		require.NotEqual(t, replica.Addr(), *shard.Node.Endpoint, "primaries only")
		before[shard.Key] = shard.Node.RunID
	}
	require.Eventually(t, func() bool { return replica.Client(t).ClusterFailover(t.Context()).Err() == nil }, time.Minute, 50*time.Millisecond)
	require.Eventually(t, func() bool {
		moved := 0
		for _, shard := range round(t, o).Streams[0].Shards {
			if shard.Problem != "" {
				return false
			}
			if *shard.Node.Endpoint == replica.Addr() && shard.Node.RunID != "" && shard.Node.RunID != before[shard.Key] {
				moved++
			}
		}
		return moved > 0
	}, time.Minute, 50*time.Millisecond)
}

// TestANodeThatHangsOrIsGoneDelaysNoOther: its shards are unreachable, the others complete,
// and the round ends in its time.
func TestANodeThatHangsOrIsGoneDelaysNoOther(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3, redisproc.WithArgs("--cluster-require-full-coverage", "no"))
	rdb := seeded(t, cluster)
	o := observerOf(rdb, observe.Config{RoundTimeout: 5 * time.Second, Pipeline: 4}, provide(t, rdb, 4, 32)...)
	check := func(lost string) {
		t.Helper()
		began := time.Now()
		r := round(t, o)
		require.Less(t, time.Since(began), 30*time.Second, "nobody is waited for without end")
		for _, stream := range r.Streams {
			for _, shard := range stream.Shards {
				if *shard.Node.Endpoint == lost {
					require.Equal(t, facts.ProblemUnreachable, shard.Problem, shard.Key)
					require.NotEmpty(t, shard.Detail)
				} else {
					require.Empty(t, shard.Problem, "%s: %s", shard.Key, shard.Detail)
				}
			}
		}
	}
	check("")
	node := cluster.Node(2)
	stop(t, node.PID())
	check(node.Addr())
	resume(t, node.PID())
	require.Eventually(t, func() bool {
		for _, stream := range round(t, o).Streams {
			for _, shard := range stream.Shards {
				if shard.Problem != "" {
					return false
				}
			}
		}
		return true
	}, time.Minute, 50*time.Millisecond)
	node.Kill()
	check(node.Addr())
}
