package member

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Leave begins to leave: every shard is revoked and none is started any more. Heartbeats go
// on, so that the lease covers what still runs.
func (s *State) Leave() []Action {
	s.leaving = true
	var actions []Action
	for at := range s.shards {
		if shard := &s.shards[at]; shard.Phase == Active {
			shard.Phase = Revoking
			actions = append(actions, Action{Kind: Revoke, Shard: shard.Index, Grant: shard.Grant})
		}
	}
	return actions
}

// Idle tells that nothing runs any more: every shard has been given back or is Revoked.
func (s *State) Idle() bool {
	for _, shard := range s.shards {
		if shard.Phase != Revoked {
			return false
		}
	}
	return true
}

// Depart returns the request that leaves the group, or with suspend leaves it for a restart
// (J5). What has not been drained is reported as still revoking, never as released; all the
// rest is released by the request. From here on the member may not act: what still runs is
// dropped. It may be called again until Done.
func (s *State) Depart(now time.Duration, suspend bool, load Load) (*protocol.HeartbeatRequest, []Action) {
	epoch := protocol.EpochLeave
	if suspend {
		epoch = protocol.EpochSuspend
	}
	var actions []Action
	if !s.departed {
		actions = s.Leave()
		for _, shard := range s.shards {
			if shard.Phase != Revoked {
				actions = append(actions, Action{Kind: Drop, Shard: shard.Index, Grant: shard.Grant})
			}
		}
	}
	s.departed, s.leased, s.leaseUntil = true, false, 0
	request := s.request(now, load, epoch)
	for at := range s.shards {
		if shard := s.shards[at]; shard.Phase != Revoked {
			request.RevokingShards = append(request.RevokingShards, revoking(shard, load))
		}
	}
	return request, actions
}

// Done tells that the coordinator has answered the departure.
func (s *State) Done() bool { return s.done }

// farewell takes the answer to a departure; only RETRY asks to send it again.
func (s *State) farewell(now time.Duration, answer *protocol.HeartbeatResponse) {
	if answer.Status == protocol.StatusRetry {
		s.due = now + min(s.pause(answer), s.interval)
		return
	}
	s.done = true
}
