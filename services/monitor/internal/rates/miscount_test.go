package rates_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// TestADoubtfulLagIsNotBelieved unless the unread entries were counted.
func TestADoubtfulLagIsNotBelieved(t *testing.T) {
	t.Parallel()
	shard := facts.Shard{
		Length: 500, EntriesAdded: new(int64(500)), FirstID: new("1-0"), LastID: new("500-0"), LastGeneratedID: new("500-0"),
	}
	group := facts.ShardGroup{LastDeliveredID: new("200-0"), EntriesRead: new(int64(150)), Lag: new(int64(350)), LagDoubtful: true}
	require.Equal(t, rates.Lag{Reason: protocol.LagContradictsTail}, judged(shard, group))
	group.Tail = new(int64(300))
	require.Equal(t, int64(300), *judged(shard, group).Value)
}

// TestMoreUnreadEntriesThanALagIsToldByTheirNumber though nobody has seen their end (F03).
func TestMoreUnreadEntriesThanALagIsToldByTheirNumber(t *testing.T) {
	t.Parallel()
	shard := facts.Shard{
		Length: 500, EntriesAdded: new(int64(500)), FirstID: new("1-0"), LastID: new("500-0"), LastGeneratedID: new("500-0"),
	}
	group := facts.ShardGroup{LastDeliveredID: new("200-0"), EntriesRead: new(int64(440)), Lag: new(int64(60)), TailAtLeast: 101}
	require.Equal(t, rates.Lag{Reason: protocol.LagBelowTail}, judged(shard, group))
	group.TailAtLeast = 60
	require.Equal(t, rates.Lag{Value: new(int64(60))}, judged(shard, group))
}

// TestMiscountsAreToldFromEntriesThatCameInBetween the looks at a stream and at its groups.
func TestMiscountsAreToldFromEntriesThatCameInBetween(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		added, read *int64
		lag         int64
		tail        *int64
		atLeast     int64
		want        bool
	}{
		"all is right":                             {new(int64(10)), new(int64(7)), 3, new(int64(3)), 3, false},
		"some were added before the second look":   {new(int64(10)), new(int64(7)), 5, new(int64(3)), 3, false},
		"and read at once":                         {new(int64(10)), new(int64(12)), 0, new(int64(0)), 0, false},
		"nothing is unread, and they count":        {new(int64(10)), new(int64(7)), 3, new(int64(0)), 0, true},
		"fewer are unread":                         {new(int64(10)), new(int64(7)), 3, new(int64(2)), 2, true},
		"more are unread":                          {new(int64(10)), new(int64(7)), 3, new(int64(4)), 4, true},
		"more than were counted to the end":        {new(int64(400)), new(int64(390)), 10, nil, 101, true},
		"at least as many as were counted":         {new(int64(400)), new(int64(99)), 301, nil, 101, false},
		"nobody has counted":                       {new(int64(400)), new(int64(99)), 301, nil, 0, false},
		"below zero":                               {new(int64(10)), new(int64(100)), -90, new(int64(0)), 0, true},
		"the server keeps no count of the stream":  {nil, new(int64(7)), 3, new(int64(1)), 1, false},
		"the server keeps no count of the group":   {new(int64(10)), nil, 3, new(int64(1)), 1, false},
		"nobody has counted and it is below zero ": {new(int64(10)), new(int64(100)), -90, nil, 0, true},
	} {
		group := facts.ShardGroup{EntriesRead: test.read, Lag: &test.lag, Tail: test.tail, TailAtLeast: test.atLeast}
		require.Equal(t, test.want, group.Miscounted(&facts.Shard{EntriesAdded: test.added}), name)
	}
}

// TestAgesThatWereNotAskedForAreThoseOfTheirTime: the entry may be gone meanwhile, its age then
// was true.
func TestAgesThatWereNotAskedForAreThoseOfTheirTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	shard := facts.Shard{At: now, Length: 9, FirstID: new("1-0"), LastID: new("1767225600000-9"), LastGeneratedID: new("1767225600000-9")}
	group := facts.ShardGroup{
		LastDeliveredID: new("2-0"), Pending: 3,
		EarlierUnread:  &facts.Sighting{ID: "1767225590000-0", At: now.Add(-5 * time.Second)},
		EarlierPending: &facts.Sighting{ID: "1767225580000-0", At: now.Add(-10 * time.Second)},
	}
	ages := func() rates.Rate {
		shard.Groups = map[string]facts.ShardGroup{groupName: group}
		return rates.NewBook(0).Add(roundOf(1, shard)).Rate("orders", groupName, 0)
	}
	require.Equal(t, []*int64{new(int64(5_000)), new(int64(10_000))}, []*int64{ages().OldestUnreadAgeMs, ages().OldestPendingAgeMs})
	group.FirstUnreadID, group.OldestPendingID = new("1767225599000-0"), new("1767225598000-0")
	require.Equal(t, []*int64{new(int64(1_000)), new(int64(2_000))}, []*int64{ages().OldestUnreadAgeMs, ages().OldestPendingAgeMs}, "what is known now")
}

// TestACursorAheadOfTheStreamPassesWhatIsAdded: that is no consumption, where Redis has not
// counted what the group has read.
func TestACursorAheadOfTheStreamPassesWhatIsAdded(t *testing.T) {
	t.Parallel()
	s, book := newServer(false), rates.NewBook(time.Minute)
	s.group.cursor = 5
	next(book, s, true)
	s.add(8)
	s.read(3)
	rate := next(book, s, true)
	require.Nil(t, rate.ConsumedPerSecond, "3 were read, 8 are not unread any more")
	require.InDelta(t, 1.6, *rate.ProducedPerSecond, 1e-9)
	s.add(10)
	s.read(10)
	require.InDelta(t, 2, *next(book, s, true).ConsumedPerSecond, 1e-9)
}
