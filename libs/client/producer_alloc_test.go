package client

import (
	"context"
	"log/slog"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
	"github.com/redis-stream-coordinator/rsc/libs/client/internal/route"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// instant answers every command at once, without a network.
type instant struct{}

func (instant) DialHook(next redis.DialHook) redis.DialHook { return next }

func (instant) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, cmd redis.Cmder) error {
		switch cmd := cmd.(type) {
		case appendCommand:
			cmd.SetVal("1-1")
		case *redis.StringCmd:
			cmd.SetVal("1-1")
		}
		return nil
	}
}

func (instant) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(_ context.Context, cmds []redis.Cmder) error {
		for _, cmd := range cmds {
			if add, ok := cmd.(appendCommand); ok {
				add.SetVal("1-1")
			}
		}
		return nil
	}
}

type fixedRouting struct{}

func (fixedRouting) Routing(context.Context, string, string, string) (*api.RoutingAnswer, error) {
	return &api.RoutingAnswer{Routing: &protocol.ProducerRouting{
		ShardCount: 2, LeaseMs: 600_000,
		Shards: []protocol.RoutingShard{{ShardIndex: 0, StreamKey: "orders:0"}, {ShardIndex: 1, StreamKey: "orders:1"}},
	}}, nil
}

func instantProducer(t testing.TB, opts ProducerOptions) *Producer {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	rdb.AddHook(instant{})
	opts = opts.withDefaults()
	routes, err := route.Open(t.Context(), fixedRouting{}, route.Options{Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	p := &Producer{opts: opts, redis: rdb, routes: routes, encoder: newEncoder(opts)}
	p.async = startAsync(context.WithoutCancel(t.Context()), p, opts.AsyncBuffer, opts.AsyncBatch)
	t.Cleanup(func() {
		require.NoError(t, p.Close(context.WithoutCancel(t.Context())))
		require.NoError(t, rdb.Close())
	})
	return p
}

// TestPublishAllocatesNoMoreThanTheRedisClient compares with the same XADD through the
// Redis client's own method.
func TestPublishAllocatesNoMoreThanTheRedisClient(t *testing.T) { //nolint:paralleltest // counts allocations
	p := instantProducer(t, ProducerOptions{MaxLen: 1000})
	ctx := t.Context()
	payload := []byte("payload")
	fields := map[string]any{"payload": payload, "n": 7}
	args := &redis.XAddArgs{
		Stream: "orders:1", NoMkStream: true, MaxLen: 1000, Approx: true,
		Values: []any{KeyField, "order-1", "n", 7, "payload", payload},
	}
	theirs := testing.AllocsPerRun(1000, func() { _ = p.redis.XAdd(ctx, args).Err() })
	ours := testing.AllocsPerRun(1000, func() { _, _ = p.Publish(ctx, "order-1", fields) })
	const boxedKey = 1 // the partition key as an argument
	require.LessOrEqual(t, ours, theirs+boxedKey)
}

func BenchmarkPublish(b *testing.B) {
	p := instantProducer(b, ProducerOptions{MaxLen: 1000})
	fields := map[string]any{"payload": []byte("payload"), "n": 7}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = p.Publish(b.Context(), "order-1", fields)
	}
}

func BenchmarkPublishBatch(b *testing.B) {
	p := instantProducer(b, ProducerOptions{MaxLen: 1000})
	batch := make([]Record, 100)
	for i := range batch {
		batch[i] = Record{Key: "order-1", Fields: map[string]any{"payload": []byte("payload"), "n": 7}}
	}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = p.PublishBatch(b.Context(), batch)
	}
}
