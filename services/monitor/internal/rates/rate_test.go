package rates_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// TestSteadyLoadIsMeasuredExactly: 500 entries are added and 300 read in a second, whatever
// else is done with the stream meanwhile.
func TestSteadyLoadIsMeasuredExactly(t *testing.T) {
	t.Parallel()
	for name, also := range map[string]func(*server){
		"nothing else": func(*server) {},
		"trimmed behind the group": func(s *server) {
			s.trim(len(s.unread()) + 10)
		},
		"trimmed up to the group": func(s *server) { s.trim(len(s.unread())) },
		"deleted once they are read": func(s *server) {
			for len(s.entries) > len(s.unread()) {
				s.remove(0)
			}
		},
	} {
		for _, newer := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s, book := newServer(newer), rates.NewBook(time.Minute)
				first := next(book, s, true)
				require.Nil(t, first.ProducedPerSecond, "first observation")
				require.Nil(t, first.ConsumedPerSecond, "first observation")
				for range 10 {
					s.add(2500)
					s.read(1500)
					also(s)
					rate := next(book, s, true)
					require.InDelta(t, 500, *rate.ProducedPerSecond, 1e-9)
					require.InDelta(t, 300, *rate.ConsumedPerSecond, 1e-9)
					require.Equal(t, int64(len(s.unread())), *rate.Lag.Value)
					require.Nil(t, rate.TimeToDrainSeconds, "it grows")
					require.Zero(t, *rate.TrimmedUnread)
				}
				s.read(4000)
				also(s)
				rate := next(book, s, true)
				require.InDelta(t, 0, *rate.ProducedPerSecond, 0)
				require.InDelta(t, 800, *rate.ConsumedPerSecond, 1e-9)
				require.InDelta(t, 6000.0/800, *rate.TimeToDrainSeconds, 1e-9)
				s.read(9000)
				also(s)
				require.InDelta(t, 0, *next(book, s, true).TimeToDrainSeconds, 0)
			})
		}
	}
}

// TestRatesStartAnew after whatever the numbers of one stream cannot do.
func TestRatesStartAnew(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*facts.Shard){
		"the clock stood still":   func(s *facts.Shard) { s.At = s.At.Add(-5 * time.Second) },
		"the clock went back":     func(s *facts.Shard) { s.At = s.At.Add(-time.Hour) },
		"too long ago":            func(s *facts.Shard) { s.At = s.At.Add(2 * time.Minute) },
		"another server":          func(s *facts.Shard) { s.Node.RunID = "another" },
		"fewer added":             func(s *facts.Shard) { *s.EntriesAdded -= 100 },
		"the count is gone":       func(s *facts.Shard) { s.EntriesAdded = nil },
		"the last id went back":   func(s *facts.Shard) { s.LastGeneratedID, s.LastID = new("90-0"), new("90-0") },
		"older entries are there": func(s *facts.Shard) { s.FirstID = new("0-5") },
		"a deletion is undone":    func(s *facts.Shard) { s.MaxDeletedID = nil },
		"XSETID of the count": func(s *facts.Shard) {
			*s.EntriesAdded += 1000
			s.LastID, s.LastGeneratedID = new("100-0"), new("100-0")
		},
		"XSETID of the last id": func(s *facts.Shard) { *s.EntriesAdded -= 10; s.LastID = new("100-0") },
		"XSETID of both":        func(s *facts.Shard) { s.LastID, s.LastGeneratedID = new("100-0"), new("900-0") },
		"XSETID of the last id alone": func(s *facts.Shard) {
			*s.EntriesAdded -= 10
			s.Length, s.LastID, s.LastGeneratedID = 99, new("100-0"), new("900-0")
		},
		"more entries than were added":   func(s *facts.Shard) { s.Length += 500 },
		"no old entry and more than new": func(s *facts.Shard) { s.FirstID, s.Length = new("105-0"), 11 },
		"more than ids in between":       func(s *facts.Shard) { s.LastID, s.LastGeneratedID = new("100-9"), new("100-9") },
		"an empty stream that has a past": func(s *facts.Shard) {
			*s = facts.Shard{At: s.At, Node: s.Node, EntriesAdded: new(int64), Groups: s.Groups}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, book := newServer(false), rates.NewBook(time.Minute)
			s.add(100)
			s.remove(3)
			s.read(50)
			next(book, s, false)
			s.add(10)
			s.read(10)
			s.now = s.now.Add(5 * time.Second)
			shard := s.shard(false)
			change(&shard)
			rate := book.Add(roundOf(2, shard)).Rate("orders", groupName, 0)
			require.Nil(t, rate.ProducedPerSecond)
			require.Nil(t, rate.ConsumedPerSecond)
			require.Nil(t, rate.TimeToDrainSeconds)

			shard.At = shard.At.Add(time.Second)
			rate = book.Add(roundOf(3, shard)).Rate("orders", groupName, 0)
			require.NotNil(t, rate.ProducedPerSecond, "anew from here")
			require.Zero(t, *rate.ProducedPerSecond)
		})
	}
}

