package provision

import (
	"context"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// trips counts the pipelines of a client, without those of its handshake, and calls
// before with the number of each, counted from 1, ahead of sending it. Pipelines that
// bring a source to a server that does not have it yet are counted apart.
type trips struct {
	sent, sources atomic.Int64
	before        func(n int64)
}

func (h *trips) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (h *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { return next(ctx, cmd) }
}

func (h *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if cmds[0].Name() == "eval" {
			h.sources.Add(1)
		}
		if cmds[0].Name() != "evalsha" {
			return next(ctx, cmds)
		}
		n := h.sent.Add(1)
		if h.before != nil {
			h.before(n)
		}
		return next(ctx, cmds)
	}
}

// bench is the stream "orders" on one Redis, under tokens of one resharding.
type bench struct {
	*Shards
	t   *testing.T
	rdb redis.UniversalClient
}

func newBench(t *testing.T, rdb redis.UniversalClient) *bench {
	t.Helper()
	return &bench{Shards: NewShards(rdb, "", slog.New(slog.DiscardHandler)), t: t, rdb: rdb}
}

// patience bounds what a test waits for; it is never reached when all is well.
const patience = time.Minute

// onRedis is a bench on a Redis of its own.
func onRedis(t *testing.T) *bench {
	t.Helper()
	return newBench(t, redisproc.Start(t).Client(t))
}

// Tokens in the order of their marks.
func tokenOf(mark int64, phase string) Token {
	return Token{Mark: mark, ReshardingID: "01J", Phase: phase}
}

func preparing() Token { return tokenOf(1, "PREPARING") }
func sealing() Token   { return tokenOf(2, "DRAINING") }
func backing() Token   { return tokenOf(3, "ROLLING_BACK") }

// groups returns groups that start at the beginning, "g" if none is named.
func groups(names ...string) []stream.Group {
	if len(names) == 0 {
		names = []string{"g"}
	}
	made := make([]stream.Group, len(names))
	for i, name := range names {
		made[i] = stream.Group{Name: name}
	}
	return made
}

// mark begins a phase on shards 0 … shards-1.
func (b *bench) mark(shards int, token Token) {
	b.t.Helper()
	higher, err := b.Mark(b.t.Context(), "orders", upTo(shards), token)
	require.NoError(b.t, err)
	require.Zero(b.t, higher)
}

// make makes shards 0 … shards-1 in the phase preparing, which has begun, and returns how
// many groups were there before.
func (b *bench) make(shards int, wanted ...stream.Group) int {
	b.t.Helper()
	if len(wanted) == 0 {
		wanted = groups()
	}
	existing, err := b.Make(b.t.Context(), "orders", upTo(shards), preparing(), wanted, nil)
	require.NoError(b.t, err)
	return existing
}

// made marks and makes.
func (b *bench) made(shards int, wanted ...stream.Group) {
	b.t.Helper()
	b.mark(shards, preparing())
	require.Zero(b.t, b.make(shards, wanted...))
}

// unmake takes shards back, whichever it leaves.
func (b *bench) unmake(indexes []int, t Token) error {
	b.t.Helper()
	_, err := b.Unmake(b.t.Context(), "orders", indexes, t, 0)
	return err
}

// prove proves one shard.
func (b *bench) prove(index int, names ...string) Finding {
	b.t.Helper()
	found, err := b.Prove(b.t.Context(), "orders", []int{index}, names)
	require.NoError(b.t, err)
	require.Len(b.t, found, 1)
	require.Equal(b.t, index, found[0].Index)
	return found[0]
}

// seal seals one shard for the group g in the phase sealing, which has begun.
func (b *bench) seal(index int, r Retention, proof protocol.DrainProof) Finding {
	b.t.Helper()
	found, err := b.Seal(b.t.Context(), "orders", []int{index}, sealing(), []string{"g"}, r,
		func(int) protocol.DrainProof { return proof })
	require.NoError(b.t, err)
	require.Len(b.t, found, 1)
	require.Equal(b.t, index, found[0].Index)
	return found[0]
}

// sealed makes and seals the shard 0, with one entry that was handled.
func (b *bench) sealed(r Retention) {
	b.t.Helper()
	b.made(1)
	b.handled("1-0")
	b.mark(1, sealing())
	require.True(b.t, b.seal(0, r, protocol.ProofLag).Sealed)
}

// handled adds an entry to the shard 0 that the group g reads and acknowledges.
func (b *bench) handled(id string) {
	b.t.Helper()
	b.do("XADD", "orders:0", id, "f", "v")
	b.read("g", 1)
	b.do("XACK", "orders:0", "g", id)
}

// read delivers entries of the shard 0 to consumer c.
func (b *bench) read(group string, count int) {
	b.t.Helper()
	b.do("XREADGROUP", "GROUP", group, "c", "COUNT", count, "STREAMS", "orders:0", ">")
}

func (b *bench) do(args ...any) {
	b.t.Helper()
	require.NoError(b.t, b.rdb.Do(b.t.Context(), args...).Err(), "%v", args)
}

// complete checks that every shard has the groups.
func (b *bench) complete(shards int, names ...string) {
	b.t.Helper()
	if len(names) == 0 {
		names = []string{"g"}
	}
	for i := range shards {
		key := b.keys.shard("orders", i).key
		on := groupsOn(b.t, b.rdb, key)
		for _, name := range names {
			require.Contains(b.t, on, name, key)
		}
	}
}

func (b *bench) exists(keys ...string) int64 {
	b.t.Helper()
	n, err := b.rdb.Exists(b.t.Context(), keys...).Result()
	require.NoError(b.t, err)
	return n
}

// groupsOn returns the groups of a shard key by name, empty for a missing key.
func groupsOn(t *testing.T, rdb redis.UniversalClient, key string) map[string]redisx.Group {
	t.Helper()
	byName := map[string]redisx.Group{}
	if rdb.Exists(t.Context(), key).Val() == 0 {
		return byName
	}
	found, err := redisx.Groups(t.Context(), rdb, key)
	require.NoError(t, err)
	for _, g := range found {
		byName[g.Name] = g
	}
	return byName
}
