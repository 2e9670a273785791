package provision

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

func TestThousandShardsTakeAtMostTwentyRoundTrips(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	count := &trips{}
	rdb.AddHook(count)
	p := plan(t, 1000, Group{Name: "g", Start: Earliest}, Group{Name: "h", Start: Latest}, Group{Name: "i", Start: Earliest})
	report := run(t, rdb, p)
	require.Equal(t, Report{Keys: 1000, Total: 1000, New: 3000}, report)
	require.LessOrEqual(t, count.sent.Load(), int64(20))
	requireComplete(t, rdb, p)
}

func TestRunAgainChangesNothing(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	p := plan(t, 300)
	require.Equal(t, 300, run(t, rdb, p).New)
	before := groupsOn(t, rdb, "orders:7")
	require.Equal(t, Report{Keys: 300, Total: 300, Existing: 300}, run(t, rdb, p))
	require.Equal(t, before, groupsOn(t, rdb, "orders:7"))

	wider := plan(t, 302, Group{Name: "g", Start: Earliest}, Group{Name: "h", Start: Earliest})
	require.Equal(t, Report{Keys: 302, Total: 302, New: 304, Existing: 300}, run(t, rdb, wider))
}

func TestFieldF14AnExistingCursorIsNeverMoved(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	run(t, rdb, plan(t, 1))
	for range 1000 {
		do(t, rdb, "XADD", "orders:0", "*", "f", "v")
	}
	do(t, rdb, "XREADGROUP", "GROUP", "g", "c", "COUNT", 600, "NOACK", "STREAMS", "orders:0", ">")
	do(t, rdb, "XREADGROUP", "GROUP", "g", "c", "COUNT", 10, "STREAMS", "orders:0", ">")
	before := groupsOn(t, rdb, "orders:0")["g"]
	for _, start := range []Start{Earliest, Latest} {
		report := run(t, rdb, plan(t, 1, Group{Name: "g", Start: start}))
		require.Equal(t, 1, report.Existing)
		require.Equal(t, before, groupsOn(t, rdb, "orders:0")["g"])
	}
	do(t, rdb, "XGROUP", "DESTROY", "orders:0", "g")
	require.Equal(t, 1, run(t, rdb, plan(t, 1)).New, "a lost group is reported as new")
	require.Equal(t, "0-0", groupsOn(t, rdb, "orders:0")["g"].LastDeliveredID, "and starts where the plan says")
}

func TestStartPositionDecidesWhatANewGroupReads(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	do(t, rdb, "XADD", "orders:0", "1-0", "f", "old")
	run(t, rdb, plan(t, 2, Group{Name: "all", Start: Earliest}, Group{Name: "new", Start: Latest}))
	do(t, rdb, "XADD", "orders:0", "2-0", "f", "new")
	do(t, rdb, "XADD", "orders:1", "2-0", "f", "new")
	require.Equal(t, []string{"1-0", "2-0"}, readAll(t, rdb, "all", "orders:0"))
	require.Equal(t, []string{"2-0"}, readAll(t, rdb, "new", "orders:0"))
	require.Equal(t, []string{"2-0"}, readAll(t, rdb, "new", "orders:1"))
}

func TestProgressIsToldAfterEveryPipeline(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	var told []Progress
	_, err := Run(t.Context(), rdb, plan(t, 300), func(p Progress) { told = append(told, p) })
	require.NoError(t, err)
	require.Equal(t, []Progress{{Done: 128, Total: 300}, {Done: 256, Total: 300}, {Done: 300, Total: 300}}, told)
}

func TestNothingToDoAsksNothing(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	count := &trips{}
	rdb.AddHook(count)
	require.Equal(t, Report{}, run(t, rdb, plan(t, 0)))
	require.Zero(t, count.sent.Load())
}

func TestCancelledRunSaysHowFarItCame(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	ctx, cancel := context.WithCancel(t.Context())
	report, err := Run(ctx, rdb, plan(t, 300), func(p Progress) {
		if p.Done == 256 {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 256, report.Keys)
	require.Equal(t, Report{Keys: 300, Total: 300, New: 44, Existing: 256}, run(t, rdb, plan(t, 300)))
}

func readAll(t *testing.T, rdb redis.UniversalClient, group, key string) []string {
	t.Helper()
	streams, err := rdb.XReadGroup(t.Context(), &redis.XReadGroupArgs{
		Group: group, Consumer: "c", Streams: []string{key, ">"}, Block: -1,
	}).Result()
	require.NoError(t, err)
	var ids []string
	for _, m := range streams[0].Messages {
		ids = append(ids, m.ID)
	}
	return ids
}
