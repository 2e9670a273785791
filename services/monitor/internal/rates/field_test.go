package rates_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// judged is what one observation says of the lag of a group.
func judged(shard facts.Shard, group facts.ShardGroup) rates.Lag {
	shard.Groups = map[string]facts.ShardGroup{groupName: group}
	return rates.NewBook(0).Add(roundOf(1, shard)).Rate("orders", groupName, 0).Lag
}

// TestFieldF01LagAfterDeletionsBelowAndAboveTheCursor: Redis 7.0 says 2, one entry is there.
func TestFieldF01LagAfterDeletionsBelowAndAboveTheCursor(t *testing.T) {
	t.Parallel()
	shard := facts.Shard{
		Length: 1, EntriesAdded: new(int64(4)), FirstID: new("0-4"), LastID: new("0-4"), LastGeneratedID: new("0-4"), MaxDeletedID: new("0-3"),
	}
	group := facts.ShardGroup{LastDeliveredID: new("0-2"), EntriesRead: new(int64(2)), Lag: new(int64(2)), FirstUnreadID: new("0-4")}
	require.Equal(t, rates.Lag{Reason: protocol.LagAboveLength}, judged(shard, group))

	counted := group
	counted.Tail = new(int64(1))
	require.Equal(t, rates.Lag{Value: new(int64(1)), Reason: protocol.LagAboveLength}, judged(shard, counted), "counted one by one")

	shard.FirstID, shard.Length = new("0-1"), 3 // nothing was deleted below the cursor
	require.Equal(t, rates.Lag{Reason: protocol.LagDeleted}, judged(shard, group))
}

// TestFieldF02LagThatNeverReturnsToZero: nothing is unread, and Redis says 3 for ever.
func TestFieldF02LagThatNeverReturnsToZero(t *testing.T) {
	t.Parallel()
	shard := facts.Shard{
		Length: 1, EntriesAdded: new(int64(5)), FirstID: new("5-0"), LastID: new("5-0"), LastGeneratedID: new("5-0"),
	}
	read := func(cursor string, n, lag int64) facts.ShardGroup {
		return facts.ShardGroup{LastDeliveredID: &cursor, EntriesRead: &n, Lag: &lag}
	}
	require.Equal(t, rates.Lag{Reason: protocol.LagAboveLength}, judged(shard, read("1-0", 1, 4)))
	require.Equal(t, rates.Lag{Reason: protocol.LagContradictsTail}, judged(shard, read("5-0", 2, 3)))
	counted := read("5-0", 2, 3)
	counted.Tail = new(int64)
	require.Equal(t, rates.Lag{Value: new(int64), Reason: protocol.LagContradictsTail}, judged(shard, counted))

	shard.Groups = map[string]facts.ShardGroup{groupName: read("1-0", 1, 4)}
	lost := rates.NewBook(0).Add(roundOf(1, shard)).Rate("orders", groupName, 0)
	require.Equal(t, int64(3), *lost.TrimmedUnread, "2-0, 3-0 and 4-0 went away before they were read")
	require.True(t, lost.TrimmedUnreadAlarm)
}

// TestFieldF03PositionsGivenByHand: a negative lag, and a lag of 0 with five unread entries,
// are no lags.
func TestFieldF03PositionsGivenByHand(t *testing.T) {
	t.Parallel()
	one := facts.Shard{Length: 1, EntriesAdded: new(int64(1)), FirstID: new("1-0"), LastID: new("1-0"), LastGeneratedID: new("1-0")}
	require.Equal(t, rates.Lag{Reason: protocol.LagNegative}, judged(one, facts.ShardGroup{
		LastDeliveredID: new("1-0"), EntriesRead: new(int64(100)), Lag: new(int64(-99)),
	}))
	five := facts.Shard{Length: 5, EntriesAdded: new(int64(5)), FirstID: new("1-0"), LastID: new("5-0"), LastGeneratedID: new("5-0")}
	group := facts.ShardGroup{EntriesRead: new(int64(5)), Lag: new(int64)}
	require.Equal(t, rates.Lag{Reason: protocol.LagBelowTail}, judged(five, group))
	group.Lag = new(int64(3))
	require.Equal(t, rates.Lag{Reason: protocol.LagBelowTail}, judged(five, group), "all five are unread")
	group.Tail = new(int64(5))
	require.Equal(t, rates.Lag{Value: new(int64(5)), Reason: protocol.LagBelowTail}, judged(five, group))
	require.Equal(t, rates.Lag{Reason: protocol.LagBelowTail}, judged(five, facts.ShardGroup{
		LastDeliveredID: new("4-0"), EntriesRead: new(int64(5)), Lag: new(int64),
	}), "one is unread")
}