// TestAnEntryBelowTheLastOneIsOfAnotherStream: ids only grow.
func TestAnEntryBelowTheLastOneIsOfAnotherStream(t *testing.T) {
	t.Parallel()
	for first, known := range map[string]bool{"100-0": false, "5-0": false, "101-0": true} {
		book, at := rates.NewBook(0), time.Unix(1_000_000, 0)
		book.Add(roundOf(1, facts.Shard{At: at, EntriesAdded: new(int64(100)), LastGeneratedID: new("100-0")}))
		snap := book.Add(roundOf(2, facts.Shard{
			At: at.Add(time.Second), Length: 2, EntriesAdded: new(int64(102)), FirstID: &first, LastID: new("102-0"), LastGeneratedID: new("102-0"),
		}))
		require.Equal(t, known, snap.Produced("orders", 0) != nil, first)
	}
}

// TestAGapStartsAnew: what was not seen for a round may have been another stream meanwhile.
func TestAGapStartsAnew(t *testing.T) {
	t.Parallel()
	for _, problem := range []facts.Problem{facts.ProblemUnreachable, facts.ProblemMissing, facts.ProblemWrongType} {
		t.Run(string(problem), func(t *testing.T) {
			t.Parallel()
			s, book := newServer(false), rates.NewBook(time.Minute)
			s.add(100)
			s.read(50)
			next(book, s, false)
			snap := book.Add(roundOf(2, facts.Shard{Problem: problem, At: s.now.Add(time.Second)}))
			require.Equal(t, rates.Rate{Lag: rates.Lag{Reason: protocol.LagNotObserved}}, snap.Rate("orders", groupName, 0))
			s.group.cursor -= 20
			rate := next(book, s, false)
			require.Nil(t, rate.ProducedPerSecond)
			require.Nil(t, rate.ConsumedPerSecond)
			require.Equal(t, problem == facts.ProblemUnreachable, rate.Regressed, "a key that was gone is another one")
			s.add(5)
			require.InDelta(t, 1, *next(book, s, false).ProducedPerSecond, 1e-9)
		})
	}
}

// TestWithoutACountGrowthStandsIn, and is never below 0 nor less than what trimming hides.
func TestWithoutACountGrowthStandsIn(t *testing.T) {
	t.Parallel()
	s, book := newServer(false), rates.NewBook(time.Minute)
	observe := func() rates.Rate {
		s.now = s.now.Add(5 * time.Second)
		shard := s.shard(false)
		shard.EntriesAdded, shard.MaxDeletedID = nil, nil
		g := shard.Groups[groupName]
		g.EntriesRead, g.Lag = nil, nil
		shard.Groups[groupName] = g
		rate := book.Add(roundOf(1, shard)).Rate("orders", groupName, 0)
		require.Nil(t, rate.ConsumedPerSecond)
		return rate
	}
	require.Nil(t, observe().ProducedPerSecond)
	s.add(10)
	require.InDelta(t, 2, *observe().ProducedPerSecond, 1e-9)
	s.add(10)
	require.InDelta(t, 2, *observe().ProducedPerSecond, 1e-9)
	require.Zero(t, *observe().ProducedPerSecond)
	s.add(10)
	s.trim(20)
	require.Nil(t, observe().ProducedPerSecond, "as many went as came")
	s.add(20)
	s.trim(25)
	require.Nil(t, observe().ProducedPerSecond, "fewer went than came")
	s.trim(5)
	require.Zero(t, *observe().ProducedPerSecond, "nothing came")
	s.add(1)
	s.remove(3)
	require.Nil(t, observe().ProducedPerSecond, "one came and one went from the middle")
}

// TestConsumptionIsNotInvented: a hand that moves the cursor is no consumer.
func TestConsumptionIsNotInvented(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*server){
		"XGROUP SETID $":              func(s *server) { s.group.cursor, s.group.read = s.last, nil },
		"with a count beyond it":      func(s *server) { s.group.cursor, s.group.read = s.last, new(*s.group.read+5000) },
		"with the same count":         func(s *server) { s.group.cursor = s.last },
		"with a lower count":          func(s *server) { s.group.cursor, s.group.read = s.last, new(*s.group.read-5) },
		"a count without a move":      func(s *server) { s.group.read = new(*s.group.read - 5) },
		"a count taken back":          func(s *server) { s.group.read = nil },
		"destroyed and made at the $": func(s *server) { s.group = &group{cursor: s.last} },
		"destroyed and made at 0":     func(s *server) { s.group = &group{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, book := newServer(false), rates.NewBook(time.Minute)
			s.add(1000)
			s.read(100)
			next(book, s, false)
			s.add(10)
			change(s)
			rate := next(book, s, false)
			require.Nil(t, rate.ConsumedPerSecond)
			require.InDelta(t, 2, *rate.ProducedPerSecond, 1e-9, "the stream is the same")
		})
	}
}

