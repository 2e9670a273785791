package e2e_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestMembersGoOnWhileTheCoordinatorIsAwayWithinTheirLease(t *testing.T) {
	t.Parallel()
	const (
		records     = 20_000
		clientLease = protocol.DefaultClientLease
	)
	s := startSuite(t)
	s.createStream()
	names := []string{"c1", "c2", "c3"}
	var consumers []*process
	for _, name := range names {
		consumers = append(consumers, s.consume(name))
	}
	before := s.stable(len(names))
	view, err := s.admin.Group(t.Context(), stream, group)
	require.NoError(t, err)
	publisher := s.publish(records, "--rate", "2000")
	s.eventually(func() bool { return s.handled(names...) > records/10 }, "records are handled")

	s.coordinator.kill()
	killed := time.Now()
	at := map[string]int{}
	for _, name := range names {
		at[name] = s.handled(name)
	}
	for _, name := range names {
		s.eventually(func() bool { return s.handled(name) > at[name]+records/40 }, name+" goes on without the coordinator")
	}
	s.startCoordinator()
	away := time.Since(killed)
	require.Less(t, away, clientLease, "the coordinator was away for longer than a client lease: the test shows nothing")
	returned := time.Now()
	s.eventually(func() bool {
		for _, one := range s.stable(len(names)) {
			if !one.LastHeartbeatAt.After(returned) {
				return false
			}
		}
		return true
	}, "every member has reported to the new coordinator")

	after := s.stable(len(names))
	for _, name := range names {
		require.Equal(t, before[name].Incarnation, after[name].Incarnation)
		require.Equal(t, before[name].MemberEpoch, after[name].MemberEpoch, "%s was not fenced and has not joined again", name)
		require.Equal(t, before[name].CurrentAssignment, after[name].CurrentAssignment)
	}
	again, err := s.admin.Group(t.Context(), stream, group)
	require.NoError(t, err)
	require.Equal(t, view.Lineage, again.Lineage, "the state was taken up as it was: no correction round")
	require.Equal(t, view.MetadataVersion, again.MetadataVersion, "nothing structural has happened")

	publisher.wait()
	r := s.finish(records, names, consumers)
	t.Logf("coordinator away for %s: %d handled, %d duplicates, %d shards changed hands, nobody was fenced",
		away.Round(time.Millisecond), r.Handled, r.Duplicates.Total, r.Moves)
	require.Zero(t, r.Duplicates.Total)
	require.Zero(t, r.Moves)
}

func TestMembersStopWhenTheCoordinatorIsAwayForLongerThanTheirLease(t *testing.T) {
	t.Parallel()
	const (
		records     = 20_000
		clientLease = 2400 * time.Millisecond
		// quiet is without a handling; it shows that members have stopped.
		quiet = time.Second
	)
	s := startSuite(t, "--coordination-heartbeat-interval", "300ms", "--coordination-hint-interval", "100ms",
		"--coordination-member-lease-ttl", "3s", "--coordination-client-lease", clientLease.String(),
		"--coordination-rebalance-timeout", "6s")
	s.createStream()
	s.publish(records).wait() // all of it before anybody reads: there is something left to do, however slow that was
	names := []string{"c1", "c2", "c3"}
	var consumers []*process
	for _, name := range names { // a batch lasts for longer than the part of the lease in which nothing is read
		consumers = append(consumers, s.consume(name, "--work", "1500us", "--batch", "2000"))
	}
	s.stable(len(names))
	s.eventually(func() bool { return s.handled(names...) > records/10 }, "records are handled")

	s.coordinator.kill()
	killed := time.Now()
	s.eventually(func() bool {
		latest := killed
		for _, name := range names {
			starts := of("start", s.ledger(name))
			if at := starts[len(starts)-1].at(); at.After(latest) {
				latest = at
			}
		}
		return time.Since(latest) > quiet
	}, "all members have stopped")
	require.Less(t, s.handled(names...), records, "there was something left to do")
	returned := time.Now()
	s.startCoordinator()
	s.handleAll(records, names)
	s.stable(len(names))
	r := s.finish(records, names, consumers)

	for _, name := range names {
		last := killed
		for _, one := range of("start", s.ledger(name)) {
			if one.at().Before(returned) && one.at().After(last) {
				last = one.at()
			}
		}
		t.Logf("%s began its last handling %s after the coordinator was killed, which was away for %s",
			name, last.Sub(killed).Round(time.Millisecond), returned.Sub(killed).Round(time.Millisecond))
		require.Greater(t, last.Sub(killed), time.Second, "%s made use of its lease", name)
		s.requireStopped(name, killed.Add(clientLease), returned)
	}
	t.Logf("%d handled, %d duplicates, %d shards changed hands", r.Handled, r.Duplicates.Total, r.Moves)
}

// requireStopped shows that a consumer, which has one worker, began nothing between the end
// of its lease and a later time. One record it may have looked at its lease for before, and
// entered after: who is held up just there cannot know it.
func (s *suite) requireStopped(name string, end, later time.Time) {
	s.t.Helper()
	late := 0
	for _, one := range of("start", s.ledger(name)) {
		if one.at().After(end.Add(entryDelay)) && one.at().Before(later) {
			late++
		}
	}
	require.LessOrEqual(s.t, late, 1, "%s began nothing after its lease", name)
}

// finish waits until everything is handled, has the consumers leave, and makes the proof.
func (s *suite) finish(records int, names []string, consumers []*process) report {
	s.t.Helper()
	s.handleAll(records, names)
	for _, one := range consumers {
		one.release()
	}
	r := s.check(records)
	require.Equal(s.t, len(names), r.Consumers)
	require.Zero(s.t, r.Killed)
	return r
}

// handleAll waits until every record is handled.
func (s *suite) handleAll(records int, names []string) {
	s.t.Helper()
	s.finally(func() bool {
		return s.handled(names...) >= records && prove(s.allLedgers()).handled == records
	}, "everything is handled")
}
