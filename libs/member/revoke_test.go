package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/member"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// revoking returns a member that was told to drop shard 2 and still reads 1.
func revoking(t *testing.T) *seat {
	t.Helper()
	s := joined(t, 1, 2)
	s.now = time.Second
	s.send()
	require.Equal(t, map[int]member.Kind{2: member.Revoke}, kinds(s.take(s.answer(protocol.StatusOK, 6, 1))))
	return s
}

func TestRevokeGoesFromRevokingOverDrainingToRevoked(t *testing.T) {
	t.Parallel()
	s := revoking(t)
	grant := s.state.Shards()[1].Grant
	report := func() protocol.RevokingShard {
		request := s.send()
		require.Equal(t, []int{1}, owned(request))
		require.Len(t, request.RevokingShards, 1)
		return request.RevokingShards[0]
	}
	require.Equal(t, protocol.Revoking, report().State)

	s.state.ReadStopped(2, grant)
	draining := report()
	require.Equal(t, protocol.Draining, draining.State)
	require.Equal(t, 1, draining.InFlight)

	s.take(s.answer(protocol.StatusOK, 6, 1))
	s.now = 1500 * time.Millisecond
	require.Greater(t, s.state.Due(), s.now)
	s.state.Drained(s.now, 2, grant)
	require.Equal(t, s.now, s.state.Due(), "an extra heartbeat is due at once")
	revoked := report()
	require.Equal(t, protocol.Revoked, revoked.State)
	require.Zero(t, revoked.InFlight)

	require.Empty(t, s.take(s.answer(protocol.StatusOK, 7, 1)))
	require.Empty(t, s.send().RevokingShards, "it was reported and answered")
}

func TestRevokedShardIsReportedUntilAnAnswerCame(t *testing.T) {
	t.Parallel()
	s := revoking(t)
	s.drain(2)
	for range 3 {
		request := s.send()
		require.Equal(t, protocol.Revoked, request.RevokingShards[0].State)
		s.state.Failed(s.now, request.Sequence)
	}
	sent := s.send()
	s.state.Drained(s.now, 2, s.state.Shards()[1].Grant)
	s.state.Answer(s.now, sent.Sequence, s.answer(protocol.StatusRetry, 6, 1))
	require.Len(t, s.send().RevokingShards, 1, "RETRY has accepted nothing")
}

func TestShardThatFinishedAfterTheRequestWasSentStaysReported(t *testing.T) {
	t.Parallel()
	s := revoking(t)
	s.send()
	s.drain(2)
	s.take(s.answer(protocol.StatusOK, 6, 1))
	require.Equal(t, protocol.Revoked, s.send().RevokingShards[0].State)
}

