package provision

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// stopped runs the plan, which must fail on a step, and checks that error, report and
// progress tell one story.
func stopped(t *testing.T, rdb redis.UniversalClient, p Plan) (*StepError, Report) {
	t.Helper()
	var last Progress
	report, err := Run(t.Context(), rdb, p, func(at Progress) { last = at })
	var step *StepError
	require.ErrorAs(t, err, &step)
	require.ErrorContains(t, err, step.Key)
	require.Equal(t, report.Keys, step.Done)
	require.Equal(t, report.Total, step.Total)
	require.Equal(t, Progress{Done: report.Keys, Total: report.Total, Err: err}, last)
	return step, report
}

func TestKeyOfAnotherTypeStopsTheRunAndIsNamed(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	do(t, rdb, "SET", "orders:500", "somebody's")
	p := plan(t, 1000, Group{Name: "g", Start: Earliest}, Group{Name: "h", Start: Earliest})
	step, report := stopped(t, rdb, p)
	require.Equal(t, "orders:500", step.Key)
	require.Equal(t, redisx.StateWrongType, step.State())
	require.ErrorContains(t, step, "is no stream")
	require.ErrorContains(t, step, "511 of 1000")
	require.Equal(t, Report{Keys: 511, Total: 1000, New: 1022}, report, "the pipeline of keys 384 to 511 was sent")
	require.Zero(t, rdb.Exists(t.Context(), "orders:512").Val(), "the next one was not")
	require.Equal(t, "somebody's", rdb.Get(t.Context(), "orders:500").Val())

	do(t, rdb, "DEL", "orders:500")
	require.Equal(t, Report{Keys: 1000, Total: 1000, New: 978, Existing: 1022}, run(t, rdb, p))
	requireComplete(t, rdb, p)
}

func TestTheFirstOfSeveralFailingKeysIsNamed(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	do(t, rdb, "MSET", "orders:9", "v", "orders:3", "v", "orders:5", "v")
	step, report := stopped(t, rdb, plan(t, 10))
	require.Equal(t, "orders:3", step.Key)
	require.Equal(t, 7, report.Keys)
}

func TestRedisKilledHalfWayIsCompletedByARetry(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t, redisproc.WithAOF("always"))
	rdb := server.Client(t)
	rdb.AddHook(&trips{before: func(n int64) {
		if n == 3 {
			server.Kill()
		}
	}})
	p := plan(t, 1000)
	step, report := stopped(t, rdb, p)
	require.Equal(t, "orders:256", step.Key)
	require.Equal(t, redisx.StateUnreachable, step.State())
	require.Equal(t, Report{Keys: 256, Total: 1000, New: 256}, report)

	server.Restart()
	require.Equal(t, Report{Keys: 1000, Total: 1000, New: 744, Existing: 256}, run(t, rdb, p))
	requireComplete(t, rdb, p)
}

func TestMemoryLimitHalfWayIsCompletedByARetry(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	rdb, admin := server.Client(t), server.Client(t)
	rdb.AddHook(&trips{before: func(n int64) {
		if n == 2 {
			admin.ConfigSet(t.Context(), "maxmemory", "1")
		}
	}})
	p := plan(t, 300)
	step, report := stopped(t, rdb, p)
	require.Equal(t, "orders:128", step.Key)
	require.Equal(t, redisx.StateOOM, step.State())
	require.Equal(t, 128, report.New)

	do(t, admin, "CONFIG", "SET", "maxmemory", "0")
	require.Equal(t, Report{Keys: 300, Total: 300, New: 172, Existing: 128}, run(t, rdb, p))
}

func TestMissingPermissionIsNamed(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	admin := server.Client(t)
	do(t, admin, "ACL", "SETUSER", "narrow", "on", ">pw", "+@all", "~orders:1*")
	rdb, err := redisx.New(redisx.Options{Addrs: []string{server.Addr()}, Username: "narrow", Password: "pw"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = rdb.Close() })
	step, report := stopped(t, rdb, plan(t, 20))
	require.Equal(t, "orders:0", step.Key)
	require.Equal(t, redisx.StateNoPerm, step.State())
	require.Equal(t, 11, report.Keys, "orders:1 and orders:10 to orders:19")

	do(t, admin, "ACL", "SETUSER", "narrow", "allkeys")
	require.Equal(t, Report{Keys: 20, Total: 20, New: 9, Existing: 11}, run(t, rdb, plan(t, 20)))
}
