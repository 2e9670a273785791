package sdktest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

func TestBatchKeepsItsOrderInEveryShard(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	createShards(t, rdb, 4)
	p := newProducer(t, startRouting(t, 4), rdb, client.ProducerOptions{})
	batch := make([]client.Record, 500)
	for i := range batch {
		batch[i] = client.Record{Key: fmt.Sprintf("k%d", i%50), Fields: map[string]any{"n": i}}
	}
	results, err := p.PublishBatch(t.Context(), batch)
	require.NoError(t, err)
	require.Len(t, results, len(batch))
	next := make([]int, 4)
	for i, result := range results {
		require.NoError(t, result.Err)
		entries, err := rdb.XRange(t.Context(), result.StreamKey, "-", "+").Result()
		require.NoError(t, err)
		entry := entries[next[result.Shard]]
		next[result.Shard]++
		require.Equal(t, result.ID, entry.ID)
		require.Equal(t, fmt.Sprint(i), entry.Values["n"])
	}
}

func TestBatchReportsEachFailureAtItsPlace(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	createShards(t, rdb, 2)
	s := startRouting(t, 2)
	p := newProducer(t, s, rdb, client.ProducerOptions{})
	require.NoError(t, rdb.Del(t.Context(), routing.StreamKey(stream, 1)).Err())
	good, lost := keyFor(t, 0, 2), keyFor(t, 1, 2)
	results, err := p.PublishBatch(t.Context(), []client.Record{
		{Key: good}, {Key: lost}, {Key: good, Fields: map[string]any{"f": struct{}{}}}, {Key: good},
	})
	var failed *client.BatchError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, 2, failed.Failed)
	require.ErrorIs(t, err, client.ErrStaleRoute)
	require.NoError(t, results[0].Err)
	require.ErrorIs(t, results[1].Err, client.ErrStaleRoute)
	require.ErrorIs(t, results[2].Err, client.ErrInvalidRecord)
	require.NoError(t, results[3].Err)
	require.Equal(t, int64(2), length(t, rdb, 0))
	require.Equal(t, 2, s.asked())
}

func TestBatchIsRoutedAnewAfterAShardWasRemoved(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	createShards(t, rdb, 2)
	s := startRouting(t, 2)
	p := newProducer(t, s, rdb, client.ProducerOptions{})
	s.setShards(1)
	require.NoError(t, rdb.Set(t.Context(), routing.StreamKey(stream, 1), "reshard-1", 0).Err())
	batch := append(records(keyFor(t, 0, 2), 5), records(keyFor(t, 1, 2), 5)...)
	results, err := p.PublishBatch(t.Context(), batch)
	require.NoError(t, err)
	for _, result := range results {
		require.Equal(t, 0, result.Shard)
	}
	require.Equal(t, int64(10), length(t, rdb, 0))
	require.Equal(t, 2, s.asked(), "one refresh serves all")
}

func TestEmptyBatchIsNothing(t *testing.T) {
	t.Parallel()
	p := newProducer(t, startRouting(t, 1), redisproc.Start(t).Client(t), client.ProducerOptions{})
	results, err := p.PublishBatch(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, results)
}

// pipelines counts the pipelines with an XADD that each node of a cluster was sent.
type pipelines struct {
	mu    sync.Mutex
	nodes map[string]int
}

type nodeHook struct {
	addr  string
	count *pipelines
}

func (h nodeHook) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (h nodeHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (h nodeHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if cmds[0].Name() == "xadd" {
			h.count.mu.Lock()
			h.count.nodes[h.addr]++
			h.count.mu.Unlock()
		}
		return next(ctx, cmds)
	}
}

func TestBatchIsOnePipelineForEachNodeOfACluster(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	rdb := cluster.Client(t)
	count := &pipelines{nodes: map[string]int{}}
	rdb.OnNewNode(func(node *redis.Client) {
		node.AddHook(nodeHook{addr: node.Options().Addr, count: count})
	})
	const shards = 12
	createShards(t, rdb, shards)
	p := newProducer(t, startRouting(t, shards), rdb, client.ProducerOptions{})
	batch := make([]client.Record, 300)
	for i := range batch {
		batch[i] = client.Record{Key: fmt.Sprint("k", i), Fields: map[string]any{"n": i}}
	}
	results, err := p.PublishBatch(t.Context(), batch)
	require.NoError(t, err)
	for i, result := range results {
		entries, err := rdb.XRange(t.Context(), result.StreamKey, result.ID, result.ID).Result()
		require.NoError(t, err)
		require.Len(t, entries, 1)
		require.Equal(t, fmt.Sprint(i), entries[0].Values["n"])
	}
	require.Len(t, count.nodes, 3)
	for addr, n := range count.nodes {
		require.Equal(t, 1, n, addr)
	}
}

// TestSlotThatMovedIsFollowed shows that a command which is never repeated is redirected
// all the same.
func TestSlotThatMovedIsFollowed(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	rdb := cluster.Client(t)
	createShards(t, rdb, 1)
	p := newProducer(t, startRouting(t, 1), rdb, client.ProducerOptions{Retries: -1})
	_, err := p.Publish(t.Context(), "k", nil)
	require.NoError(t, err)
	moveShard(t, cluster, routing.StreamKey(stream, 0))
	_, err = p.Publish(t.Context(), "k", nil)
	require.NoError(t, err)
	results, err := p.PublishBatch(t.Context(), records("k", 3))
	require.NoError(t, err)
	require.Len(t, results, 3)
	require.Equal(t, int64(5), length(t, rdb, 0))
}

// moveShard moves the slot of key, with the key, to another node.
func moveShard(t *testing.T, cluster *redisproc.Cluster, key string) {
	t.Helper()
	ctx := t.Context()
	slot := routing.Slot(key)
	var nodes []*redis.Client
	var ids []string
	source := -1
	for i := range 3 {
		node := cluster.Node(i).Client(t)
		id, err := node.Do(ctx, "CLUSTER", "MYID").Text()
		require.NoError(t, err)
		nodes, ids = append(nodes, node), append(ids, id)
		if node.Exists(ctx, key).Err() == nil {
			source = i
		}
	}
	require.GreaterOrEqual(t, source, 0)
	target := (source + 1) % 3
	require.NoError(t, nodes[target].Do(ctx, "CLUSTER", "SETSLOT", slot, "IMPORTING", ids[source]).Err())
	require.NoError(t, nodes[source].Do(ctx, "CLUSTER", "SETSLOT", slot, "MIGRATING", ids[target]).Err())
	host, port, err := net.SplitHostPort(nodes[target].Options().Addr)
	require.NoError(t, err)
	require.NoError(t, nodes[source].Do(ctx, "MIGRATE", host, port, key, 0, 5000).Err())
	for _, i := range []int{target, source} {
		require.NoError(t, nodes[i].Do(ctx, "CLUSTER", "SETSLOT", slot, "NODE", ids[target]).Err())
	}
}
