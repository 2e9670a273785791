package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/member"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestJoinSendsEpochZeroAndOKStartsTheAssignedShards(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	request := s.send()
	require.Equal(t, protocol.EpochJoin, request.MemberEpoch)
	require.Equal(t, int64(1), request.Sequence)
	require.Equal(t, "I1", request.Incarnation)
	require.Equal(t, protocol.Capacity{RuntimeMaxConcurrency: 2, AvailableConcurrency: 1}, request.RuntimeConsumerCapacity)
	require.Empty(t, s.mayRead(), "nothing is read before the answer")

	s.take(s.answer(protocol.StatusOK, 5, 2, 0, 2, -1))
	require.Equal(t, []int{0, 2}, s.mayRead())
	require.Equal(t, int64(5), s.reading[0].Fence)

	s.now += time.Second
	request = s.send()
	require.Equal(t, int64(2), request.Sequence)
	require.Equal(t, int64(5), request.MemberEpoch)
	require.Equal(t, int64(50), request.MetadataVersion)
	require.Equal(t, "L1", request.Lineage)
	require.Equal(t, []int{0, 2}, owned(request))
}

// The table of A3: what each verdict does to a member that reads 1 and 2 at epoch 5, gives
// back nothing, and is answered with shards 2 and 3 at epoch 7.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	tests := map[protocol.HeartbeatStatus]struct {
		actions map[int]member.Kind
		mayRead []int
		epoch   int64
		renewed bool
	}{
		protocol.StatusOK: {
			map[int]member.Kind{1: member.Revoke, 3: member.Start}, []int{2, 3}, 7, true,
		},
		protocol.StatusSyncMetadata:        {map[int]member.Kind{1: member.Revoke}, []int{2}, 7, true},
		protocol.StatusRevokePending:       {map[int]member.Kind{1: member.Revoke}, []int{2}, 7, true},
		protocol.StatusRetry:               {map[int]member.Kind{}, []int{1, 2}, 5, false},
		protocol.StatusInvalidRequest:      {map[int]member.Kind{}, []int{1, 2}, 5, false},
		protocol.StatusUnsupportedProtocol: {map[int]member.Kind{}, []int{1, 2}, 5, false},
		"A_NEWER_VERDICT":                  {map[int]member.Kind{}, []int{1, 2}, 5, false},
		protocol.StatusUnknownMemberID: {
			map[int]member.Kind{1: member.Drop, 2: member.Drop}, nil, 0, false,
		},
		protocol.StatusFencedMemberEpoch: {
			map[int]member.Kind{1: member.Drop, 2: member.Drop}, nil, 0, false,
		},
	}
	for status, want := range tests {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()
			s := joined(t, 1, 2)
			s.now = time.Second
			s.send()
			actions := s.take(s.answer(status, 7, 2, 3))
			require.Equal(t, want.actions, kinds(actions))
			require.Equal(t, want.mayRead, s.mayRead())
			require.Equal(t, want.epoch, s.state.Epoch())
			require.Equal(t, status, s.state.Status())
			until, leased := s.state.LeaseUntil()
			require.Equal(t, want.epoch != 0, leased)
			if leased && want.renewed {
				require.Equal(t, time.Second+clientLease, until)
			} else if leased {
				require.Equal(t, clientLease, until)
			}
		})
	}
}

func TestLeaseCountsFromTheSendTimeAndIsBoundedByTheAnswer(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	s.now = time.Second
	s.send()
	s.now = 3 * time.Second
	answer := s.answer(protocol.StatusOK, 5, 1)
	answer.LeaseMs = 4000
	s.take(answer)
	until, leased := s.state.LeaseUntil()
	require.True(t, leased)
	require.Equal(t, 5*time.Second, until)
	require.True(t, s.state.MayRead(until-1, 1))
	require.False(t, s.state.MayRead(until, 1))
}

func TestAnswerThatComesAfterItsLeaseStartsNothing(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	s.send()
	s.now = clientLease
	require.Empty(t, s.take(s.answer(protocol.StatusOK, 5, 1)))
	require.Empty(t, s.mayRead())
	require.Equal(t, protocol.EpochJoin, s.send().MemberEpoch)
}

func TestAnswerWithoutALeaseGivesNone(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	s.send()
	answer := s.answer(protocol.StatusOK, 5, 1)
	answer.LeaseMs = 0
	s.take(answer)
	require.Empty(t, s.mayRead())
}

