package rates_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// TestHistoryHoldsWhatWasShown, the oldest first, unknown values as such.
func TestHistoryHoldsWhatWasShown(t *testing.T) {
	t.Parallel()
	s, book := newServer(false), rates.NewBook(time.Minute)
	var shown []rates.Rate
	var snap rates.Snapshot
	for i := range 10 {
		if i != 5 {
			s.add(i * 100)
			s.read(i * 50)
		} else {
			s.runID = "another"
		}
		s.now = s.now.Add(5 * time.Second)
		snap = book.Add(roundOf(int64(i), s.shard(true)))
		shown = append(shown, snap.Rate("orders", groupName, 0))
	}
	history := snap.History("orders", groupName, 0)
	require.Len(t, history, len(shown))
	for i, rate := range shown {
		requireNear(t, rate.ProducedPerSecond, history[i].Produced)
		requireNear(t, rate.ConsumedPerSecond, history[i].Consumed)
	}
	require.Nil(t, history[0].Produced)
	require.Nil(t, history[5].Consumed)
	require.Equal(t, s.now, history[9].At)
	for i, sum := range snap.GroupHistory("orders", groupName) {
		one := history[i]
		require.Equal(t, rates.Sum{At: one.At, Produced: one.Produced, Consumed: one.Consumed, Lag: sum.Lag}, sum, "one shard is all shards")
	}
	for _, unknown := range [][]rates.Point{
		snap.History("orders", "other", 0), snap.History("other", groupName, 0), snap.History("orders", groupName, 1), snap.History("orders", groupName, -1),
	} {
		require.Len(t, unknown, len(shown))
		require.Nil(t, unknown[9].Consumed)
	}
	require.Equal(t, rates.Sum{At: s.now}, snap.GroupHistory("other", groupName)[9])
}

func requireNear(t *testing.T, want, got *float64) {
	t.Helper()
	require.Equal(t, want == nil, got == nil)
	if want != nil {
		require.InDelta(t, *want, *got, *want/250)
	}
}

// TestHistoryReachesBackAsFarAsAsked and no further, however often is looked.
func TestHistoryReachesBackAsFarAsAsked(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int{"1ms": 1, "1s": 180, "5s": 180, "10s": 91} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			every, err := time.ParseDuration(name)
			require.NoError(t, err)
			book, at := rates.NewBook(15*time.Minute), time.Unix(1_000_000, 0)
			var snap rates.Snapshot
			for i := range 1000 {
				at = at.Add(every)
				snap = book.Add(facts.Round{Number: int64(i), At: at})
			}
			history := snap.History("orders", groupName, 0)
			require.LessOrEqual(t, len(history), most)
			require.LessOrEqual(t, at.Sub(history[0].At), 15*time.Minute)
			if every >= time.Second {
				require.GreaterOrEqual(t, at.Sub(history[0].At), 11*time.Minute)
			}
			back := book.Add(facts.Round{At: history[1%len(history)].At}).History("orders", groupName, 0)
			require.LessOrEqual(t, len(back), 2, "a clock that went back takes what is newer")
		})
	}
}

// TestASnapshotDoesNotChange while rounds are added and others read it.
func TestASnapshotDoesNotChange(t *testing.T) {
	t.Parallel()
	s, book := newServer(false), rates.NewBook(time.Minute)
	step := func() rates.Snapshot {
		s.add(rand.IntN(100))
		s.read(rand.IntN(100))
		s.now = s.now.Add(time.Second)
		return book.Add(roundOf(1, s.shard(true)))
	}
	for range 200 {
		step()
	}
	snap := step()
	rate, history := snap.Rate("orders", groupName, 0), snap.History("orders", groupName, 0)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 200 {
			step()
		}
	}()
	for range 200 {
		require.Equal(t, history, snap.History("orders", groupName, 0))
		require.Equal(t, rate, snap.Rate("orders", groupName, 0))
	}
	<-done
	require.Equal(t, history, snap.History("orders", groupName, 0))
}

// TestHistoryOfTheLargestSuiteFits: 4,096 shards with 64 groups each, looked at every 5 s for
// longer than the history reaches, take less than 200 MB.
func TestHistoryOfTheLargestSuiteFits(t *testing.T) {
	t.Parallel()
	const part = 512 // of the shards, as all have the same size
	round := manyShards(1, 4096/part, 64)
	book := rates.NewBook(0)
	var snap rates.Snapshot
	for range 200 {
		round.At = round.At.Add(5 * time.Second)
		snap = book.Add(round)
	}
	require.Less(t, snap.HistoryBytes()*part, 200<<20)
	require.Greater(t, snap.HistoryBytes()*part, 4096*64*180)
}

// TestHistoryOfManySmallStreamsFits: the same for 4,096 streams with one shard and one group.
func TestHistoryOfManySmallStreamsFits(t *testing.T) {
	t.Parallel()
	round := manyShards(4096, 1, 1)
	book := rates.NewBook(0)
	snap := book.Add(round)
	require.Less(t, snap.HistoryBytes()*180, 200<<20)
}

// TestSealedShardsLeaveNoSumUnknown: what is removed and gone is no part of the group.
func TestSealedShardsLeaveNoSumUnknown(t *testing.T) {
	t.Parallel()
	book := rates.NewBook(0)
	round := manyShards(1, 4, 1)
	book.Add(round)
	round = manyShards(1, 4, 1)
	round.At = round.At.Add(5 * time.Second)
	for i := range round.Streams[0].Shards {
		round.Streams[0].Shards[i].At = round.At
	}
	round.Streams[0].ShardCount = 3
	round.Streams[0].Shards[3] = facts.Shard{Index: 3, Problem: facts.ProblemWrongType}
	snap := book.Add(round)
	require.NotNil(t, snap.GroupHistory("stream-0", "group-0")[1].Produced)
	round.Streams[0].ShardCount, round.At = 4, round.At.Add(5*time.Second)
	require.Nil(t, book.Add(round).GroupHistory("stream-0", "group-0")[2].Produced, "a shard of the group is broken")
}

// manyShards is a round of streams with shards and groups that have read everything.
func manyShards(streams, shards, groups int) facts.Round {
	round := facts.Round{At: time.Unix(1_700_000_000, 0)}
	for i := range streams {
		stream := facts.Stream{Prefix: fmt.Sprintf("stream-%d", i), ShardCount: shards}
		for index := range shards {
			shard := facts.Shard{
				Index: index, At: round.At, Length: 1, EntriesAdded: new(int64(1)),
				FirstID: new("1-0"), LastID: new("1-0"), LastGeneratedID: new("1-0"), Groups: map[string]facts.ShardGroup{},
			}
			for g := range groups {
				shard.Groups[fmt.Sprintf("group-%d", g)] = facts.ShardGroup{LastDeliveredID: new("1-0"), EntriesRead: new(int64(1)), Lag: new(int64)}
			}
			stream.Shards = append(stream.Shards, shard)
		}
		round.Streams = append(round.Streams, stream)
	}
	return round
}

// BenchmarkAdd is a round of 4,096 shards in 64 groups.
func BenchmarkAdd(b *testing.B) {
	round := manyShards(64, 64, 1)
	book := rates.NewBook(0)
	for b.Loop() {
		round.At = round.At.Add(5 * time.Second)
		book.Add(round)
	}
}
