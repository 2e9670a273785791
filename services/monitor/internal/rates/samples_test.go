package rates_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// Monitoring, Console: a line of what is not known has a gap, and no 0.
func TestSamplesCoverTheHistoryInEqualSpans(t *testing.T) {
	t.Parallel()
	s, book := newServer(false), rates.NewBook(time.Minute)
	s.now = time.Unix(1_700_000_000, 0) // a span of 10 s ends here
	var snap rates.Snapshot
	for i := range 6 {
		s.add(100)
		s.read(50)
		if i == 3 {
			s.runID = "another" // nothing is known once
		}
		snap = book.Add(roundOf(int64(i), s.shard(true)))
		s.now = s.now.Add(5 * time.Second)
	}
	got := snap.Samples("orders", groupName, 6)
	require.Equal(t, int64(10_000), got.StepMs)
	require.Equal(t, time.Unix(1_700_000_030, 0).UTC(), got.Until.UTC(), "the span is not over")
	for _, values := range [][]*float64{got.ProducedPerSecond, got.ConsumedPerSecond, got.Lag} {
		require.Len(t, values, 6)
		for _, early := range values[:3] {
			require.Nil(t, early, "nobody looked")
		}
	}
	require.Equal(t, []*float64{new(20.0), new(20.0), new(20.0)}, got.ProducedPerSecond[3:])
	require.Equal(t, []*float64{new(10.0), new(10.0), new(10.0)}, got.ConsumedPerSecond[3:])
	require.InDelta(t, 75, *got.Lag[3], 0.75, "50 and 100 are unread")
	require.Greater(t, *got.Lag[5], *got.Lag[4])

	finest := snap.Samples("orders", groupName, 12)
	require.Nil(t, finest.ProducedPerSecond[9], "another server has no rate")
	require.NotNil(t, finest.ProducedPerSecond[10])
	require.Nil(t, finest.ProducedPerSecond[6], "the first look has no rate")
	require.NotNil(t, finest.Lag[6])
}

func TestSamplesOfWhatIsNotKnownAreUnknown(t *testing.T) {
	t.Parallel()
	book := rates.NewBook(time.Minute)
	round := manyShards(1, 2, 1)
	snap := book.Add(round)
	for _, got := range [][]*float64{
		snap.Samples("other", "group-0", 3).ProducedPerSecond, snap.Samples("stream-0", "other", 3).Lag, rates.Snapshot{}.Samples("s", "g", 3).Lag,
	} {
		require.Equal(t, []*float64{nil, nil, nil}, got)
	}
	require.Len(t, snap.Samples("stream-0", "group-0", 1).Lag, 1)
	for _, n := range []int{2, 7, 60} { // however the spans lie
		for back := range 100 {
			moved := book.Add(manyShards(1, 1, 1))
			moved.At = moved.At.Add(-time.Duration(back) * time.Second)
			require.NotPanics(t, func() { moved.Samples("stream-0", "group-0", n) })
		}
	}
}

// Samples are short however large numbers are: 64 groups are to be small on the wire.
func TestSamplesAreShort(t *testing.T) {
	t.Parallel()
	book := rates.NewBook(0)
	round := manyShards(1, 2, 1)
	for i := range round.Streams[0].Shards {
		group := round.Streams[0].Shards[i].Groups["group-0"]
		group.Lag = new(math.MaxInt32 + int64(i))
		round.Streams[0].Shards[i].Groups["group-0"] = group
		round.Streams[0].Shards[i].Length = math.MaxInt32 * 4
		round.Streams[0].Shards[i].LastID = new("9-0")
		round.Streams[0].Shards[i].LastGeneratedID = new("9-0")
	}
	var snap rates.Snapshot
	for range 200 {
		round.At = round.At.Add(5 * time.Second)
		for i := range round.Streams[0].Shards {
			round.Streams[0].Shards[i].At = round.At
			added := *round.Streams[0].Shards[i].EntriesAdded + 123_457
			round.Streams[0].Shards[i].EntriesAdded = &added
		}
		snap = book.Add(round)
	}
	got, err := json.Marshal(snap.Samples("stream-0", "group-0", 60))
	require.NoError(t, err)
	require.Less(t, len(got), 1500, string(got))
}
