package provision

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// stopped makes shards, which must fail on one, and checks that error and progress tell
// one story.
func (b *bench) stopped(shards int, names ...string) (*StepError, int) {
	b.t.Helper()
	var last Progress
	existing, err := b.Make(b.t.Context(), "orders", upTo(shards), preparing(), groups(names...), func(at Progress) { last = at })
	var step *StepError
	require.ErrorAs(b.t, err, &step)
	require.ErrorContains(b.t, err, step.Key)
	require.Equal(b.t, shards, step.Total)
	require.Equal(b.t, Progress{Done: step.Done, Total: step.Total, Err: err}, last)
	return step, existing
}

func TestKeyOfAnotherTypeStopsTheCallAndIsNamed(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.do("SET", "orders:500", "somebody's")
	b.mark(1000, preparing())
	step, existing := b.stopped(1000, "g", "h")
	require.Equal(t, "orders:500", step.Key)
	require.Equal(t, redisx.StateWrongType, step.State())
	require.ErrorContains(t, step, "is no stream")
	require.ErrorContains(t, step, "511 of 1000")
	require.Zero(t, existing)
	require.Zero(t, b.exists("orders:512"), "the pipeline of keys 384 to 511 was sent, the next one was not")
	require.Equal(t, "somebody's", b.rdb.Get(t.Context(), "orders:500").Val())

	b.do("DEL", "orders:500")
	require.Equal(t, 1022, b.make(1000, groups("g", "h")...))
	b.complete(1000, "g", "h")
}

func TestTheFirstOfSeveralFailingKeysIsNamed(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.do("MSET", "orders:9", "v", "orders:3", "v", "orders:5", "v")
	b.mark(10, preparing())
	step, _ := b.stopped(10)
	require.Equal(t, "orders:3", step.Key)
	require.Equal(t, 7, step.Done)
}

func TestRedisKilledHalfWayIsCompletedByARetry(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t, redisproc.WithAOF("always"))
	b := newBench(t, server.Client(t))
	b.mark(1000, preparing())
	b.rdb.AddHook(&trips{before: func(n int64) {
		if n == 3 {
			server.Kill()
		}
	}})
	step, _ := b.stopped(1000)
	require.Equal(t, "orders:256", step.Key)
	require.Equal(t, redisx.StateUnreachable, step.State())
	require.Equal(t, 256, step.Done)

	server.Restart()
	require.Equal(t, 256, b.make(1000))
	b.complete(1000)
}

func TestMemoryLimitHalfWayIsCompletedByARetry(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	b, admin := newBench(t, server.Client(t)), server.Client(t)
	b.mark(300, preparing())
	b.rdb.AddHook(&trips{before: func(n int64) {
		if n == 2 {
			admin.ConfigSet(t.Context(), "maxmemory", "1")
		}
	}})
	step, _ := b.stopped(300)
	require.Equal(t, "orders:128", step.Key)
	require.Equal(t, redisx.StateOOM, step.State())
	require.Equal(t, 128, step.Done)

	require.NoError(t, admin.ConfigSet(t.Context(), "maxmemory", "0").Err())
	require.Equal(t, 128, b.make(300))
}

func TestMissingPermissionIsNamed(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	admin := newBench(t, server.Client(t))
	admin.do("ACL", "SETUSER", "narrow", "on", ">pw", "+@all", "~orders:1*", "~redis-stream:coord:shard:*")
	rdb, err := redisx.New(redisx.Options{Addrs: []string{server.Addr()}, Username: "narrow", Password: "pw"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = rdb.Close() })
	admin.mark(20, preparing())
	b := newBench(t, rdb)
	step, _ := b.stopped(20)
	require.Equal(t, "orders:0", step.Key)
	require.Equal(t, redisx.StateNoPerm, step.State())
	require.Equal(t, 11, step.Done, "orders:1 and orders:10 to orders:19")

	admin.do("ACL", "SETUSER", "narrow", "allkeys")
	require.Equal(t, 11, b.make(20))
}
