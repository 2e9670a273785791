package observe_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/observe"
)

// TestARoundTellsWhatRedisHas, of both protocols of Redis.
func TestARoundTellsWhatRedisHas(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	for _, protocol := range []int{2, 3} {
		rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), Protocol: protocol})
		t.Cleanup(func() { _ = rdb.Close() })
		require.NoError(t, rdb.FlushAll(t.Context()).Err())
		for _, line := range []string{
			"XADD orders:0 1-0 f v", "XADD orders:0 2-0 f v", "XADD orders:0 3-0 f v", "XGROUP CREATE orders:0 a 0", "XGROUP CREATE orders:0 b $",
			"XGROUP CREATE orders:0 stranger 0", "XREADGROUP GROUP a c1 COUNT 1 STREAMS orders:0 >", "XREADGROUP GROUP a c2 COUNT 1 STREAMS orders:0 >",
			"XGROUP CREATE orders:1 a 0 MKSTREAM", "XGROUP CREATE orders:1 b 0",
		} {
			do(t, rdb, line)
		}
		o := observerOf(rdb, observe.Config{}, group("orders", "a", 2), group("orders", "b", 2))
		r := settled(t, o)
		require.Len(t, r.Streams, 1)
		require.Equal(t, "orders", r.Streams[0].Prefix)
		require.Equal(t, 2, r.Streams[0].ShardCount)
		first, empty := r.Streams[0].Shards[0], r.Streams[0].Shards[1]

		require.Equal(t, "orders:0", first.Key)
		require.Empty(t, first.Problem)
		require.Equal(t, int64(3), first.Length)
		require.Equal(t, new(int64(3)), first.EntriesAdded)
		require.Equal(t, []*string{new("1-0"), new("3-0"), new("3-0")}, []*string{first.FirstID, first.LastID, first.LastGeneratedID})
		require.Positive(t, *first.Memory)
		require.Len(t, first.Node.RunID, 40)
		require.Equal(t, server.Addr(), *first.Node.Endpoint)
		require.Nil(t, first.Node.ID)
		require.False(t, first.At.Before(r.At))

		a := first.Groups["a"]
		require.Len(t, a.Consumers, 2)
		require.Equal(t, "c1", a.Consumers[0].Name)
		require.Equal(t, int64(1), a.Consumers[0].Pending)
		a.Consumers = nil
		require.Equal(t, facts.ShardGroup{
			LastDeliveredID: new("2-0"), EntriesRead: new(int64(2)), Lag: new(int64(1)), Pending: 2, Tail: new(int64(1)),
			TailAtLeast: 1, FirstUnreadID: new("3-0"), OldestPendingID: new("1-0"),
		}, a)
		require.Equal(t, new(int64(0)), first.Groups["b"].Tail)
		require.NotContains(t, first.Groups, "stranger", "only groups of the coordinator are looked at")

		require.Empty(t, empty.Problem, "an empty stream is normal")
		require.Nil(t, empty.FirstID)
		require.Nil(t, empty.LastGeneratedID)
		require.Nil(t, empty.Groups["a"].LastDeliveredID)
		require.Equal(t, new(int64(0)), empty.Groups["a"].Tail)
		require.NotNil(t, empty.Groups["a"].Consumers, "they were asked for")
	}
}

