package provision

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

func TestThousandShardsTakeAtMostTwentyRoundTrips(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	count := &trips{}
	b.rdb.AddHook(count)
	wanted := []stream.Group{{Name: "g"}, {Name: "h", FromLatest: true}, {Name: "i"}}
	existing, err := b.Provision(t.Context(), "orders", upTo(1000), wanted, 1)
	require.NoError(t, err)
	require.Zero(t, existing)
	require.LessOrEqual(t, count.sent.Load()+count.sources.Load(), int64(20), "marking and making")
	require.Equal(t, int64(2), count.sources.Load(), "each source is sent once")
	b.complete(1000, "g", "h", "i")
}

func TestMakingAgainChangesNothing(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.made(300)
	before := groupsOn(t, b.rdb, "orders:7")
	require.Equal(t, 300, b.make(300))
	require.Equal(t, before, groupsOn(t, b.rdb, "orders:7"))

	b.mark(302, preparing())
	require.Equal(t, 300, b.make(302, groups("g", "h")...))
	b.complete(302, "g", "h")
}

func TestFieldF14AnExistingCursorIsNeverMoved(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.made(1)
	for range 1000 {
		b.do("XADD", "orders:0", "*", "f", "v")
	}
	b.do("XREADGROUP", "GROUP", "g", "c", "COUNT", 600, "NOACK", "STREAMS", "orders:0", ">")
	b.read("g", 10)
	before := groupsOn(t, b.rdb, "orders:0")["g"]
	for _, fromLatest := range []bool{false, true} {
		require.Equal(t, 1, b.make(1, stream.Group{Name: "g", FromLatest: fromLatest}))
		require.Equal(t, before, groupsOn(t, b.rdb, "orders:0")["g"])
	}
	made, err := b.Remake(t.Context(), "orders", 0, preparing(), map[string]string{"g": "0"})
	require.NoError(t, err)
	require.Empty(t, made)
	require.NoError(t, b.Unseal(t.Context(), "orders", []int{0}, preparing(), groups()))
	require.NoError(t, b.unmake([]int{0}, preparing()))
	require.Equal(t, before, groupsOn(t, b.rdb, "orders:0")["g"])

	b.do("XGROUP", "DESTROY", "orders:0", "g")
	require.Zero(t, b.make(1), "a lost group is reported as new")
	require.Equal(t, "0-0", groupsOn(t, b.rdb, "orders:0")["g"].LastDeliveredID, "and starts where the call says")
}

func TestStartPositionDecidesWhatANewGroupReads(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.do("XADD", "orders:0", "1-0", "f", "old")
	b.made(2, stream.Group{Name: "all"}, stream.Group{Name: "new", FromLatest: true})
	b.do("XADD", "orders:0", "2-0", "f", "new")
	b.do("XADD", "orders:1", "2-0", "f", "new")
	require.Equal(t, []string{"1-0", "2-0"}, readAll(t, b.rdb, "all", "orders:0"))
	require.Equal(t, []string{"2-0"}, readAll(t, b.rdb, "new", "orders:0"))
	require.Equal(t, []string{"2-0"}, readAll(t, b.rdb, "new", "orders:1"))
}

func TestProgressIsToldAfterEveryPipeline(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.mark(300, preparing())
	var told []Progress
	_, err := b.Make(t.Context(), "orders", upTo(300), preparing(), groups(), func(p Progress) { told = append(told, p) })
	require.NoError(t, err)
	require.Equal(t, []Progress{{Done: 128, Total: 300}, {Done: 256, Total: 300}, {Done: 300, Total: 300}}, told)
}

func TestNothingToDoAsksNothing(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	count := &trips{}
	b.rdb.AddHook(count)
	existing, err := b.Provision(t.Context(), "orders", upTo(0), groups(), 1)
	require.NoError(t, err)
	require.Zero(t, existing)
	require.NoError(t, b.Destroy(t.Context(), "orders", 0, "g"))
	found, err := b.Prove(t.Context(), "orders", nil, []string{"g"})
	require.NoError(t, err)
	require.Empty(t, found)
	require.Zero(t, count.sent.Load())
}

