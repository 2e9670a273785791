package e2e_test

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// late holds back what a producer writes, after its lease was looked at and before Redis
// has it: a process that is stopped in between, or a network that is.
type late struct {
	mu   sync.Mutex
	gate chan struct{} // nil lets everything pass
	held int
}

// hold has writes wait from now on; the returned function lets them go on.
func (l *late) hold() (let func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	gate := make(chan struct{})
	l.gate, l.held = gate, 0
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.gate = nil
		close(gate)
	}
}

func (l *late) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held
}

func (l *late) pass(ctx context.Context) error {
	l.mu.Lock()
	gate := l.gate
	if gate != nil {
		l.held++
	}
	l.mu.Unlock()
	if gate == nil {
		return nil
	}
	select {
	case <-gate:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// DialHook implements redis.Hook.
func (l *late) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (l *late) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := l.pass(ctx); err != nil {
			return err
		}
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (l *late) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if err := l.pass(ctx); err != nil {
			return err
		}
		return next(ctx, cmds)
	}
}

// TestAWriteThatComesAfterTheSealFindsAnotherShard: a write that passed the check of its
// lease and then took longer than the lease is refused by the sealed shard and goes to
// another one; if the shard was made again meanwhile, it is read there (protocol L5).
func TestAWriteThatComesAfterTheSealFindsAnotherShard(t *testing.T) {
	t.Parallel()
	s := startScaling(t, "--coordination-routing-lease", shortRouting.String())
	s.createStream()
	rdb, err := redisx.New(redisx.Options{URL: s.redis})
	require.NoError(t, err)
	t.Cleanup(func() { _ = rdb.Close() })
	held := &late{}
	rdb.AddHook(held)
	c, err := client.New(client.Options{CoordinatorURL: s.url(), Redis: rdb})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	p, err := c.NewProducer(t.Context(), stream, group, client.ProducerOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close(context.WithoutCancel(t.Context())) })
	key := keyOf(t, 7, shards)

	publish := func() <-chan error {
		done := make(chan error, 1)
		go func() {
			r, err := p.Publish(t.Context(), key, map[string]any{"n": 1})
			if err == nil {
				t.Logf("written to shard %d as %s", r.Shard, r.ID)
			}
			done <- err
		}()
		return done
	}
	let := held.hold()
	first := publish()
	s.eventually(func() bool { return held.count() == 1 }, "the write is on its way")
	in := s.follow(s.admin, s.scale(s.admin, 3))
	s.tell(in)
	s.requireSealed(in, 3, shards)
	let()
	require.NoError(t, <-first)
	home := routing.StreamKey(stream, shardOf(t, key, 3))
	require.Equal(t, int64(1), s.rdb.XLen(t.Context(), home).Val(), "it went to the shard of now")

	out := s.follow(s.admin, s.scale(s.admin, shards))
	s.tell(out)
	s.eventually(func() bool { return p.Status().ShardCount == shards }, "the producer knows the new shards")
	let = held.hold()
	second := publish()
	s.eventually(func() bool { return held.count() == 1 }, "the write is on its way")
	s.tell(s.follow(s.admin, s.scale(s.admin, 3)))
	s.tell(s.follow(s.admin, s.scale(s.admin, shards)))
	let()
	require.NoError(t, <-second)
	require.Equal(t, int64(1), s.rdb.XLen(t.Context(), routing.StreamKey(stream, 7)).Val(), "it is in the shard that was made again")

	var b book
	d := draining{suite: s.suite, rdb: s.rdb, open: make(chan struct{})}
	d.run(&b, "reader", func(ctx context.Context, m *client.Message) error {
		b.note(m)
		return m.Ack(ctx)
	})
	s.eventually(func() bool { return b.count(shardOf(t, key, 3)) == 1 && b.count(7) == 1 }, "both are handled")
	t.Logf("held back for more than a routing lease of %s: both written once and handled", shortRouting)
}

// keyOf returns a key that goes to a shard.
func keyOf(t *testing.T, shard, count int) string {
	t.Helper()
	for i := range 10_000 {
		key := "key-" + strconv.Itoa(i)
		if shardOf(t, key, count) == shard {
			return key
		}
	}
	require.Fail(t, "no key")
	return ""
}

func shardOf(t *testing.T, key string, count int) int {
	t.Helper()
	shard, err := routing.Shard(key, count)
	require.NoError(t, err)
	return shard
}