func TestOKThatAssignsAShardInRevokeStartsItAnew(t *testing.T) {
	t.Parallel()
	for name, progress := range map[string]func(*seat){
		"while it is read":       func(*seat) {},
		"while it drains":        func(s *seat) { s.state.ReadStopped(2, s.state.Shards()[1].Grant) },
		"when it has drained":    func(s *seat) { s.drain(2) },
		"after it was reported":  func(s *seat) { s.drain(2); s.send() },
		"after REVOKE_PENDING":   func(s *seat) { s.send(); s.take(s.answer(protocol.StatusRevokePending, 6, 1, 2)) },
		"after the answer to it": func(s *seat) { s.drain(2); s.send(); s.take(s.answer(protocol.StatusOK, 7, 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := revoking(t)
			old := s.state.Shards()[1].Grant
			progress(s)
			require.Equal(t, []int{1}, s.mayRead(), "no grant, no reading")
			s.send()
			actions := s.take(s.answer(protocol.StatusOK, 8, 1, 2))
			require.Len(t, actions, 1)
			require.Equal(t, member.Start, actions[0].Kind)
			require.Greater(t, actions[0].Grant, old)
			require.Equal(t, int64(8), actions[0].Fence)
			s.state.Drained(s.now, 2, old)
			require.Equal(t, []int{1, 2}, s.mayRead(), "what the older grant reports is ignored")
		})
	}
}

// T20, the client's half: S is handed back while the REVOKED for it is on its way. The member
// resumes on OK and on nothing else.
func TestT20ShardHandedBackDuringItsReleaseStartsOnlyOnOK(t *testing.T) {
	t.Parallel()
	s := revoking(t)
	s.drain(2)
	s.send()
	for _, status := range []protocol.HeartbeatStatus{protocol.StatusSyncMetadata, protocol.StatusRevokePending} {
		require.Empty(t, s.take(s.answer(status, 7, 1, 2)))
		require.Equal(t, []int{1}, s.mayRead())
		s.send()
	}
	s.take(s.answer(protocol.StatusOK, 7, 1, 2))
	require.Equal(t, []int{1, 2}, s.mayRead())
}

// T04, the client's half: an answer to a repeat at an older epoch is an ordinary OK.
func TestT04OKWithAHigherEpochKeepsWhatIsRead(t *testing.T) {
	t.Parallel()
	s := joined(t, 1, 2)
	s.now = time.Second
	require.Equal(t, int64(5), s.send().MemberEpoch)
	require.Empty(t, s.take(s.answer(protocol.StatusOK, 9, 1, 2)))
	require.Equal(t, int64(9), s.send().MemberEpoch)
	require.Equal(t, int64(5), s.reading[1].Fence, "the token is that of the grant")
}

func TestLeaveDrainsThenSendsOneLastRequest(t *testing.T) {
	t.Parallel()
	s := joined(t, 1, 2)
	s.apply(s.state.Leave())
	require.Empty(t, s.mayRead())
	s.send()
	require.Empty(t, s.take(s.answer(protocol.StatusOK, 6, 1, 2, 3)), "nothing is started while leaving")
	require.False(t, s.state.Idle())
	s.drain(1)
	s.drain(2)
	require.True(t, s.state.Idle())

	request, actions := s.state.Depart(s.now, false, member.Load{})
	require.Empty(t, actions)
	require.Equal(t, protocol.EpochLeave, request.MemberEpoch)
	require.Empty(t, request.OwnedShards)
	require.Empty(t, request.RevokingShards)
	s.last = request
	s.take(s.answer(protocol.StatusRetry, 0))
	require.False(t, s.state.Done(), "RETRY asks to send it again")
	s.last, _ = s.state.Depart(s.now, false, member.Load{})
	s.take(s.answer(protocol.StatusOK, 7))
	require.True(t, s.state.Done())
}

// F33: what has not been drained is reported DRAINING, never REVOKED, and is dropped.
func TestDepartureReportsWhatStillRuns(t *testing.T) {
	t.Parallel()
	s := joined(t, 1, 2)
	s.apply(s.state.Leave())
	s.state.ReadStopped(2, s.state.Shards()[1].Grant)
	s.drain(1)
	request, actions := s.state.Depart(s.now, true, member.Load{})
	require.Equal(t, protocol.EpochSuspend, request.MemberEpoch)
	require.Equal(t, map[int]member.Kind{2: member.Drop}, kinds(actions))
	require.Len(t, request.RevokingShards, 1)
	require.Equal(t, protocol.Draining, request.RevokingShards[0].State)
	require.Positive(t, request.RevokingShards[0].InFlight)
	require.False(t, s.state.Leased(s.now))
}

func TestFencedWhileLeavingIsIdle(t *testing.T) {
	t.Parallel()
	s := joined(t, 1)
	s.state.Leave()
	s.send()
	s.take(s.answer(protocol.StatusFencedMemberEpoch, 0))
	require.True(t, s.state.Idle())
}

// The shard was granted again and is told to drop once more: the end of the first grant's drain
// does not end the second one's.
func TestEndOfAnOlderGrantDoesNotFinishTheRevokeOfTheNext(t *testing.T) {
	t.Parallel()
	s := revoking(t)
	old := s.state.Shards()[1].Grant
	s.send()
	s.take(s.answer(protocol.StatusOK, 8, 1, 2))
	s.send()
	s.take(s.answer(protocol.StatusOK, 9, 1))
	s.state.ReadStopped(2, old)
	s.state.Drained(s.now, 2, old)
	require.Equal(t, protocol.Revoking, s.send().RevokingShards[0].State)
}
