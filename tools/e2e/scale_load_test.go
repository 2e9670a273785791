package e2e_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// TestAStreamIsScaledUnderLoad: 8 shards with a backlog become 3, then 12, none, and 4,
// while three publishers write: one as usual, one with a routing that is more than three
// seconds old, one that is frozen past its routing lease and woken. Two coordinators serve.
func TestAStreamIsScaledUnderLoad(t *testing.T) {
	t.Parallel()
	s := scalingOf(startSuite(t))
	second := s.startTwin().admin
	s.scaleIn(second)

	out := s.follow(s.admin, s.scale(second, 12))
	s.tell(out)
	s.requireEachWrites(func(e entry) bool { return e.Shard >= 3 && e.at().After(out.asked) }, "the added shards")

	none := s.follow(s.admin, s.scale(s.admin, 0))
	s.tell(none)
	s.requireSealed(none, 0, 12)
	s.requireRefused("NO_SHARDS")

	again := s.follow(second, s.scale(second, 4))
	s.tell(again)
	s.requireEachWrites(func(e entry) bool { return e.at().After(again.asked) }, "the stream again")

	s.stop("--resharded")
	s.requireKept()
}

// TestAStreamIsScaledUnderLoadOnACluster: 8 shards become 3 and 12, on three nodes.
func TestAStreamIsScaledUnderLoadOnACluster(t *testing.T) {
	t.Parallel()
	s := scalingOf(startClusterSuite(t))
	s.scaleIn(s.admin)
	out := s.follow(s.admin, s.scale(s.admin, 12))
	s.tell(out)
	s.requireEachWrites(func(e entry) bool { return e.Shard >= 3 && e.at().After(out.asked) }, "the added shards")
	s.stop("--resharded")
	s.requireKept()
}

// scaleIn starts the load on 8 shards with a backlog, and has 3 of them left.
func (s *scaling) scaleIn(admin *client.Admin) {
	s.t.Helper()
	const (
		records = 24_000
		// old is the age of the old routing when the count changes, refresh how often it is
		// asked for: nearly as seldom as may be, so that there is time for the change.
		old, refresh = 3 * time.Second, protocol.DefaultRoutingLease * 9 / 10
	)
	t := s.t
	s.createStream()
	s.publish(records, "--publish-batch", "2000").wait()
	s.load("usual", 300)
	frozen := s.load("frozen", 300)
	s.read(3, "--work", "2ms", "--workers", "2")
	s.load("old", 300, "--refresh-every", refresh.String())
	asked := s.ledger("old")[0].at() // for its routing, when its ledger began
	s.eventually(func() bool { return time.Since(asked) >= old }, "the routing is old")

	freeze(t, frozen)
	stopped := time.Now()
	in := s.scale(s.admin, 3)
	require.Less(t, in.asked.Sub(asked), refresh*9/10, "the old routing was not asked for again")
	s.follow(admin, in)
	require.Equal(t, protocol.MigrationDeprecated, in.last.State)
	s.tell(in)
	s.requireSealed(in, 3, shards)
	woken := time.Now()
	thaw(t, frozen)
	unread := records
	for _, name := range s.names {
		for _, one := range s.ledger(name) {
			if one.Kind == "end" && one.at().Before(in.asked) {
				unread--
			}
		}
	}
	t.Logf("%d of the backlog were unread when the count changed", unread)
	require.Greater(t, unread, records/10, "there is a backlog")
	require.Greater(t, time.Since(stopped), protocol.DefaultRoutingLease, "it was frozen past its lease")
	s.requireOldRouting(in, asked)
	s.requireWoken(stopped, woken)
}

// requireOldRouting shows that records found their shard by the routing of before, long
// after the count had changed.
func (s *scaling) requireOldRouting(c *course, asked time.Time) {
	s.t.Helper()
	last, count, removed := time.Time{}, 0, 0
	version := s.acks("old")[0].Version
	for _, one := range s.acks("old") {
		if one.Version != version || !one.at().After(c.states[string(protocol.MigrationActive)]) {
			continue
		}
		count++
		if at := writtenAt(s.t, one.ID); at.After(last) {
			last = at
		}
		if one.Shard >= c.last.ToShardCount {
			removed++
		}
	}
	s.t.Logf("by the routing of before, which was %s old when the count changed and %s at its last use: %d records after "+
		"the change, %d of them into removed shards", c.asked.Sub(asked).Round(time.Millisecond),
		last.Sub(asked).Round(time.Millisecond), count, removed)
	require.Positive(s.t, removed, "the old routing was used")
	draining := c.states[string(protocol.MigrationDraining)]
	require.True(s.t, last.Before(draining), "the old routing was used %s after its lease was over (L3)", last.Sub(draining))
}

// requireWoken waits until the woken publisher writes again, and shows that it wrote
// nothing by its old routing after it was frozen.
func (s *scaling) requireWoken(frozen, woken time.Time) {
	s.t.Helper()
	version := s.acks("frozen")[0].Version
	s.eventually(func() bool {
		acks := s.acks("frozen")
		return acks[len(acks)-1].Version > version
	}, "the woken publisher writes")
	late := 0
	for _, one := range s.acks("frozen") {
		if one.Version == version && one.at().After(woken) {
			late++ // it had been sent before, and the answer was read late
			require.True(s.t, writtenAt(s.t, one.ID).Before(woken), "record %d", one.Seq)
		}
	}
	causes := map[string]int{}
	for _, one := range s.ledger("frozen") {
		if one.Cause != "" {
			causes[one.Cause]++
		}
	}
	s.t.Logf("frozen for %s: %d answers read late, refused %v", woken.Sub(frozen).Round(time.Millisecond), late, causes)
}

// writtenAt is when Redis wrote an entry.
func writtenAt(t *testing.T, id string) time.Time {
	t.Helper()
	var millis int64
	for at := range len(id) {
		if id[at] == '-' {
			var err error
			millis, err = strconv.ParseInt(id[:at], 10, 64)
			require.NoError(t, err)
			break
		}
	}
	return time.UnixMilli(millis)
}

// requireEachWrites waits until every publisher has a record acknowledged of which is true.
func (s *scaling) requireEachWrites(is func(entry) bool, what string) {
	s.t.Helper()
	for name := range s.publishers {
		s.eventually(func() bool { return slices.ContainsFunc(s.acks(name), is) }, name+" writes "+what)
	}
}

// requireRefused waits until every publisher was refused for that cause.
func (s *scaling) requireRefused(cause string) {
	s.t.Helper()
	for name := range s.publishers {
		s.eventually(func() bool {
			return slices.ContainsFunc(s.ledger(name), func(e entry) bool { return e.Cause == cause })
		}, name+" is refused: "+cause)
	}
}