// TestFieldF35BrokenKeysSayItForThemselves and stop no other: missing, no stream, not permitted,
// without the group.
func TestFieldF35BrokenKeysSayItForThemselves(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	rdb := server.Client(t)
	for _, line := range []string{
		"XGROUP CREATE orders:0 a 0 MKSTREAM", "SET orders:2 sealed", "XADD orders:3 1-0 f v", "XGROUP CREATE orders:4 a 0 MKSTREAM",
		"XGROUP CREATE orders:5 a 0 MKSTREAM",
		"ACL SETUSER limited on nopass ~orders:0 ~orders:1 ~orders:2 ~orders:3 ~orders:5 +@all",
	} {
		do(t, rdb, line)
	}
	limited := redis.NewClient(&redis.Options{Addr: server.Addr(), Username: "limited", Password: "x"})
	t.Cleanup(func() { _ = limited.Close() })
	for _, pipeline := range []int{1, 2, 64} {
		r := round(t, observerOf(limited, observe.Config{Pipeline: pipeline}, group("orders", "a", 6)))
		shards := r.Streams[0].Shards
		var problems []facts.Problem
		for _, s := range shards {
			problems = append(problems, s.Problem)
			require.Equal(t, s.Problem == "", s.Detail == "", s.Key)
			if s.Problem != "" {
				require.Nil(t, s.Memory, s.Key)
			}
		}
		require.Equal(t, []facts.Problem{"", facts.ProblemMissing, facts.ProblemWrongType, "", facts.ProblemUnreachable, ""}, problems)
		require.Contains(t, shards[4].Detail, "NOPERM")
		require.Contains(t, shards[0].Groups, "a")
		require.NotContains(t, shards[3].Groups, "a", "the group is missing, the shard is not")
		require.Equal(t, int64(1), shards[3].Length)
	}
}

func TestRemovedShardsAreObservedUntilTheirEnd(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	shrinking := group("orders", "a", 2)
	shrinking.ReadCount = 4
	r := round(t, observerOf(rdb, observe.Config{}, shrinking, group("orders", "b", 2), group("mad", "m", -3)))
	require.Len(t, r.Streams, 2)
	require.Empty(t, r.Streams[0].Shards)
	require.Equal(t, 2, r.Streams[1].ShardCount)
	require.Len(t, r.Streams[1].Shards, 4)
	require.Len(t, r.Groups, 3)
}

// TestTheCoordinatorMayBeAway: the last groups are observed, and the round says so.
func TestTheCoordinatorMayBeAway(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	code := protocol.CodeMetadataCorrupt
	bad := group("orders", "b", 1)
	bad.Problem = &code
	c := &coordinator{err: errors.New("connection refused")}
	o := observe.New(observe.Config{RoundTimeout: time.Second}, observe.Deps{Redis: rdb, Groups: c})
	r := round(t, o)
	require.Contains(t, r.Problem, "connection refused")
	require.Empty(t, r.Groups)

	c.set(func() { c.err, c.groups = nil, []protocol.GroupSnapshot{bad, group("orders", "a", 1)} })
	r = round(t, o)
	require.Empty(t, r.Problem)
	require.Equal(t, "a", r.Groups[0].View.ConsumerGroup, "they are sorted")
	require.Equal(t, "METADATA_CORRUPT", r.Groups[1].Problem)

	r = round(t, o)
	require.Len(t, r.Groups, 2)
	require.Equal(t, 1, c.made, "an answer that has not changed is not asked for again")

	for _, fail := range []func(){func() { c.err = errors.New("connection refused") }, func() { c.hang = true }} {
		c.set(fail)
		r = round(t, o)
		require.NotEmpty(t, r.Problem)
		require.Len(t, r.Groups, 2)
		require.Equal(t, facts.ProblemMissing, r.Streams[0].Shards[0].Problem, "Redis is asked all the same")
	}
	c.set(func() { c.err, c.hang, c.groups = nil, false, nil })
	r = round(t, o)
	require.Empty(t, r.Problem)
	require.Empty(t, r.Groups)
	require.Equal(t, int64(6), r.Number)
}

// TestSizesAndConsumersAreAskedForNowAndThen, and kept in between.
func TestSizesAndConsumersAreAskedForNowAndThen(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	for _, line := range []string{
		"XGROUP CREATE orders:0 a 0 MKSTREAM", "XADD orders:0 1-0 f v", "XREADGROUP GROUP a c1 NOACK STREAMS orders:0 >", "XADD orders:1 1-0 f v",
	} {
		do(t, rdb, line)
	}
	sent := watch(rdb)
	o := observerOf(rdb, observe.Config{MemoryEvery: 2, ConsumersEvery: 3}, group("orders", "a", 2))
	sizes, consumers := map[string][]int{}, []int{}
	for number := 1; number <= 9; number++ {
		shard := round(t, o).Streams[0].Shards[0]
		_, _, lines := sent.taken()
		for _, line := range lines {
			if key, found := strings.CutPrefix(line, "MEMORY USAGE "); found {
				key, found = strings.CutSuffix(key, " SAMPLES 5")
				require.True(t, found, line)
				sizes[key] = append(sizes[key], number)
			}
			if strings.HasPrefix(line, "XINFO CONSUMERS") {
				consumers = append(consumers, number)
			}
		}
		require.NotNil(t, shard.Memory)
		require.Equal(t, number > 1, len(shard.Groups["a"].Consumers) == 1)
	}
	require.Equal(t, []int{1, 3, 5, 7, 9}, sizes["orders:1"], "nothing else is to be known of it")
	require.Equal(t, []int{2, 5, 8}, consumers, "what has waited longer goes first")
	require.Equal(t, []int{1, 3, 6, 9}, sizes["orders:0"], "it waits for its turn")
}

