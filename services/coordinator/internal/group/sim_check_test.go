package group_test

import (
	"maps"
	"reflect"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// holdOf returns the hold on a shard, none for one that the group has no list entry for.
func holdOf(g *group.Group, shard int) group.Hold {
	if shard >= len(g.Holds) {
		return group.Hold{}
	}
	return g.Holds[shard]
}

// targetOf returns the owner of a shard, "" for one that the group has no list entry for.
func targetOf(g *group.Group, shard int) string {
	if shard >= len(g.Target) {
		return ""
	}
	return g.Target[shard]
}

// checkState checks what must hold at every moment: I1, I3 and I12.
func (s *sim) checkState() {
	s.checkSealed()
	for shard := range s.most() {
		var reader *process
		for _, p := range s.procs {
			if !p.runs(shard) {
				continue
			}
			if reader != nil && (reader.mayRead(shard) || p.mayRead(shard)) {
				s.violated("I1", "%s and %s run shard %d", reader.name, p.name, shard)
			}
			reader = p
			s.checkBlocked(p, shard)
		}
	}
}

// checkBlocked is I3: what a member may read is blocked for everyone else in the stored
// state, or the barrier is up. It also goes up before anything else when writes were lost.
func (s *sim) checkBlocked(p *process, shard int) {
	h := holdOf(s.store.g, shard)
	if s.store.g.BarrierUntil != 0 || s.store.lostUnnoticed() {
		return
	}
	if h.Member != p.id || h.Incarnation != p.incarnated {
		s.violated("I3", "%s runs shard %d, held by %q of %q", p.name, shard, h.Member, h.Incarnation)
	}
}

// decide runs the core and checks what must hold for each decision by itself: Step leaves
// its input alone, and a message of the past changes nothing (I6).
func (s *sim) decide(on *view, in group.Input) group.Output {
	before := copyOf(on.g)
	out := group.Step(s.cfg, on.g, in)
	if !reflect.DeepEqual(before, on.g) {
		s.violated("I14", "Step wrote to the state it was given")
	}
	if len(out.Replies) != len(in.Heartbeats) {
		s.violated("engine", "%d replies to %d heartbeats", len(out.Replies), len(in.Heartbeats))
	}
	if len(in.Heartbeats) == 1 && outdated(on.g, in.Live, in.Heartbeats[0]) {
		s.visit("outdated")
		tick := in
		tick.Heartbeats = nil
		without := group.Step(s.cfg, on.g, tick)
		forgotten := slices.Contains(without.Forget, in.Heartbeats[0].MemberID) // then it is unknown (J6)
		if !forgotten && (!reflect.DeepEqual(without.Next, out.Next) || len(out.Beats)+len(out.Newcomers) > 0) {
			s.violated("I6", "an outdated message of %s changed something", in.Heartbeats[0].MemberID)
		}
	}
	return out
}

// outdated tells whether req is of an older sequence, epoch or incarnation than the live
// record knows, and no evidence of lost writes (E4, E5).
func outdated(g *group.Group, live map[string]group.Liveness, req *protocol.HeartbeatRequest) bool {
	m, found := g.Find(req.MemberID)
	if !found || req.MetadataVersion > g.MetadataVersion || req.MemberEpoch > m.Epoch {
		return false
	}
	if req.Lineage != "" && req.Lineage != g.Lineage && !slices.Contains(g.Known, req.Lineage) {
		return false
	}
	last := live[req.MemberID]
	switch {
	case req.Sequence > 0 && req.Incarnation == last.Incarnation && req.Sequence <= last.Sequence:
		return true
	case req.MemberEpoch == 0:
		return false
	case req.Incarnation != m.Incarnation:
		return true
	default:
		return req.MemberEpoch > 0 && req.MemberEpoch < m.JoinEpoch && g.Round == nil
	}
}

func copyOf(g *group.Group) *group.Group {
	c := *g
	c.Known, c.Target = slices.Clone(g.Known), slices.Clone(g.Target)
	c.Closed, c.Lost = slices.Clone(g.Closed), slices.Clone(g.Lost)
	c.Holds, c.Members = slices.Clone(g.Holds), slices.Clone(g.Members)
	if g.Round != nil {
		round := *g.Round
		c.Round = &round
	}
	return &c
}

// checkRepeat is I7 (A1): the same request again gets the same decision without a commit.
func (s *sim) checkRepeat(in group.Input, out group.Output) {
	if len(in.Heartbeats) != 1 || in.Heartbeats[0].Sequence == 0 {
		return
	}
	if _, known := s.store.live[in.Heartbeats[0].MemberID]; !known {
		return // its liveness is lost: nobody can tell that it repeats
	}
	repeat := group.Input{
		Now: in.Now, Fresh: true, Live: s.store.live, ServedAt: s.store.servedAt,
		Identity: in.Identity, Nonce: "again",
	}
	if group.Step(s.cfg, s.store.g, repeat).Next != nil {
		return // what another coordinator heard meanwhile has made something due
	}
	repeat.Heartbeats = in.Heartbeats
	again := group.Step(s.cfg, s.store.g, repeat)
	first, second := out.Replies[0].Response, again.Replies[0].Response
	if again.Next != nil {
		s.violated("I7", "the same request of %s makes a second commit: %s", second.MemberID, outcome(again))
	}
	if first.Status != second.Status || first.MemberEpoch != second.MemberEpoch ||
		!reflect.DeepEqual(first.Assignment, second.Assignment) {
		s.violated("I7", "the same request again: %s, at first %s", answerText(second), answerText(first))
	}
	if again.Replies[0].Beat >= 0 {
		s.violated("I7", "the same request of %s renews again", second.MemberID)
	}
}

// checkAnswer is I2 and A3: an answer lets a member read only what is recorded as its own
// in this lineage, and no answer is OK while the barrier is up.
func (s *sim) checkAnswer(req *protocol.HeartbeatRequest, resp *protocol.HeartbeatResponse) {
	g := s.store.g
	assigned := indexes(resp.Assignment.AssignedShards)
	for _, shard := range assigned {
		h := holdOf(g, shard)
		if h.Member != req.MemberID || h.Incarnation != req.Incarnation || h.Lingers != 0 || h.Told || resp.Lineage != g.Lineage {
			s.violated("I2", "%s is given shard %d without a recorded grant: %+v", req.MemberID, shard, h)
		}
	}
	if g.BarrierUntil == 0 {
		return
	}
	s.visit("barrier")
	if resp.Status == protocol.StatusOK {
		s.violated("I8", "%s is answered OK while the barrier is up", req.MemberID)
	}
	if req.Incarnation == "" && len(assigned) > 0 {
		s.violated("I8", "the old client %s is shown shards while the barrier is up (H6)", req.MemberID)
	}
}

// checkAnswerOrder is I5: what a client sees never falls, except by SYNC_METADATA.
func (s *sim) checkAnswerOrder(p *process, resp *protocol.HeartbeatResponse) {
	sync := resp.Status == protocol.StatusSyncMetadata
	switch {
	case sync || p.seenEpoch == 0:
	case p.seenLineage != resp.Lineage && !p.old:
		s.violated("I5", "%s goes from %s to %s by %s", p.name, p.seenLineage, resp.Lineage, resp.Status)
	case resp.MemberEpoch < p.seenEpoch || resp.MetadataVersion < p.seenVersion:
		s.violated("I5", "%s falls from e%d v%d to e%d v%d", p.name, p.seenEpoch, p.seenVersion, resp.MemberEpoch, resp.MetadataVersion)
	}
	p.seenLineage, p.seenEpoch, p.seenVersion = resp.Lineage, resp.MemberEpoch, resp.MetadataVersion
}

// eras counts how often the store has lost something.
func (s *sim) eras() int { return s.visits["failover"] + s.visits["lost liveness"] }

// blame notes refusals of members that keep their lease and did nothing wrong (V1).
func (s *sim) blame(p *process, req *protocol.HeartbeatRequest, resp *protocol.HeartbeatResponse) {
	refused := resp.Status == protocol.StatusFencedMemberEpoch || resp.Status == protocol.StatusUnknownMemberID
	if !refused || p.fences != s.visits["fence of "+p.id] || p.old || p.leaving != 0 || req.MemberEpoch <= 0 || !p.leased() || p.misbehaved || p.era != s.eras() {
		return
	}
	late := slices.Contains(p.shards, draining) || slices.Contains(p.shards, revoked)
	if late && (resp.Reason == protocol.ReasonRebalanceOver || slices.Contains(p.excused, true)) {
		return // H3c, perhaps with a twin let in since (J4)
	}
	s.violated("V1", "%s is refused without a cause: %s", p.name, answerText(resp))
}
