package observe_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/observe"
)

// TestFieldLagsThatLieComeWithACountOfTheTail: F01, F02, F03 and F24 as they are on a real
// server. What follows is the business of rates; here the count has to be right.
func TestFieldLagsThatLieComeWithACountOfTheTail(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	for name, c := range map[string]struct {
		lines   []string
		tail    int64
		first   *string
		pending int64
	}{
		"F01": {[]string{
			"XGROUP CREATE F01:0 a $ MKSTREAM", "XADD F01:0 0-1 f v", "XADD F01:0 0-2 f v", "XREADGROUP GROUP a c STREAMS F01:0 >",
			"XADD F01:0 0-3 f v", "XADD F01:0 0-4 f v", "XDEL F01:0 0-1 0-2", "XDEL F01:0 0-3",
		}, 1, new("0-4"), 2},
		"F02": {[]string{
			"XADD F02:0 1-0 f v", "XADD F02:0 2-0 f v", "XADD F02:0 3-0 f v", "XADD F02:0 4-0 f v", "XADD F02:0 5-0 f v", "XGROUP CREATE F02:0 a 0",
			"XREADGROUP GROUP a c COUNT 1 STREAMS F02:0 >", "XTRIM F02:0 MAXLEN 1", "XREADGROUP GROUP a c COUNT 1 STREAMS F02:0 >", "XACK F02:0 a 1-0 5-0",
		}, 0, nil, 0},
		"F03": {[]string{
			"XADD F03:0 1-0 f v", "XADD F03:0 2-0 f v", "XADD F03:0 3-0 f v", "XGROUP CREATE F03:0 a 0 ENTRIESREAD 3",
		}, 3, new("1-0"), 0},
		"F03b": {[]string{"XADD F03b:0 1-0 f v", "XGROUP CREATE F03b:0 a $ ENTRIESREAD 100"}, 0, nil, 0},
		"F24": {[]string{
			"XADD F24:0 1-0 f v", "XADD F24:0 2-0 f v", "XGROUP CREATE F24:0 a 0", "XREADGROUP GROUP a c STREAMS F24:0 >", "XTRIM F24:0 MAXLEN 0",
		}, 0, nil, 2},
	} {
		for _, line := range c.lines {
			do(t, rdb, line)
		}
		shard := settled(t, observerOf(rdb, observe.Config{}, group(name, "a", 1))).Streams[0].Shards[0]
		got := shard.Groups["a"]
		require.Equal(t, facts.Problem(""), shard.Problem, name)
		require.Equal(t, name == "F01", shard.MaxDeletedID != nil, "%s: trimming is no deletion", name)
		require.Equal(t, &c.tail, got.Tail, name)
		require.Equal(t, c.first, got.FirstUnreadID, name)
		require.Equal(t, c.pending, got.Pending, name)
		require.Equal(t, c.pending > 0, got.OldestPendingID != nil, "%s: entries that are trimmed are pending still (F24)", name)
		if name == "F03b" {
			require.Nil(t, got.Lag, "a lag below zero is none")
		}
	}
}

// TestFieldF05AfterAFailoverTheLagIsUnknown and the server another.
func TestFieldF05AfterAFailoverTheLagIsUnknown(t *testing.T) {
	t.Parallel()
	primary, replica := redisproc.Start(t), redisproc.Start(t)
	rdb := primary.Client(t)
	for _, line := range []string{
		"XADD orders:0 1-0 f v", "XADD orders:0 2-0 f v", "XADD orders:0 3-0 f v", "XADD orders:0 4-0 f v", "XGROUP CREATE orders:0 a 0",
		"XREADGROUP GROUP a c COUNT 2 STREAMS orders:0 >",
	} {
		do(t, rdb, line)
	}
	replica.Follow(t, primary)
	before := round(t, observerOf(rdb, observe.Config{}, group("orders", "a", 1))).Streams[0].Shards[0]
	replica.Promote(t)
	after := round(t, observerOf(replica.Client(t), observe.Config{}, group("orders", "a", 1))).Streams[0].Shards[0]
	require.NotEqual(t, before.Node.RunID, after.Node.RunID)
	require.Equal(t, new(int64(2)), before.Groups["a"].Lag)
	require.Equal(t, before.Groups["a"].LastDeliveredID, after.Groups["a"].LastDeliveredID)
	require.Equal(t, new(int64(2)), after.Groups["a"].Tail, "the tail is counted all the same")
}

// TestTailsAreCountedUpToTheirLimit, to the entry that was the last one when the rest was asked.
func TestTailsAreCountedUpToTheirLimit(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	sent := watch(rdb)
	for unread, want := range map[int]*int64{facts.TailLimit: new(int64(facts.TailLimit)), facts.TailLimit + 1: nil} {
		prefix := fmt.Sprintf("orders%d", unread)
		for i := range unread + 2 {
			do(t, rdb, fmt.Sprintf("XADD %s:0 %d-0 f v", prefix, i+1))
		}
		do(t, rdb, "XGROUP CREATE "+prefix+":0 a 2-0")
		sent.taken()
		got := round(t, observerOf(rdb, observe.Config{}, group(prefix, "a", 1))).Streams[0].Shards[0].Groups["a"]
		require.Nil(t, got.Lag, "Redis cannot know it")
		require.Equal(t, want, got.Tail)
		require.Equal(t, new("3-0"), got.FirstUnreadID)
		_, _, lines := sent.taken()
		require.Contains(t, lines, fmt.Sprintf("XRANGE %s:0 (2-0 %d-0 COUNT 101", prefix, unread+2))
	}
}
