package provision

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

func TestClusterGetsEveryShardInPipelinesPerNode(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	rdb := cluster.Client(t)
	b := newBench(t, rdb)
	whole, perNode := &trips{}, &trips{}
	rdb.AddHook(whole)
	rdb.OnNewNode(func(node *redis.Client) { node.AddHook(perNode) })
	_, err := b.Provision(t.Context(), "orders", upTo(1000), groups(), 1)
	require.NoError(t, err)
	require.LessOrEqual(t, whole.sent.Load()+whole.sources.Load(), int64(20))
	require.LessOrEqual(t, perNode.sent.Load()+perNode.sources.Load(), int64(3*20))
	b.complete(1000)
	total := int64(0)
	for i := range 3 {
		size := cluster.Node(i).Client(t).DBSize(t.Context()).Val()
		require.Positive(t, size, "node %d holds its part", i)
		total += size
	}
	require.Equal(t, int64(2000), total, "keys and markers")

	whole.sent.Store(0)
	found, err := b.Prove(t.Context(), "orders", upTo(1000), []string{"g"})
	require.NoError(t, err)
	require.Len(t, found, 1000)
	b.mark(1000, sealing())
	found, err = b.Seal(t.Context(), "orders", upTo(1000), sealing(), []string{"g"}, RetainForever, nil)
	require.NoError(t, err)
	for i, f := range found {
		require.Equal(t, i, f.Index)
		require.True(t, f.Sealed)
	}
	b.mark(1000, backing())
	require.NoError(t, b.Unseal(t.Context(), "orders", upTo(1000), backing(), groups()))
	require.Equal(t, int64(5*8), whole.sent.Load(), "eight pipelines a call")
	require.Equal(t, Removal{Keys: 1000, Total: 1000, Destroyed: 1000, Deleted: 1000}, b.ended(1000, DeleteKeys))
	for i := range 3 {
		require.Zero(t, cluster.Node(i).Client(t).DBSize(t.Context()).Val())
	}
}

func TestClusterThatLostANodeIsCompletedByARetry(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3, redisproc.WithAOF("always"))
	rdb := cluster.Client(t)
	b := newBench(t, rdb)
	b.mark(300, preparing())
	rdb.AddHook(&trips{before: func(n int64) {
		if n == 2 {
			cluster.Node(1).Kill()
		}
	}})
	step, _ := b.stopped(300)
	require.True(t, step.State().Transient(), "%s: %v", step.State(), step)
	require.GreaterOrEqual(t, step.Done, 128)
	require.Less(t, step.Done, 300)

	cluster.Node(1).Restart()
	require.Eventually(t, func() bool {
		_, err := b.Make(t.Context(), "orders", upTo(300), preparing(), groups(), nil)
		return err == nil
	}, patience, 10*time.Millisecond)
	b.complete(300)
}

func TestMovedSlotIsFollowed(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	rdb := cluster.Client(t)
	b := newBench(t, rdb)
	b.made(1) // the client knows the slots now
	slot := int(rdb.ClusterKeySlot(t.Context(), "orders:1").Val())
	owner := -1
	for i := range 3 {
		if redisx.StateOf(cluster.Node(i).Client(t).Exists(t.Context(), "orders:1").Err()) == redisx.StateOK {
			owner = i
		}
	}
	require.NotEqual(t, -1, owner)
	target := cluster.Node((owner + 1) % 3).Client(t)
	// What the former owner said of the slot may still be under way: of two claims that with
	// the higher epoch holds.
	require.NoError(t, target.Do(t.Context(), "CLUSTER", "BUMPEPOCH").Err())
	id := target.ClusterMyID(t.Context()).Val()
	for i := range 3 {
		newBench(t, cluster.Node(i).Client(t)).do("CLUSTER", "SETSLOT", slot, "NODE", id)
	}
	b.mark(2, preparing())
	require.Equal(t, 1, b.make(2))
	require.Equal(t, int64(1), target.Exists(t.Context(), "orders:1").Val())
}