// TestWhatIsKeptOfAShardLastsAsLongAsTheShard, also while it is out of reach.
func TestWhatIsKeptOfAShardLastsAsLongAsTheShard(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t, redisproc.WithAOF("always"))
	rdb := server.Client(t)
	do(t, rdb, "XGROUP CREATE orders:0 a 0 MKSTREAM")
	o := observerOf(rdb, observe.Config{RoundTimeout: 500 * time.Millisecond, MemoryEvery: 100, ConsumersEvery: 100}, group("orders", "a", 1))
	look := func() facts.Shard { return round(t, o).Streams[0].Shards[0] }
	look()
	before := look()
	require.NotNil(t, before.Memory)
	require.NotNil(t, before.Groups["a"].Consumers)

	server.Kill()
	sent := watch(rdb)
	wide := observerOf(rdb, observe.Config{RoundTimeout: time.Second, Pipeline: 4}, group("orders", "a", 400))
	for _, shard := range round(t, wide).Streams[0].Shards {
		require.Equal(t, facts.ProblemUnreachable, shard.Problem)
	}
	pipelines, _, _ := sent.taken()
	require.LessOrEqual(t, pipelines, 2, "who does not answer is not asked a hundred times")
	away := look()
	require.Equal(t, facts.ProblemUnreachable, away.Problem)
	require.Nil(t, away.Memory)
	require.NotEmpty(t, away.Detail)
	require.Zero(t, away.At)

	server.Restart()
	after := look()
	for after.Problem == facts.ProblemUnreachable { // the client has to dial again
		after = look()
	}
	require.Empty(t, after.Problem)
	require.Equal(t, before.Memory, after.Memory)
	require.NotNil(t, after.Groups["a"].Consumers)
	require.NotEqual(t, before.Node.RunID, after.Node.RunID)

	do(t, rdb, "DEL orders:0")
	require.Equal(t, facts.ProblemMissing, look().Problem)
	do(t, rdb, "XGROUP CREATE orders:0 a 0 MKSTREAM")
	do(t, rdb, "XADD orders:0 1-0 f "+strings.Repeat("v", 10_000))
	again := settled(t, o).Streams[0].Shards[0]
	require.Greater(t, *again.Memory, *before.Memory, "this is another stream, asked for without delay")
	require.NotNil(t, again.Groups["a"].Consumers)
	do(t, rdb, "XADD orders:0 2-0 f "+strings.Repeat("v", 10_000))
	require.Equal(t, again.Memory, look().Memory, "which has its turn from then on")
}

// TestARunIDThatIsNotLearntInARoundStays: an empty one would pass for another server.
func TestARunIDThatIsNotLearntInARoundStays(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	admin := server.Client(t)
	do(t, admin, "ACL SETUSER watcher on nopass ~* +@all")
	do(t, admin, "XADD orders:0 1-0 f v")
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), Username: "watcher", Password: "x"})
	t.Cleanup(func() { _ = rdb.Close() })
	o := observerOf(rdb, observe.Config{}, group("orders", "a", 1))
	known := round(t, o).Streams[0].Shards[0].Node.RunID
	require.Len(t, known, 40)
	do(t, admin, "ACL SETUSER watcher -info")
	shard := round(t, o).Streams[0].Shards[0]
	require.Empty(t, shard.Problem)
	require.Equal(t, known, shard.Node.RunID)
}
