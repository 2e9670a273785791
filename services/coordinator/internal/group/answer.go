package group

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// answer derives the replies from the settled state (A1).
func (s *step) answer() {
	s.out.Replies = make([]Reply, len(s.heard))
	interval := s.interval()
	for i, h := range s.heard {
		response := &protocol.HeartbeatResponse{
			ResponseTo:          h.req.RequestID,
			Status:              h.status,
			Reason:              h.reason,
			MemberID:            h.req.MemberID,
			MemberEpoch:         h.req.MemberEpoch,
			HeartbeatIntervalMs: interval,
			RebalanceTimeoutMs:  s.cfg.RebalanceTimeout.Milliseconds(),
			Assignment:          protocol.Assignment{AssignedShards: []protocol.ShardID{}, PendingShards: []protocol.ShardID{}},
		}
		if h.retryMs > 0 {
			response.RetryAfterMs = &h.retryMs
		}
		if h.status == "" {
			s.decide(h, response)
		}
		s.out.Replies[i] = Reply{Response: response, Beat: h.beat}
	}
}

// interval is the pace that members are asked for: faster while a hand-off is under way (A4).
func (s *step) interval() int64 {
	if s.g.moving() {
		return s.cfg.HintInterval.Milliseconds()
	}
	return s.cfg.HeartbeatInterval.Milliseconds()
}

// moving tells whether anything is pending or draining. What waits for a member that is
// away for a restart is neither: nobody's report brings it on.
func (g *Group) moving() bool {
	if g.Round != nil {
		return true
	}
	for shard, target := range g.Target {
		h := g.Holds[shard]
		if h.Told || (target != "" && (h.Member != target || h.Lingers != 0) && g.isActive(target)) {
			return true
		}
	}
	return false
}

func (g *Group) isActive(id string) bool {
	m, _ := g.Find(id)
	return m.State == Active
}

// decide fills in the member's current decision: status, numbers and shards (A2–A6).
func (s *step) decide(h heard, response *protocol.HeartbeatResponse) {
	i, found := s.g.find(h.req.MemberID)
	found = found && !h.gone
	if found {
		if reason := overtaken(s.g.Members[i], h.req); reason != "" {
			response.Status, response.Reason = protocol.StatusFencedMemberEpoch, reason
			return
		}
	}
	response.Status, response.Reason = s.status(h)
	response.GroupEpoch = s.g.GroupEpoch
	response.AssignmentEpoch = s.g.AssignmentEpoch
	response.MetadataVersion = s.g.MetadataVersion
	response.Assignment.MetadataVersion = s.g.MetadataVersion
	response.Lineage = s.g.Lineage
	if !found || !s.g.Members[i].Listening() {
		return
	}
	m := s.g.Members[i]
	response.MemberEpoch = m.Epoch
	if h.beat < 0 { // E5: a repeat rests on the renewal that was before it
		left := time.Duration(s.liveness(m.ID).Deadline-s.in.Now) * time.Millisecond
		response.LeaseMs = s.cfg.LeaseFor(left).Milliseconds()
	}
	s.g.shardsOf(m, &response.Assignment)
	if m.Incarnation == "" && s.g.BarrierUntil != 0 { // H6
		response.Assignment.AssignedShards = response.Assignment.AssignedShards[:0]
	}
}

// overtaken says why a request that was let through is refused after all, "" when it is
// not: a later one of the step fenced the member, or the round that excused its epoch
// has ended (E4).
func overtaken(m Member, req *protocol.HeartbeatRequest) protocol.Reason {
	switch {
	case m.State == Left && req.MemberEpoch < 0:
		return ""
	case !m.Listening():
		return reasonFor(m)
	case req.MemberEpoch > 0 && req.MemberEpoch < m.floor():
		return protocol.ReasonStaleEpoch
	default:
		return ""
	}
}

// status is the verdict on a member that is followed (A3, A6, M4).
func (s *step) status(h heard) (protocol.HeartbeatStatus, protocol.Reason) {
	if s.g.Round != nil {
		i, found := s.g.find(h.req.MemberID)
		switch {
		case h.gone, found && s.g.Members[i].State == Left,
			found && s.synchronised(s.g.Members[i]) && s.synchronises(h.req):
			return protocol.StatusRevokePending, protocol.ReasonRoundOpen
		default:
			return protocol.StatusSyncMetadata, protocol.ReasonNotSynchronised
		}
	}
	if s.g.BarrierUntil != 0 {
		return protocol.StatusRevokePending, protocol.ReasonBarrier
	}
	return protocol.StatusOK, ""
}

// shardsOf fills in what the member may read and what it has to wait for (A2).
func (g *Group) shardsOf(m Member, to *protocol.Assignment) {
	for shard, target := range g.Target {
		if target != m.ID {
			continue
		}
		id := protocol.ShardID{ShardIndex: shard}
		if h := g.Holds[shard]; h.by(m) && !h.Told {
			to.AssignedShards = append(to.AssignedShards, id)
		} else {
			to.PendingShards = append(to.PendingShards, id)
		}
	}
}
