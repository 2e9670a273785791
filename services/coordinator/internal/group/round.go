package group

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// epochJump is how far a new lineage moves the epoch counter on at least, so that no epoch
// of the lost history is given out again (E1). Where a jump may be among what is lost, the
// store's microseconds have outrun it: a jump is about a second of them, a round takes a
// lease. So fence tokens, which are epochs, never fall.
const epochJump = 1 << 20

// identityNone is what a store reports that cannot tell its history.
const identityNone = "none"

// checkStore looks for evidence that the store itself lost writes: another identity, a
// clock that jumped, a live member without liveness, a state that this process saw and
// that is not there any more (M1, T1).
func (s *step) checkStore() {
	switch {
	case s.sawLater():
		if s.in.Seen.Lineage != s.g.Lineage {
			s.edit().remember(s.in.Seen.Lineage)
		}
		s.openRound(nil)
	case s.in.ClockJumped, s.identityChanged(), s.livenessLost():
		s.openRound(nil)
	case !tells(s.g.Identity) && tells(s.in.Identity):
		s.edit().Identity = s.in.Identity
		s.record(Change{Cause: CauseIdentity, Shard: -1})
	}
}

// checkClaims looks for heartbeats that know of something the store has lost, before time
// has its say on the state that came back (T2): members do not expire by lost leases.
func (s *step) checkClaims() {
	for _, req := range s.in.Heartbeats {
		i, known := s.g.find(req.MemberID)
		if spoken(req) && !(known && s.repeats(req)) && s.evidence(i, known, req) {
			s.openRound(req)
		}
	}
}

// sawLater tells whether this process saw a later state of this history, or one of a
// history that the group does not know. It counts once for all processes: the round makes
// the lineage known.
func (s *step) sawLater() bool {
	switch s.in.Seen.Lineage {
	case "":
		return false
	case s.g.Lineage:
		return s.in.Seen.Revision > s.in.Revision
	default:
		return !slices.Contains(s.g.Known, s.in.Seen.Lineage)
	}
}

func (s *step) identityChanged() bool {
	return tells(s.g.Identity) && tells(s.in.Identity) && s.g.Identity != s.in.Identity
}

// tells tells whether an identity is one at all.
func tells(identity string) bool { return identity != "" && identity != identityNone }

// livenessLost tells whether the lease of a live member is gone: who took it away is
// unknown, so it may still be reading.
func (s *step) livenessLost() bool {
	return s.g.BarrierUntil == 0 && slices.ContainsFunc(s.g.Members, func(m Member) bool {
		return m.leased() && !s.in.Live[m.ID].heard()
	})
}

// evidence tells whether the request knows of something that the store does not (M1).
// Each claim counts once.
func (s *step) evidence(i int, known bool, req *protocol.HeartbeatRequest) bool {
	if req.Lineage != "" && req.Lineage != s.g.Lineage {
		return !slices.Contains(s.g.Known, req.Lineage)
	}
	stored := s.g.EpochCounter
	if known {
		stored = s.g.Members[i].Epoch
	}
	version := s.base.MetadataVersion
	if req.Lineage == "" { // with a lineage a claim cannot come again: it became known
		version, stored = max(version, s.g.ClaimedVersion), max(stored, s.g.ClaimedEpoch)
	}
	return req.MetadataVersion > version || req.MemberEpoch > stored
}

// openRound opens a correction round with its barrier and a new lineage, in one commit
// (M2). Versions are not raised to match a claim. req is the claim, nil for evidence of
// the store itself.
func (s *step) openRound(req *protocol.HeartbeatRequest) {
	g := s.edit()
	if req != nil {
		if req.Lineage != "" && req.Lineage != g.Lineage {
			g.remember(req.Lineage)
		}
		g.ClaimedVersion = max(g.ClaimedVersion, req.MetadataVersion)
		g.ClaimedEpoch = max(g.ClaimedEpoch, req.MemberEpoch)
	}
	if s.roundBegun { // one commit opens one round, however many claims it hears
		return
	}
	s.roundBegun = true
	g.remember(g.Lineage)
	g.Lineage = s.in.Nonce
	if tells(s.in.Identity) {
		g.Identity = s.in.Identity
	}
	g.BarrierUntil = s.in.Now.Add(s.cfg.Lease + s.cfg.BarrierExtra)
	g.Round = &Round{OpenedVersion: g.MetadataVersion, OpenedAt: s.in.Now}
	g.EpochCounter = max(g.EpochCounter+epochJump, EpochFloorAt(s.in.Now))
	for i, m := range g.Members {
		if m.leased() {
			delete(s.bumped, m.ID) // an epoch of the old lineage is not fresh any more
			s.bump(i)
			g.Members[i].RoundFloor = m.floor()
			g.Members[i].JoinEpoch = g.Members[i].Epoch
		}
	}
	change := Change{Cause: CauseCorrection, Shard: -1}
	if req != nil {
		change.Member, change.RequestID = req.MemberID, req.RequestID
	}
	s.record(change)
}

// remember lists a lineage as known.
func (g *Group) remember(lineage string) {
	if g.Known = append(g.Known, lineage); len(g.Known) > MaxKnown {
		g.Known = g.Known[len(g.Known)-MaxKnown:]
	}
}

// synchronises tells whether the request shows that its sender follows this history (M4).
func (s *step) synchronises(req *protocol.HeartbeatRequest) bool {
	i, known := s.g.find(req.MemberID)
	return known && s.g.Round != nil &&
		(req.Lineage == "" || req.Lineage == s.g.Lineage) &&
		req.MetadataVersion >= s.g.Round.OpenedVersion && req.MetadataVersion <= s.base.MetadataVersion &&
		(req.MemberEpoch >= s.g.Members[i].JoinEpoch || req.MemberEpoch < 0)
}

// synchronised tells whether the member has shown it in this round (M4).
func (s *step) synchronised(m Member) bool {
	return s.liveness(m.ID).SyncVersion >= s.g.Round.OpenedVersion
}

// endRound ends the round when the barrier is over, every live member is synchronised or
// gone, and no hold conflicts with the target (M5).
func (s *step) endRound() {
	if s.g.Round == nil || s.g.BarrierUntil != 0 {
		return
	}
	for _, m := range s.g.Members {
		if m.Listening() && !s.synchronised(m) {
			return
		}
	}
	for shard, h := range s.g.Holds {
		if h.held() && (h.Lingers != 0 || h.Member != s.g.Target[shard]) {
			return
		}
	}
	g := s.edit()
	g.Round, g.ClaimedVersion, g.ClaimedEpoch = nil, 0, 0 // everybody has been told: a new claim is news
	for i := range s.g.Members {
		s.g.Members[i].RoundFloor = 0
	}
	s.record(Change{Cause: CauseRoundOver, Shard: -1})
}
