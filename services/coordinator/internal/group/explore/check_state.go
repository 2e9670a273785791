package explore

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

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
func (w *World) checkState() {
	w.checkSealed()
	for shard := range w.env.setup.most() {
		var reader *process
		for _, p := range w.procs {
			if !w.runs(p, shard) {
				continue
			}
			if reader != nil && (w.mayRead(reader, shard) || w.mayRead(p, shard)) {
				w.violated("I1", "%s and %s run shard %d", reader.name, p.name, shard)
			}
			reader = p
			w.checkBlocked(p, shard)
		}
	}
}

// checkBlocked is I3: what a member may read is blocked for everyone else in the stored
// state, or the barrier is up. It also goes up before anything else when writes were lost.
func (w *World) checkBlocked(p *process, shard int) {
	h := holdOf(w.store.g, shard)
	if w.store.g.BarrierUntil != 0 || w.store.lostUnnoticed() {
		return
	}
	if h.Member != p.id || h.Incarnation != p.incarnation {
		w.violated("I3", "%s runs shard %d, held by %q of %q", p.name, shard, h.Member, h.Incarnation)
	}
}

// decide runs the core and checks what must hold for each decision by itself: Step leaves
// its input alone, and a message of the past changes nothing (I6).
func (w *World) decide(on *view, in group.Input) group.Output {
	var before *group.Group
	if w.env.thorough || w.env.steps%64 == 0 {
		before = copyOf(on.g)
	}
	out := w.step(on.g, in)
	if before != nil && !sameGroup(before, on.g) {
		w.violated("I14", "Step wrote to the state it was given")
	}
	if len(out.Replies) != len(in.Heartbeats) {
		w.violated("engine", "%d replies to %d heartbeats", len(out.Replies), len(in.Heartbeats))
	}
	w.checkJoin(in, out)
	if len(in.Heartbeats) == 1 && outdated(on.g, in.Live, in.Heartbeats[0]) {
		w.visit("outdated")
		tick := in
		tick.Heartbeats = nil
		without := w.step(on.g, tick)
		forgotten := slices.Contains(without.Forget, in.Heartbeats[0].MemberID) // then it is unknown (J6)
		if !forgotten && (!sameGroup(without.Next, out.Next) || len(out.Beats)+len(out.Newcomers) > 0) {
			w.violated("I6", "an outdated message of %s changed something", in.Heartbeats[0].MemberID)
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

// sameGroup tells whether two states are the same, nil being none.
func sameGroup(a, b *group.Group) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || (a.Round == nil) != (b.Round == nil) || a.Round != nil && *a.Round != *b.Round {
		return false
	}
	return slices.Equal(a.Known, b.Known) && slices.Equal(a.Target, b.Target) && slices.Equal(a.Closed, b.Closed) &&
		slices.Equal(a.Lost, b.Lost) && slices.Equal(a.Holds, b.Holds) && slices.Equal(a.Members, b.Members) &&
		numbersOf(a) == numbersOf(b)
}

// numbersOf returns what a state has besides its lists.
func numbersOf(g *group.Group) any {
	return [...]any{
		g.StreamPrefix, g.ConsumerGroup, g.Lineage, g.Identity, g.ClaimedVersion, g.ClaimedEpoch, g.GroupEpoch,
		g.AssignmentEpoch, g.EpochCounter, g.MetadataVersion, g.LayoutVersion, g.ShardCount, g.Removed, g.BarrierUntil,
		g.GraceUntil, g.CreatedAt,
	}
}

// excuse lets handlers of a member, or of all, go on without anybody waiting for them.
func (w *World) excuse(id string) {
	for i := range w.procs {
		if w.procs[i].id != id && id != "" {
			continue
		}
		for shard := range w.env.setup.most() {
			if w.procs[i].drains(shard) {
				w.edit(w.procs[i].life).excused |= 1 << shard
			}
		}
	}
}
