package group

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// heard is the verdict on one heartbeat, answered when the step is settled.
type heard struct {
	req     *protocol.HeartbeatRequest
	status  protocol.HeartbeatStatus // "" asks for the member's current decision
	reason  protocol.Reason
	gone    bool  // a goodbye that is done: an empty decision
	beat    int   // index in Output.Beats, -1 when nothing is renewed
	retryMs int64 // 0 leaves the pace to the interval
}

// hear applies one heartbeat. The order matters: repeats before every other rule (E5),
// then evidence (J1), then what the request asks for.
func (s *step) hear(req *protocol.HeartbeatRequest) {
	if !spoken(req) {
		s.refuse(req, protocol.StatusUnsupportedProtocol, protocol.ReasonProtocol)
		return
	}
	i, known := s.g.find(req.MemberID)
	if known && s.repeats(req) {
		s.hearRepeat(i, req)
		return
	}
	if s.evidence(i, known, req) {
		if !s.in.Fresh { // E6: before evidence counts, the revision is confirmed
			s.unsteady = true
			return
		}
		s.openRound(req) // an earlier heartbeat of the step made it one
	}
	switch req.MemberEpoch {
	case protocol.EpochJoin:
		s.hearJoin(i, known, req)
	case protocol.EpochLeave, protocol.EpochSuspend:
		s.hearGoodbye(i, known, req)
	default:
		s.hearReport(i, known, req)
	}
}

// spoken tells whether the request's protocol version is one of ours.
func spoken(req *protocol.HeartbeatRequest) bool {
	return req.ProtocolVersion >= protocol.MinVersion && req.ProtocolVersion <= protocol.Version
}

// repeats tells whether req is not newer than the last applied request (E5).
func (s *step) repeats(req *protocol.HeartbeatRequest) bool {
	last := s.liveness(req.MemberID)
	if req.Incarnation != last.Incarnation {
		return false
	}
	if req.Incarnation == "" || req.Sequence <= 0 {
		return req.RequestID == last.RequestID
	}
	return req.Sequence <= last.Sequence
}

// hearRepeat answers a repeat: it changes nothing and gets the current decision (A1).
func (s *step) hearRepeat(i int, req *protocol.HeartbeatRequest) {
	s.unsteady = true // E6: nothing is renewed, so the state must be confirmed
	m := s.g.Members[i]
	switch {
	case m.State == Left && req.MemberEpoch < 0:
		s.goodbye(req)
	case m.State == Suspended && req.MemberEpoch == protocol.EpochSuspend:
		s.goodbye(req)
	case !m.Listening(), req.MemberEpoch > 0 && req.MemberEpoch < m.floor():
		s.refuse(req, protocol.StatusFencedMemberEpoch, reasonFor(m))
	default:
		s.heard = append(s.heard, heard{req: req, beat: -1})
	}
}

// hearReport follows a report of a member that has an epoch (E2–E4, R).
func (s *step) hearReport(i int, known bool, req *protocol.HeartbeatRequest) {
	if !known {
		s.refuse(req, protocol.StatusUnknownMemberID, protocol.ReasonUnknownMember)
		return
	}
	m := s.g.Members[i]
	switch {
	case !m.Listening():
		s.refuse(req, protocol.StatusFencedMemberEpoch, reasonFor(m))
	case req.Incarnation != m.Incarnation:
		s.refuse(req, protocol.StatusFencedMemberEpoch, protocol.ReasonStaleEpoch)
	case req.MemberEpoch > m.Epoch:
		// Evidence that was counted already, or of another known lineage (E4).
		s.refuse(req, protocol.StatusInvalidRequest, protocol.ReasonFutureEpoch)
	case req.MemberEpoch < m.floor():
		s.refuse(req, protocol.StatusFencedMemberEpoch, protocol.ReasonStaleEpoch)
	case req.MemberEpoch < m.Epoch, req.Lineage != "" && req.Lineage != s.g.Lineage, s.roundBegun:
		// E3, M4 below the join epoch in a round, and an epoch of another history, which is
		// also what equals by chance an epoch that this step has drawn for a new lineage.
		s.renew(req)
	case s.g.Round == nil && s.ownsWithoutHold(m, req):
		s.fence(i, CauseFenceReport, req) // R1
		s.refuse(req, protocol.StatusFencedMemberEpoch, protocol.ReasonBadReport)
	default:
		s.release(i, req)
		s.renew(req)
	}
}

// hearJoin follows epoch 0 (J1–J4). What a join lists as owned is not looked at: it says
// by its epoch that it reads nothing.
func (s *step) hearJoin(i int, known bool, req *protocol.HeartbeatRequest) {
	switch {
	case !known && len(s.g.Members) >= s.cfg.MaxMembers:
		s.refuse(req, protocol.StatusRetry, protocol.ReasonGroupFull)
		s.heard[len(s.heard)-1].retryMs = s.cfg.Lease.Milliseconds()
	case !known:
		s.admit(s.insert(req), CauseJoin, req)
	case !s.g.Members[i].Listening():
		if s.liveness(req.MemberID).heard() { // lost with the sequence: req may be of the past (E5, M1)
			s.endOwn(req) // H4: what lingers of another life stays
		}
		s.admit(i, takeoverCause(s.g.Members[i], req), req)
	case req.Incarnation != "" && req.Incarnation == s.g.Members[i].Incarnation:
		s.endOwn(req) // J3
		s.admit(i, CauseJoin, req)
	default:
		s.twin(req)
	}
}

