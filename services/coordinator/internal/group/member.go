package group

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// insert adds an empty record for the sender of req and returns its place.
func (s *step) insert(req *protocol.HeartbeatRequest) int {
	g := s.edit()
	i, _ := g.find(req.MemberID)
	g.Members = slices.Insert(g.Members, i, Member{ID: req.MemberID})
	return i
}

// admit starts a life of the record (J1–J4).
func (s *step) admit(i int, cause Cause, req *protocol.HeartbeatRequest) {
	s.heed(req)
	s.setState(i, Active, cause)
	m := &s.g.Members[i]
	m.Incarnation = req.Incarnation
	m.Name = m.ID
	if req.MemberName != nil && *req.MemberName != "" {
		m.Name = *req.MemberName
	}
	m.DropBy, m.RoundFloor = 0, 0
	s.bump(i)
	s.g.Members[i].JoinEpoch = s.g.Members[i].Epoch
	s.record(Change{Cause: cause, Member: req.MemberID, Shard: -1, RequestID: req.RequestID})
	s.beat(req, true)
}

// leave takes the member out of the target; it goes when its last hold ends (J5).
func (s *step) leave(i int, req *protocol.HeartbeatRequest) {
	if s.g.Members[i].State != Leaving {
		s.heed(req)
		s.setState(i, Leaving, CauseLeave)
		s.record(Change{Cause: CauseLeave, Member: req.MemberID, Shard: -1, RequestID: req.RequestID})
		s.bump(i)
	}
	s.releaseUnlisted(i, req)
	s.renew(req)
}

// suspend keeps the member's target for one lease, for a restart (J5). What the member
// still runs lingers until the deadline that it had (H4).
func (s *step) suspend(i int, req *protocol.HeartbeatRequest) {
	s.releaseUnlisted(i, req)
	s.linger(i)
	s.setState(i, Suspended, CauseSuspend)
	s.record(Change{Cause: CauseSuspend, Member: req.MemberID, Shard: -1, RequestID: req.RequestID})
	s.bump(i)
	s.farewell(req)
}

// fence throws the member out: it must join again, and what it may still be reading
// lingers (H4).
func (s *step) fence(i int, cause Cause, req *protocol.HeartbeatRequest) {
	s.linger(i)
	s.setState(i, Fenced, cause)
	change := Change{Cause: cause, Member: s.g.Members[i].ID, Shard: -1}
	if req != nil {
		change.RequestID = req.RequestID
	}
	s.record(change)
	s.bump(i)
}

// linger turns the member's holds into lingering ones, until the stored deadline (H4, T3).
// Where that was lost the member may have renewed just now: until one lease from now.
func (s *step) linger(i int) {
	m := s.g.Members[i]
	deadline := s.rely(m.ID).Deadline
	if !s.in.Live[m.ID].heard() {
		deadline = s.in.Now.Add(s.cfg.Lease)
	}
	for shard, h := range s.g.Holds {
		if !h.by(m) {
			continue
		}
		if deadline <= s.in.Now {
			s.endHold(shard)
			continue
		}
		hold := &s.edit().Holds[shard]
		hold.Lingers, hold.Told = deadline, false
	}
}

// endOwn ends the holds of the sender's own incarnation, lingering ones included (J3, H4).
// A request without incarnation cannot show that a life is its own.
func (s *step) endOwn(req *protocol.HeartbeatRequest) {
	if req.Incarnation == "" {
		return
	}
	s.endHolds(func(h Hold) bool { return h.Member == req.MemberID && h.Incarnation == req.Incarnation })
}

// endHolds makes free every shard whose hold ends.
func (s *step) endHolds(ends func(Hold) bool) {
	for shard, h := range s.g.Holds {
		if ends(h) {
			s.endHold(shard)
		}
	}
}

// endHold makes a shard free.
func (s *step) endHold(shard int) {
	s.record(Change{Cause: CauseRelease, Member: s.g.Holds[shard].Member, Shard: shard})
	s.edit().Holds[shard] = Hold{}
}

// hasHold tells whether the member has a hold that it may act on.
func (s *step) hasHold(m Member) bool {
	return slices.ContainsFunc(s.g.Holds, func(h Hold) bool { return h.by(m) })
}
