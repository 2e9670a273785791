package member_test

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/member"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	clientLease = 8 * time.Second
	fullLeaseMs = 8000
)

// tester is what testing.T and rapid.T have in common here.
type tester interface {
	require.TestingT
	Helper()
}

// seat is a member under test together with what a caller would have made of its actions.
type seat struct {
	t       tester
	state   *member.State
	now     time.Duration
	reading map[int]member.Action // shards started and neither revoked nor dropped
	last    *protocol.HeartbeatRequest
}

func newSeat(t tester) *seat {
	t.Helper()
	state := member.New(member.Config{ID: "m0", Incarnation: "I1", Workers: 2}, 0)
	return &seat{t: t, state: state, reading: map[int]member.Action{}}
}

// joined returns a member that reads the given shards at epoch 5 since the time 0.
func joined(t tester, shards ...int) *seat {
	t.Helper()
	s := newSeat(t)
	s.send()
	s.take(s.answer(protocol.StatusOK, 5, shards...))
	return s
}

func (s *seat) send() *protocol.HeartbeatRequest {
	request, actions := s.state.Heartbeat(s.now, member.Load{RequestID: "r", Free: 1, InFlight: map[int]int{2: 1}})
	s.apply(actions)
	s.last = request
	return request
}

// answer builds an answer; it is not delivered.
func (s *seat) answer(status protocol.HeartbeatStatus, epoch int64, assigned ...int) *protocol.HeartbeatResponse {
	ids := make([]protocol.ShardID, 0, len(assigned))
	for _, index := range assigned {
		ids = append(ids, protocol.ShardID{ShardIndex: index})
	}
	return &protocol.HeartbeatResponse{
		Status: status, MemberEpoch: epoch, MetadataVersion: epoch * 10, Lineage: "L1", LeaseMs: fullLeaseMs,
		HeartbeatIntervalMs: 1000, Assignment: protocol.Assignment{AssignedShards: ids},
	}
}

// take delivers an answer to the last request.
func (s *seat) take(answer *protocol.HeartbeatResponse) []member.Action {
	return s.apply(s.state.Answer(s.now, s.last.Sequence, answer))
}

func (s *seat) apply(actions []member.Action) []member.Action {
	for _, action := range actions {
		switch action.Kind {
		case member.Start:
			_, twice := s.reading[action.Shard]
			require.False(s.t, twice, "shard %d is started twice", action.Shard)
			s.reading[action.Shard] = action
		case member.Revoke, member.Drop:
			delete(s.reading, action.Shard)
		}
	}
	return actions
}

// drain finishes the revoke of a shard.
func (s *seat) drain(shard int) {
	if known, found := s.state.Shard(shard); found {
		s.state.ReadStopped(shard, known.Grant)
		s.state.Drained(s.now, shard, known.Grant)
	}
}

func (s *seat) mayRead() []int {
	var result []int
	for shard := range 16 {
		if s.state.MayRead(s.now, shard) {
			result = append(result, shard)
		}
	}
	return result
}

func owned(request *protocol.HeartbeatRequest) []int {
	var result []int
	for _, id := range request.OwnedShards {
		result = append(result, id.ShardIndex)
	}
	return result
}

func kinds(actions []member.Action) map[int]member.Kind {
	result := map[int]member.Kind{}
	for _, action := range actions {
		result[action.Shard] = action.Kind
	}
	return result
}