func TestLapsedMemberReadsNothingUntilANewRequestIsAnsweredOK(t *testing.T) {
	t.Parallel()
	s := joined(t, 1)
	s.now = 7 * time.Second
	late := s.send()
	s.now = clientLease
	require.Equal(t, map[int]member.Kind{1: member.Drop}, kinds(s.apply(s.state.Tick(s.now))))
	require.Empty(t, s.state.Answer(s.now, late.Sequence, s.answer(protocol.StatusOK, 6, 1)), "sent before the lapse")
	require.Empty(t, s.mayRead())

	request := s.send()
	require.Equal(t, protocol.EpochJoin, request.MemberEpoch)
	require.Empty(t, request.OwnedShards)
	s.take(s.answer(protocol.StatusRevokePending, 7, 1))
	require.Empty(t, s.mayRead(), "only OK starts shards")
	s.send()
	s.take(s.answer(protocol.StatusOK, 7, 1))
	require.Equal(t, []int{1}, s.mayRead())
}

// T18: the answer to a request that was given up is thrown away and renews nothing.
func TestT18OnlyTheAnswerToTheLatestRequestCounts(t *testing.T) {
	t.Parallel()
	s := joined(t, 1)
	s.now = time.Second
	first := s.send()
	s.now = 2 * time.Second
	second := s.send()
	require.Empty(t, s.state.Answer(s.now, first.Sequence, s.answer(protocol.StatusOK, 6, 1, 2)))
	until, _ := s.state.LeaseUntil()
	require.Equal(t, clientLease, until)
	require.Len(t, s.state.Answer(s.now, second.Sequence, s.answer(protocol.StatusOK, 6, 1, 2)), 1)
	require.Empty(t, s.state.Answer(s.now, second.Sequence, s.answer(protocol.StatusOK, 6, 3)), "delivered twice")
}

func TestFailedRequestsAreRepeatedSoonAndTheLeaseRunsOn(t *testing.T) {
	t.Parallel()
	s := joined(t, 1)
	var pauses []time.Duration
	for range 8 {
		s.now = max(s.now, s.state.Due())
		sent := s.send()
		s.state.Failed(s.now, sent.Sequence)
		pauses = append(pauses, s.state.Due()-s.now)
	}
	require.Equal(t, 50*time.Millisecond, pauses[0])
	require.Equal(t, 100*time.Millisecond, pauses[1])
	require.Equal(t, time.Second, pauses[7])
	until, _ := s.state.LeaseUntil()
	require.Equal(t, clientLease, until)
	require.Equal(t, 8, s.state.Failures())
}

func TestPauses(t *testing.T) {
	t.Parallel()
	long := int64(1500)
	tests := map[string]struct {
		edit func(*protocol.HeartbeatResponse)
		want time.Duration
	}{
		"OK follows the interval": {func(*protocol.HeartbeatResponse) {}, time.Second},
		"OK follows the hint":     {func(a *protocol.HeartbeatResponse) { a.HeartbeatIntervalMs = 250 }, 250 * time.Millisecond},
		"an interval longer than a quarter of the lease is cut": {
			func(a *protocol.HeartbeatResponse) { a.HeartbeatIntervalMs = 60_000 }, 2 * time.Second,
		},
		"an absent interval is the default": {func(a *protocol.HeartbeatResponse) { a.HeartbeatIntervalMs = 0 }, time.Second},
		"RETRY follows retryAfterMs": {func(a *protocol.HeartbeatResponse) {
			a.Status, a.RetryAfterMs = protocol.StatusRetry, &long
		}, 1500 * time.Millisecond},
		"a member id in use backs off a quarter of the lease (F30)": {func(a *protocol.HeartbeatResponse) {
			a.Status, a.Reason = protocol.StatusRetry, protocol.ReasonMemberIDInUse
		}, 2 * time.Second},
		"a fenced member asks again at once": {func(a *protocol.HeartbeatResponse) {
			a.Status = protocol.StatusFencedMemberEpoch
		}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := joined(t, 1)
			s.now = time.Second
			s.send()
			answer := s.answer(protocol.StatusOK, 6, 1)
			test.edit(answer)
			s.take(answer)
			require.Equal(t, test.want, s.state.Due()-s.now)
		})
	}
}

func TestMemberThatIsRefusedWhileJoiningFollowsTheInterval(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	s.send()
	answer := s.answer(protocol.StatusUnknownMemberID, 0)
	answer.Reason = protocol.ReasonUnknownGroup
	s.take(answer)
	require.Equal(t, time.Second, s.state.Due())
	require.Equal(t, protocol.ReasonUnknownGroup, s.state.Reason())
}

func TestWaitIsBounded(t *testing.T) {
	t.Parallel()
	s := newSeat(t)
	request, _ := s.state.Heartbeat(0, member.Load{Wait: time.Minute})
	require.Zero(t, request.WaitMs, "a join is answered at once")
	s.last = request
	s.take(s.answer(protocol.StatusOK, 5, 1))
	request, _ = s.state.Heartbeat(0, member.Load{Wait: time.Minute})
	require.Equal(t, int64(1000), request.WaitMs)
}