// TestFieldF04NullIsNotZero: what Redis does not say is not known, and only a 0 is a 0.
func TestFieldF04NullIsNotZero(t *testing.T) {
	t.Parallel()
	shard := facts.Shard{
		Length: 2, EntriesAdded: new(int64(3)), FirstID: new("1-0"), LastID: new("2-0"), LastGeneratedID: new("3-0"), MaxDeletedID: new("3-0"),
	}
	group := facts.ShardGroup{LastDeliveredID: new("1-0"), EntriesRead: new(int64(1))}
	require.Equal(t, rates.Lag{Reason: protocol.LagUnknown}, judged(shard, group))
	group.Tail = new(int64(1))
	require.Equal(t, rates.Lag{Value: new(int64(1)), Reason: protocol.LagUnknown}, judged(shard, group))
	require.Equal(t, rates.Lag{Value: new(int64)}, judged(shard, facts.ShardGroup{
		LastDeliveredID: new("2-0"), EntriesRead: new(int64(3)), Lag: new(int64),
	}))
}

// TestFieldF05AfterAFailover the lag is unknown until it is told again, and no rate is that
// of two servers.
func TestFieldF05AfterAFailover(t *testing.T) {
	t.Parallel()
	s, book := newServer(false), rates.NewBook(time.Minute)
	rate := func(tail bool) rates.Rate { return next(book, s, tail) }
	s.add(400)
	s.read(200)
	rate(false)
	s.read(50)
	require.InDelta(t, 10, *rate(false).ConsumedPerSecond, 1e-9)

	s.runID, s.group.read = "another", nil
	after := rate(false)
	require.Equal(t, rates.Rate{Lag: rates.Lag{Reason: protocol.LagUnknown}, TrimmedUnread: new(int64)}, after)
	s.add(5)
	after = rate(false)
	require.InDelta(t, 1, *after.ProducedPerSecond, 1e-9)
	require.Nil(t, after.ConsumedPerSecond, "the lag is still unknown")
	s.read(1000)
	require.Nil(t, rate(false).ConsumedPerSecond, "it was unknown before")
	s.add(10)
	s.read(10)
	require.InDelta(t, 2, *rate(false).ConsumedPerSecond, 1e-9)
}

// TestFieldF23CursorThatGoesBack is told, and gives no rate once.
func TestFieldF23CursorThatGoesBack(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]func(*server){
		"a restart that lost the last second": func(s *server) {
			s.runID = "another"
			s.entries, s.added, s.last = s.entries[:len(s.entries)-300], s.added-300, s.last-300
			s.group.cursor, s.group.read = s.group.cursor-500, new(*s.group.read-500)
		},
		"XGROUP SETID": func(s *server) { s.group.cursor, s.group.read = s.group.cursor-500, nil },
		"the same with a count": func(s *server) {
			s.group.cursor, s.group.read = s.group.cursor-500, new(*s.group.read-500)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, book := newServer(false), rates.NewBook(time.Minute)
			s.add(2000)
			s.read(1000)
			require.False(t, next(book, s, false).Regressed)
			back(s)
			rate := next(book, s, false)
			require.True(t, rate.Regressed)
			require.Nil(t, rate.ConsumedPerSecond)
			s.read(2000)
			require.False(t, next(book, s, false).Regressed, "told once")
			s.add(50)
			s.read(50)
			rate = next(book, s, false)
			require.InDelta(t, 10, *rate.ConsumedPerSecond, 1e-9, "anew")
			require.InDelta(t, 10, *rate.ProducedPerSecond, 1e-9)
		})
	}
}

// TestFieldF24TrimmedPendingEntriesAreNoUnreadOnes: what was delivered and trimmed is lost to
// its consumers, not to the group's cursor.
func TestFieldF24TrimmedPendingEntriesAreNoUnreadOnes(t *testing.T) {
	t.Parallel()
	s, book := newServer(false), rates.NewBook(time.Minute)
	s.add(5)
	s.read(5)
	s.trim(0)
	rate := next(book, s, true)
	require.Equal(t, rates.Rate{Lag: rates.Lag{Value: new(int64)}, TrimmedUnread: new(int64), TimeToDrainSeconds: new(float64)}, rate)
}

// next observes a server five seconds later.
func next(book *rates.Book, s *server, tail bool) rates.Rate {
	s.now = s.now.Add(5 * time.Second)
	return book.Add(roundOf(s.now.Unix(), s.shard(tail))).Rate("orders", groupName, 0)
}
