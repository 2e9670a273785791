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
	whole, perNode := &trips{}, &trips{}
	rdb.AddHook(whole)
	rdb.OnNewNode(func(node *redis.Client) { node.AddHook(perNode) })
	p := plan(t, 1000)
	require.Equal(t, 1000, run(t, rdb, p).New)
	require.LessOrEqual(t, whole.sent.Load(), int64(20))
	require.LessOrEqual(t, perNode.sent.Load(), int64(3*20))
	requireComplete(t, rdb, p)
	total := int64(0)
	for i := range 3 {
		size := cluster.Node(i).Client(t).DBSize(t.Context()).Val()
		require.Positive(t, size, "node %d holds its part", i)
		total += size
	}
	require.Equal(t, int64(1000), total)
	require.Equal(t, 1000, run(t, rdb, p).Existing)

	removal, err := Destroy(t.Context(), rdb, p, DeleteKeys, nil)
	require.NoError(t, err)
	require.Equal(t, Removal{Keys: 1000, Total: 1000, Destroyed: 1000, Deleted: 1000}, removal)
}

func TestClusterThatLostANodeIsCompletedByARetry(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	rdb := cluster.Client(t)
	p := plan(t, 300)
	rdb.AddHook(&trips{before: func(n int64) {
		if n == 2 {
			cluster.Node(1).Kill()
		}
	}})
	report, err := Run(t.Context(), rdb, p, nil)
	var step *StepError
	require.ErrorAs(t, err, &step)
	require.True(t, step.State().Transient(), "%s: %v", step.State(), err)
	require.GreaterOrEqual(t, report.Keys, 128)
	require.Less(t, report.Keys, 300)

	cluster.Node(1).Restart()
	require.Eventually(t, func() bool {
		report, err := Run(t.Context(), rdb, p, nil)
		return err == nil && report.New+report.Existing == 300
	}, 30*time.Second, 10*time.Millisecond)
	requireComplete(t, rdb, p)
}

func TestMovedSlotIsFollowed(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	rdb := cluster.Client(t)
	run(t, rdb, plan(t, 1)) // the client knows the slots now
	slot := int(rdb.ClusterKeySlot(t.Context(), "orders:1").Val())
	owner := -1
	for i := range 3 {
		if redisx.StateOf(cluster.Node(i).Client(t).Exists(t.Context(), "orders:1").Err()) == redisx.StateOK {
			owner = i
		}
	}
	require.NotEqual(t, -1, owner)
	target := cluster.Node((owner + 1) % 3).Client(t)
	id := target.ClusterMyID(t.Context()).Val()
	for i := range 3 {
		do(t, cluster.Node(i).Client(t), "CLUSTER", "SETSLOT", slot, "NODE", id)
	}
	require.Equal(t, 1, run(t, rdb, plan(t, 2)).New)
	require.Equal(t, int64(1), target.Exists(t.Context(), "orders:1").Val())
}