// TestPassingAGapIsNotConsumption where the server counts what was trimmed away as read.
func TestPassingAGapIsNotConsumption(t *testing.T) {
	t.Parallel()
	s, book := newServer(true), rates.NewBook(time.Minute)
	s.add(1000)
	s.read(100)
	s.trim(500)
	rate := next(book, s, false)
	require.Equal(t, int64(400), *rate.TrimmedUnread)
	s.read(10)
	require.Equal(t, int64(510), *s.group.read)
	rate = next(book, s, false)
	require.Nil(t, rate.ConsumedPerSecond)
	require.Zero(t, *rate.TrimmedUnread)
	s.read(10)
	require.InDelta(t, 2, *next(book, s, false).ConsumedPerSecond, 1e-9)
}

// TestLossBeforeTheFirstRead is counted from when the observation began, as the server does
// not say where such a group stands.
func TestLossBeforeTheFirstRead(t *testing.T) {
	t.Parallel()
	s, book := newServer(false), rates.NewBook(time.Minute)
	s.add(100)
	require.Zero(t, *next(book, s, false).TrimmedUnread)
	s.trim(60)
	rate := next(book, s, false)
	require.Equal(t, int64(40), *rate.TrimmedUnread)
	require.True(t, rate.TrimmedUnreadAlarm)
	s.add(30)
	s.trim(0)
	rate = next(book, s, false)
	require.Equal(t, int64(130), *rate.TrimmedUnread)
	s.read(1)
	require.Equal(t, int64(130), *next(book, s, false).TrimmedUnread)
}

// TestLossWithoutANumber raises the alarm when the entry that was next is gone.
func TestLossWithoutANumber(t *testing.T) {
	t.Parallel()
	s, book := newServer(false), rates.NewBook(time.Minute)
	s.add(500)
	s.read(10)
	s.group.read = nil // a failover: neither position nor lag are told
	require.False(t, next(book, s, false).TrimmedUnreadAlarm)
	s.trim(300)
	rate := next(book, s, false)
	require.Nil(t, rate.TrimmedUnread)
	require.True(t, rate.TrimmedUnreadAlarm)
}

func TestAgesAreThoseOfTheIDs(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		id   *string
		want *int64
	}{
		"none":                      {nil, nil},
		"a time":                    {new("1767225590000-7"), new(int64(10_000))},
		"now":                       {new("1767225600000-0"), new(int64)},
		"a clock a little ahead":    {new("1767225601000-0"), new(int64)},
		"far ahead":                 {new("1767229200000-0"), nil},
		"a number somebody chose":   {new("17-0"), nil},
		"the highest that there is": {new("18446744073709551615-18446744073709551615"), nil},
		"no id":                     {new("x-y"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shard := facts.Shard{
				At: now, Length: 9, FirstID: new("1-0"), LastID: new("1767225600000-9"), LastGeneratedID: new("1767225600000-9"),
				Groups: map[string]facts.ShardGroup{groupName: {LastDeliveredID: new("2-0"), FirstUnreadID: test.id, OldestPendingID: test.id}},
			}
			rate := rates.NewBook(0).Add(roundOf(1, shard)).Rate("orders", groupName, 0)
			require.Equal(t, test.want, rate.OldestUnreadAgeMs)
			require.Equal(t, test.want, rate.OldestPendingAgeMs)
		})
	}
}

// TestNumbersAtTheEdge neither overflow nor divide by nothing.
func TestNumbersAtTheEdge(t *testing.T) {
	t.Parallel()
	book := rates.NewBook(time.Minute)
	shard := facts.Shard{
		Length: 1, EntriesAdded: new(int64(1)), FirstID: new("1-0"), LastID: new("1-0"), LastGeneratedID: new("1-0"),
		Groups: map[string]facts.ShardGroup{groupName: {Lag: new(int64(math.MinInt64)), EntriesRead: new(int64(math.MaxInt64))}},
	}
	book.Add(roundOf(1, shard))
	shard.At = shard.At.Add(time.Nanosecond)
	shard.EntriesAdded, shard.LastGeneratedID, shard.FirstID, shard.LastID = new(int64(math.MaxInt64)), new("2-0"), new("2-0"), new("2-0")
	rate := book.Add(roundOf(2, shard)).Rate("orders", groupName, 0)
	require.False(t, math.IsInf(*rate.ProducedPerSecond, 0))
	require.Nil(t, rate.ConsumedPerSecond)
	require.Nil(t, rate.TrimmedUnread)
	require.Equal(t, protocol.LagNegative, rate.Lag.Reason)
}
