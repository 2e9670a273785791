package sdktest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/scriptcoord"
)

// benchShards is the number of shards of goal P23.
const benchShards = 16

// BenchmarkConsumer reads b.N records over 16 shards with an empty handler, by the SDK and by
// go-redis alone with COUNT 100 and one XACK a batch. Compare the two ns/op.
func BenchmarkConsumer(b *testing.B) {
	b.Run("sdk", func(b *testing.B) { benchmarkReads(b, readWithSDK) })
	b.Run("raw", func(b *testing.B) { benchmarkReads(b, readRaw) })
}

func benchmarkReads(b *testing.B, read func(b *testing.B, rdb *redis.Client)) {
	b.Helper()
	rdb := redisproc.Start(b).Client(b)
	pipe := rdb.Pipeline()
	for shard := range benchShards {
		pipe.XGroupCreateMkStream(b.Context(), key(shard), group, "0")
	}
	for n := range b.N {
		pipe.XAdd(b.Context(), &redis.XAddArgs{Stream: key(n % benchShards), Values: []any{client.KeyField, "k", "payload", "0123456789"}})
		if n%1000 == 999 {
			_, err := pipe.Exec(b.Context())
			require.NoError(b, err)
		}
	}
	_, err := pipe.Exec(b.Context())
	require.NoError(b, err)
	b.ReportAllocs()
	b.ResetTimer()
	read(b, rdb)
}

func readWithSDK(b *testing.B, rdb *redis.Client) {
	b.Helper()
	coord := scriptcoord.Start(b)
	coord.Assign("a", upTo(benchShards)...)
	c, err := client.New(client.Options{CoordinatorURL: coord.URL(), Redis: rdb})
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(b.Context())
	sub := subscription("a")
	sub.AckMode, sub.Workers = client.AckAfterHandler, benchShards
	var handled atomic.Int64
	require.NoError(b, c.Consume(ctx, sub, func(context.Context, *client.Message) error {
		if handled.Add(1) == int64(b.N) {
			cancel()
		}
		return nil
	}))
}

func readRaw(b *testing.B, rdb *redis.Client) {
	b.Helper()
	var (
		handled atomic.Int64
		readers sync.WaitGroup
	)
	for shard := range benchShards {
		readers.Go(func() {
			for handled.Load() < int64(b.N) {
				streams, err := rdb.XReadGroup(b.Context(), &redis.XReadGroupArgs{
					Group: group, Consumer: "a", Streams: []string{key(shard), ">"}, Count: 100, Block: -1,
				}).Result()
				if err != nil {
					return
				}
				ids := make([]string, 0, 100)
				for _, message := range streams[0].Messages {
					ids = append(ids, message.ID)
				}
				handled.Add(int64(len(ids)))
				rdb.XAck(b.Context(), key(shard), group, ids...)
			}
		})
	}
	readers.Wait()
}
