package sdktest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// cutWorld is one shard behind a client whose connections can break after the write.
func cutWorld(t *testing.T) (rdb, cut *redis.Client, cutter *cutter) {
	t.Helper()
	cutter = newCutter()
	server := redisproc.Start(t)
	rdb = server.Client(t)
	createShards(t, rdb, 1)
	cut = cutter.client(server.Addr())
	t.Cleanup(func() { require.NoError(t, cut.Close()) })
	return rdb, cut, cutter
}

// TestPlainClientDuplicates shows that the cut is one that makes the Redis client repeat a
// command: without it the next tests would show nothing.
func TestPlainClientDuplicates(t *testing.T) {
	t.Parallel()
	rdb, cut, cutter := cutWorld(t)
	cutter.arm(1, 0)
	require.NoError(t, cut.XAdd(t.Context(), &redis.XAddArgs{Stream: "orders:0", Values: []any{"a", 1}}).Err())
	require.Equal(t, int64(2), length(t, rdb, 0))
}

func TestConnectionLostAfterTheWriteIsUncertainAndNotRepeated(t *testing.T) {
	t.Parallel()
	rdb, cut, cutter := cutWorld(t)
	p := newProducer(t, startRouting(t, 1), cut, client.ProducerOptions{})
	cutter.arm(1, 0)
	_, err := p.Publish(t.Context(), "k", nil)
	require.ErrorIs(t, err, client.ErrUncertain)
	require.Equal(t, int64(1), length(t, rdb, 0), "it was written, once")
	_, err = p.Publish(t.Context(), "k", nil)
	require.NoError(t, err)
	require.Equal(t, int64(2), length(t, rdb, 0))
}

func TestUncertainWriteIsRepeatedWhereTheApplicationAllowsDuplicates(t *testing.T) {
	t.Parallel()
	rdb, cut, cutter := cutWorld(t)
	p := newProducer(t, startRouting(t, 1), cut, client.ProducerOptions{RetryUncertain: true})
	cutter.arm(2, 0)
	_, err := p.Publish(t.Context(), "k", nil)
	require.NoError(t, err)
	require.Equal(t, int64(3), length(t, rdb, 0))
}

func TestBatchCutInTheMiddleKnowsWhichRecordsAreUncertain(t *testing.T) {
	t.Parallel()
	rdb, cut, cutter := cutWorld(t)
	p := newProducer(t, startRouting(t, 1), cut, client.ProducerOptions{})
	cutter.arm(1, 3)
	results, err := p.PublishBatch(t.Context(), records("k", 8))
	require.ErrorIs(t, err, client.ErrUncertain)
	var failed *client.BatchError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, 5, failed.Failed)
	require.Equal(t, 8, failed.Total)
	entries, err := rdb.XRange(t.Context(), "orders:0", "-", "+").Result()
	require.NoError(t, err)
	require.Len(t, entries, 8, "all were written, and once")
	for i, result := range results {
		if i < 3 {
			require.NoError(t, result.Err)
			require.Equal(t, entries[i].ID, result.ID)
			continue
		}
		require.ErrorIs(t, result.Err, client.ErrUncertain)
		require.Empty(t, result.ID)
	}
}

// The client of a cluster repeats commands in a place of its own.
func TestClusterConnectionLostAfterTheWriteIsNotRepeated(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	rdb := cluster.Client(t)
	createShards(t, rdb, 6)
	cutter := newCutter()
	cut := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs(), Dialer: cutter.dial})
	t.Cleanup(func() { require.NoError(t, cut.Close()) })
	p := newProducer(t, startRouting(t, 6), cut, client.ProducerOptions{})
	for shard := range 6 {
		cutter.arm(1, 0)
		_, err := p.Publish(t.Context(), keyFor(t, shard, 6), nil)
		require.ErrorIs(t, err, client.ErrUncertain)
		require.Equal(t, int64(1), length(t, rdb, shard))
	}
	cutter.arm(1, 0)
	var batch []client.Record
	for shard := range 6 {
		batch = append(batch, client.Record{Key: keyFor(t, shard, 6)})
	}
	results, err := p.PublishBatch(t.Context(), batch)
	require.ErrorIs(t, err, client.ErrUncertain)
	sure := 0
	for shard, result := range results {
		require.Equal(t, int64(2), length(t, rdb, shard))
		if !errors.Is(result.Err, client.ErrUncertain) {
			require.NoError(t, result.Err)
			sure++
		}
	}
	require.Positive(t, sure, "the other nodes are not concerned")
	require.Less(t, sure, 6)
}

// records returns n records of one key, numbered in the field n.
func records(key string, n int) []client.Record {
	batch := make([]client.Record, n)
	for i := range batch {
		batch[i] = client.Record{Key: key, Fields: map[string]any{"n": fmt.Sprint(i)}}
	}
	return batch
}