// twin refuses another process under a live member's id and remembers it (J4).
func (s *step) twin(req *protocol.HeartbeatRequest) {
	s.unsteady = true
	s.out.Newcomers = append(s.out.Newcomers, Newcomer{Member: req.MemberID, Incarnation: req.Incarnation})
	s.refuse(req, protocol.StatusRetry, protocol.ReasonMemberIDInUse)
	s.heard[len(s.heard)-1].retryMs = (s.cfg.Lease / 4).Milliseconds()
}

// hearGoodbye follows a leave or a suspend (J5), which obey E4.
func (s *step) hearGoodbye(i int, known bool, req *protocol.HeartbeatRequest) {
	if !known {
		s.refuse(req, protocol.StatusUnknownMemberID, protocol.ReasonUnknownMember)
		return
	}
	m := s.g.Members[i]
	switch {
	case req.Incarnation != m.Incarnation:
		s.refuse(req, protocol.StatusFencedMemberEpoch, protocol.ReasonStaleEpoch)
	case m.State == Left:
		s.goodbye(req)
	case m.State == Suspended:
		if req.MemberEpoch == protocol.EpochLeave {
			s.setState(i, Left, CauseLeave)
			s.record(Change{Cause: CauseLeave, Member: m.ID, Shard: -1, RequestID: req.RequestID})
			s.bump(i)
			s.farewell(req)
			return
		}
		s.goodbye(req)
	case !m.Listening():
		s.refuse(req, protocol.StatusFencedMemberEpoch, reasonFor(m))
	case req.MemberEpoch == protocol.EpochSuspend:
		s.suspend(i, req)
	default:
		s.leave(i, req)
	}
}

// refuse answers with a status that carries no decision.
func (s *step) refuse(req *protocol.HeartbeatRequest, status protocol.HeartbeatStatus, reason protocol.Reason) {
	s.unsteady = true
	s.heard = append(s.heard, heard{req: req, status: status, reason: reason, beat: -1})
}

// farewell confirms a goodbye that ends the member's life in this step, and keeps its
// sequence, so that earlier messages stay repeats (E5, J6).
func (s *step) farewell(req *protocol.HeartbeatRequest) {
	s.beat(req, false)
	last := &s.heard[len(s.heard)-1]
	last.gone, last.beat = true, -1
}

// goodbye confirms that the member is gone.
func (s *step) goodbye(req *protocol.HeartbeatRequest) {
	s.unsteady = true
	s.heard = append(s.heard, heard{req: req, gone: true, beat: -1})
}

// renew renews the lease and asks for the current decision.
func (s *step) renew(req *protocol.HeartbeatRequest) { s.beat(req, false) }

func (s *step) beat(req *protocol.HeartbeatRequest, forced bool) {
	last := s.liveness(req.MemberID)
	sync := int64(0)
	if s.g.Round != nil {
		s.unsteady = true
		if sync = last.SyncVersion; s.synchronises(req) {
			sync = s.g.MetadataVersion
		}
	}
	s.out.Beats = append(s.out.Beats, Beat{Request: req, SyncVersion: sync, Forced: forced})
	s.heard = append(s.heard, heard{req: req, beat: len(s.out.Beats) - 1})
	if s.live == nil {
		s.live = make(map[string]Liveness)
	}
	s.live[req.MemberID] = Liveness{
		Deadline: s.in.Now.Add(s.cfg.Lease), HeardAt: s.in.Now, Incarnation: req.Incarnation,
		Sequence: req.Sequence, RequestID: req.RequestID, SyncVersion: sync,
		Successor: last.Successor, SuccessorAt: last.SuccessorAt,
	}
}

func takeoverCause(m Member, req *protocol.HeartbeatRequest) Cause {
	if m.State != Left && m.Incarnation != req.Incarnation {
		return CauseTakeover
	}
	return CauseJoin
}

// reasonFor says why a member that is not followed any more is refused.
func reasonFor(m Member) protocol.Reason {
	switch m.Cause {
	case CauseFenceReport:
		return protocol.ReasonBadReport
	case CauseFenceTimeout:
		return protocol.ReasonRebalanceOver
	case CauseExpire:
		return protocol.ReasonLeaseExpired
	case CauseLeave:
		return protocol.ReasonMemberLeft
	case CauseAdmin:
		return protocol.ReasonFencedByOperator
	case CauseJoin, CauseTakeover, CauseSuspend, CauseCorrection, CauseRelease, CauseTold, CauseHandBack, CauseGrant,
		CauseLingerOver, CauseBarrierOver, CauseRoundOver, CauseGrace, CauseForget, CauseIdentity,
		CauseScale, CauseRollback, CauseSeal, CauseReprovision:
	}
	return protocol.ReasonStaleEpoch
}