func TestCancelledCallSaysHowFarItCame(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.mark(300, preparing())
	ctx, cancel := context.WithCancel(t.Context())
	_, err := b.Make(ctx, "orders", upTo(300), preparing(), groups(), func(p Progress) {
		if p.Done == 256 {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	var step *StepError
	require.ErrorAs(t, err, &step)
	require.Equal(t, 256, step.Done)
	require.Equal(t, 256, b.make(300), "the same call goes on")
}

func TestUnmakeDeletesOnlyShardsThatNobodyWroteTo(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.made(7)
	b.do("XADD", "orders:1", "8-0", "f", "v")
	b.do("XADD", "orders:2", "9-0", "f", "v")
	b.do("XDEL", "orders:2", "9-0")
	b.do("DEL", "orders:3", "orders:4")
	b.do("SET", "orders:4", "somebody's")
	b.do("XSETID", "orders:5", "7-0")
	b.do("XSETID", "orders:6", "0-0", "ENTRIESADDED", 5, "MAXDELETEDID", "0-0")
	for range 2 {
		b.mark(7, preparing())
		used, err := b.Unmake(t.Context(), "orders", upTo(7), preparing(), 8)
		require.NoError(t, err)
		require.Equal(t, []int{1, 2}, used, "5 was written to before that time")
		require.Zero(t, b.exists("orders:0", "orders:3"))
		require.Equal(t, int64(5), b.exists("orders:1", "orders:2", "orders:4", "orders:5", "orders:6"))
	}
	require.Contains(t, groupsOn(t, b.rdb, "orders:2"), "g")
}

// What stays because it is somebody else's is no shard that a record has forgotten.
func TestUnmakeLeavesNoMarkerOnWhatIsNotOurs(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.made(1)
	b.do("XADD", "orders:0", "1-0", "f", "v")
	require.NoError(t, b.unmake([]int{0}, preparing()))
	end, err := b.Beyond(t.Context(), "orders", 0, 0)
	require.NoError(t, err)
	require.Equal(t, 1, end, "used since then")
	_, err = b.Unmake(t.Context(), "orders", []int{0}, preparing(), 2)
	require.NoError(t, err)
	end, err = b.Beyond(t.Context(), "orders", 0, 0)
	require.NoError(t, err)
	require.Zero(t, end)
}

func TestL12RemakeStartsMissingGroupsWhereItIsTold(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.mark(1, preparing())
	for _, id := range []string{"1-0", "2-0", "5-3", "9-0"} {
		b.do("XADD", "orders:0", id, "f", "v")
	}
	b.do("XGROUP", "CREATE", "orders:0", "there", "1-0")
	made, err := b.Remake(t.Context(), "orders", 0, preparing(), map[string]string{"there": "9-0", "g": "5-3", "h": "0", "i": "9-0"})
	require.NoError(t, err)
	require.Equal(t, []string{"g", "h", "i"}, made, "only what is missing")
	on := groupsOn(t, b.rdb, "orders:0")
	for name, want := range map[string]string{"there": "1-0", "g": "5-3", "h": "0-0", "i": "9-0"} {
		require.Equal(t, want, on[name].LastDeliveredID, name)
	}
	made, err = b.Remake(t.Context(), "orders", 0, preparing(), map[string]string{"g": "1-0", "h": "1-0"})
	require.NoError(t, err)
	require.Empty(t, made)

	var step *StepError
	_, err = b.Remake(t.Context(), "orders", 0, preparing(), map[string]string{"j": "no id"})
	require.ErrorAs(t, err, &step)
	_, err = b.Remake(t.Context(), "orders", 0, sealing(), map[string]string{"g": "0"})
	require.ErrorIs(t, err, ErrStale)
}

// TestL12RemadeGroupSeesEveryEntryOfANewLife: the key is gone or was made by a producer
// since, and a clock that went back gives lower ids than those on record.
func TestL12RemadeGroupSeesEveryEntryOfANewLife(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"": "", "below": "1700-3", "just below": "1800-10", "equal": "1800-11", "above": "1801-0"} {
		b := onRedis(t)
		b.mark(1, preparing())
		if first != "" {
			b.do("XADD", "orders:0", first, "f", "v")
		}
		made, err := b.Remake(t.Context(), "orders", 0, preparing(), map[string]string{"g": "1800-11"})
		require.NoError(t, err)
		require.Equal(t, []string{"g"}, made)
		want := "0-0"
		if name == "equal" || name == "above" {
			want = "1800-11"
		}
		require.Equal(t, want, groupsOn(t, b.rdb, "orders:0")["g"].LastDeliveredID, name)
		b.do("XADD", "orders:0", "1900-0", "f", "v")
		require.Contains(t, readAll(t, b.rdb, "g", "orders:0"), "1900-0")
	}
}

func TestWhatMakesNoSenseIsRefusedBeforeRedisIsAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t, redisproc.Start(t).Client(t))
	count := &trips{}
	b.rdb.AddHook(count)
	for name, call := range map[string]func() error{
		"negative index": func() error { _, err := b.Mark(t.Context(), "orders", []int{-1}, preparing()); return err },
		"index twice":    func() error { _, err := b.Mark(t.Context(), "orders", []int{1, 1}, preparing()); return err },
		"mark 0":         func() error { _, err := b.Mark(t.Context(), "orders", []int{1}, tokenOf(0, "A")); return err },
		"no phase":       func() error { _, err := b.Mark(t.Context(), "orders", []int{1}, tokenOf(1, "")); return err },
		"colon in phase": func() error { _, err := b.Mark(t.Context(), "orders", []int{1}, tokenOf(1, "A:B")); return err },
		"no groups": func() error {
			_, err := b.Make(t.Context(), "orders", []int{1}, preparing(), nil, nil)
			return err
		},
		"group twice": func() error {
			_, err := b.Make(t.Context(), "orders", []int{1}, preparing(), groups("g", "g"), nil)
			return err
		},
		"negative count": func() error { _, err := b.Provision(t.Context(), "orders", []int{-1}, groups(), 1); return err },
		"negative end":   func() error { return b.Destroy(t.Context(), "orders", -1, "g") },
		"proved twice": func() error {
			_, err := b.Prove(t.Context(), "orders", []int{2, 2}, []string{"g"})
			return err
		},
		"sealed for a group twice": func() error {
			_, err := b.Seal(t.Context(), "orders", []int{2}, sealing(), []string{"g", "g"}, 0, nil)
			return err
		},
		"unsealed without groups": func() error { return b.Unseal(t.Context(), "orders", []int{2}, sealing(), nil) },
	} {
		require.ErrorIs(t, call(), ErrInvalid, name)
	}
	require.Zero(t, count.sent.Load())
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
