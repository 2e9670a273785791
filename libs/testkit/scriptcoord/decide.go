package scriptcoord

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// decide is the smallest coordinator that keeps H1 and H2.
func (c *Coordinator) decide(request *protocol.HeartbeatRequest) *protocol.HeartbeatResponse {
	answer := &protocol.HeartbeatResponse{
		ResponseTo: request.RequestID, MemberID: request.MemberID, Status: protocol.StatusOK,
		HeartbeatIntervalMs: c.interval.Milliseconds(), LeaseMs: c.lease.Milliseconds(),
		Lineage: "L1", MetadataVersion: 1,
		Assignment: protocol.Assignment{AssignedShards: []protocol.ShardID{}, PendingShards: []protocol.ShardID{}},
	}
	known := c.members[request.MemberID]
	switch {
	case request.MemberEpoch == protocol.EpochJoin:
		if known != nil && known.incarnation != request.Incarnation && clock.Since(known.heard) < c.lease {
			answer.Status, answer.Reason = protocol.StatusRetry, protocol.ReasonMemberIDInUse
			return answer
		}
		c.release(request.MemberID)
		known = &seat{incarnation: request.Incarnation, epoch: c.fresh()}
		c.members[request.MemberID] = known
	case known == nil:
		answer.Status, answer.Reason = protocol.StatusUnknownMemberID, protocol.ReasonUnknownMember
		return answer
	case known.incarnation != request.Incarnation:
		answer.Status, answer.Reason = protocol.StatusFencedMemberEpoch, protocol.ReasonStaleEpoch
		return answer
	case request.MemberEpoch < 0:
		return c.farewell(request, answer)
	}
	known.heard = clock.Now()
	c.takeReleases(request, known)
	c.grant(request.MemberID, known)
	answer.MemberEpoch = known.epoch
	for shard, owner := range c.target {
		if owner != request.MemberID {
			continue
		}
		id := protocol.ShardID{ShardIndex: shard}
		if c.holds[shard] == owner {
			answer.Assignment.AssignedShards = append(answer.Assignment.AssignedShards, id)
		} else {
			answer.Assignment.PendingShards = append(answer.Assignment.PendingShards, id)
		}
	}
	return answer
}

// takeReleases ends the holds of shards that the member was told to drop and has released.
func (c *Coordinator) takeReleases(request *protocol.HeartbeatRequest, known *seat) {
	for shard, holder := range c.holds {
		if holder != request.MemberID || c.target[shard] == holder || stillUses(request, shard) {
			continue
		}
		delete(c.holds, shard)
		known.epoch = c.fresh()
	}
}

// grant gives the member what it should have and nobody holds.
func (c *Coordinator) grant(member string, known *seat) {
	for shard, owner := range c.target {
		if owner == member && c.holds[shard] == "" {
			c.holds[shard] = member
			known.epoch = c.fresh()
		}
	}
}

// farewell takes a leave: what is not listed is released, the rest stays held.
func (c *Coordinator) farewell(request *protocol.HeartbeatRequest, answer *protocol.HeartbeatResponse) *protocol.HeartbeatResponse {
	for shard, holder := range c.holds {
		if holder == request.MemberID && !stillUses(request, shard) {
			delete(c.holds, shard)
			c.changes++
		}
	}
	for shard, owner := range c.target {
		if owner == request.MemberID {
			delete(c.target, shard)
		}
	}
	delete(c.members, request.MemberID) // a record that has left accepts anybody (J4)
	answer.MemberEpoch = c.fresh()
	return answer
}

func (c *Coordinator) release(member string) {
	for shard, holder := range c.holds {
		if holder == member {
			delete(c.holds, shard)
		}
	}
}

func (c *Coordinator) fresh() int64 {
	c.epochs++
	c.changes++
	return c.epochs
}

func stillUses(request *protocol.HeartbeatRequest, shard int) bool {
	return slices.Contains(request.OwnedShards, protocol.ShardID{ShardIndex: shard}) ||
		slices.ContainsFunc(request.RevokingShards, func(r protocol.RevokingShard) bool {
			return r.Shard.ShardIndex == shard && (r.State != protocol.Revoked || r.InFlight > 0)
		})
}

// First returns the first request of a member that fits, or nil.
func (c *Coordinator) First(member string, fits func(Request) bool) *Request {
	for _, request := range c.Requests(member) {
		if fits(request) {
			return &request
		}
	}
	return nil
}

// Last returns the latest request of a member, the zero Request before the first.
func (c *Coordinator) Last(member string) Request {
	requests := c.Requests(member)
	if len(requests) == 0 {
		return Request{}
	}
	return requests[len(requests)-1]
}
