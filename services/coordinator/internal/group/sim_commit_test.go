package group_test

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// checkCommit checks one commit against the state it replaced: I4, I10, I11, I14 and E1.
func (s *sim) checkCommit(prev *group.Group, in group.Input, out group.Output) {
	next := out.Next
	if next.MetadataVersion != prev.MetadataVersion+1 {
		s.violated("I14", "version %d follows %d", next.MetadataVersion, prev.MetadataVersion)
	}
	if next.Lineage != prev.Lineage && !slices.Contains(next.Known, prev.Lineage) {
		s.violated("I14", "lineage %s does not know its parent %s", next.Lineage, prev.Lineage)
	}
	s.checkEpochs(prev, next)
	s.checkTarget(prev, next)
	s.checkLayout(prev, in, next)
	for shard := range max(len(prev.Holds), len(next.Holds)) {
		s.checkHold(prev, in, out, shard)
	}
	for _, c := range out.Changes {
		s.visit(string(c.Cause))
		if c.Cause == group.CauseFenceTimeout { // H3c: nobody waits for its handlers any more
			s.excuse(c.Member)
		}
		if c.Cause == group.CauseAdmin {
			s.visit("fence of " + c.Member)
		}
	}
}

func (s *sim) excuse(id string) {
	for _, p := range s.procs {
		for shard, how := range p.shards {
			if (p.id == id || id == "") && how == draining {
				p.excused[shard] = true
			}
		}
	}
}

// checkEpochs is E1: fresh epochs come from one counter, each member at most one a commit.
func (s *sim) checkEpochs(prev, next *group.Group) {
	if next.EpochCounter < prev.EpochCounter || next.GroupEpoch < prev.GroupEpoch {
		s.violated("I5", "a counter falls")
	}
	seen := map[int64]bool{}
	changed := int64(0)
	for _, m := range next.Members {
		if old, found := prev.Find(m.ID); found && old.Epoch == m.Epoch {
			if was, is := ownHolds(prev, m.ID), ownHolds(next, m.ID); !slices.Equal(was, is) {
				s.violated("E1", "what %s holds changes without a fresh epoch: %v -> %v", m.ID, was, is)
			}
			continue
		}
		changed++
		if m.Epoch <= prev.EpochCounter || m.Epoch > next.EpochCounter || seen[m.Epoch] {
			s.violated("E1", "%s has epoch %d, counter %d -> %d", m.ID, m.Epoch, prev.EpochCounter, next.EpochCounter)
		}
		seen[m.Epoch] = true
	}
	if next.Lineage == prev.Lineage && next.EpochCounter-prev.EpochCounter > changed {
		s.violated("E1", "%d epochs drawn for %d members", next.EpochCounter-prev.EpochCounter, changed)
	}
}

// ownHolds returns the holds that a member may act on, by shard.
func ownHolds(g *group.Group, id string) []group.Hold {
	var holds []group.Hold
	for shard, h := range g.Holds {
		if h.Member == id && h.Lingers == 0 {
			holds = append(holds, make([]group.Hold, shard+1-len(holds))...)
			holds[shard] = h
		}
	}
	return holds
}

// checkTarget is I10 and I11. The shards of the routing set are balanced; a removed one that
// is open stays with its owner as long as that lives; closed ones have no owner (L3, L5).
func (s *sim) checkTarget(prev, next *group.Group) {
	may := eligible(next)
	load := map[string]int{}
	for shard, owner := range next.Target {
		open := next.Open(shard)
		if open && owner == "" && len(may) > 0 || owner != "" && (!open || !slices.Contains(may, owner)) {
			s.violated("I10", "shard %d, open %v, is targeted at %q of %v", shard, open, owner, may)
		}
		if shard < next.ShardCount {
			load[owner]++
			continue
		}
		if was := targetOf(prev, shard); open && slices.Contains(may, was) && was != owner {
			s.violated("I11", "removed shard %d moves from %s to %s", shard, was, owner)
		}
	}
	for _, a := range may {
		for _, b := range may {
			if load[a] > load[b]+1 {
				s.violated("I10", "%s has %d shards, %s %d", a, load[a], b, load[b])
			}
		}
	}
	if next.GroupEpoch != next.AssignmentEpoch {
		s.violated("I10", "group epoch %d, assignment epoch %d", next.GroupEpoch, next.AssignmentEpoch)
	}
	owners := make([]string, next.ShardCount)
	moved := 0
	for shard := range owners {
		owners[shard] = targetOf(prev, shard)
		if slices.Contains(may, owners[shard]) && next.Target[shard] != owners[shard] {
			moved++
		}
	}
	if least := fewestMoves(owners, may); moved > least {
		s.violated("I11", "%d shards move, %d would do: %v -> %v", moved, least, prev.Target, next.Target)
	}
}

// checkLayout is L1: a newer layout is copied as it is, nothing else changes it, and the
// lists of shards are as long as the reading set, or as somebody's hold.
func (s *sim) checkLayout(prev *group.Group, in group.Input, next *group.Group) {
	wants := prev.LayoutOf()
	if in.Layout != nil && in.Layout.Version > wants.Version {
		wants = *in.Layout
	} else if in.Layout != nil && !sameLayout(*in.Layout, wants) {
		s.visit("older layout")
	}
	if has := next.LayoutOf(); !sameLayout(has, wants) {
		s.violated("L1", "layout %+v, expected %+v", has, wants)
	}
	n := len(next.Holds)
	if n != len(next.Target) || n < next.ReadCount() || n > next.ReadCount() && next.Holds[n-1].Member == "" {
		s.violated("L1", "%d holds, %d targets, reading set %d", n, len(next.Target), next.ReadCount())
	}
	if n > next.ReadCount() {
		s.visit("held outside")
	}
}

func eligible(g *group.Group) []string {
	var ids []string
	for _, m := range g.Members {
		if m.Eligible() {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// fewestMoves finds by trying every choice of members with one shard more how many shards
// of live owners have to move.
func fewestMoves(owners, members []string) int {
	if len(members) == 0 {
		return 0
	}
	load := map[string]int{}
	total := 0
	for _, owner := range owners {
		if slices.Contains(members, owner) {
			load[owner]++
			total++
		}
	}
	floor, extra := len(owners)/len(members), len(owners)%len(members)
	best := total
	for choice := range 1 << len(members) {
		kept, more := 0, 0
		for i, id := range members {
			quota := floor
			if choice&(1<<i) != 0 {
				quota++
				more++
			}
			kept += min(load[id], quota)
		}
		if more == extra {
			best = min(best, total-kept)
		}
	}
	return best
}

// checkHold is I4, H2 and H3: a hold ends or lingers for a reason that the rules name,
// judged by the input alone, and a grant is of a free shard outside barrier and round.
func (s *sim) checkHold(prev *group.Group, in group.Input, out group.Output, shard int) {
	next := out.Next
	was, is := holdOf(prev, shard), holdOf(next, shard)
	same := was.Member == is.Member && was.Incarnation == is.Incarnation
	switch {
	case same && was.Lingers == is.Lingers && (was.Lingers != 0 || !regranted(prev, next, was.Member, in)):
		return
	case same && was.Lingers == 0 && is.Lingers != 0:
		if live, found := in.Live[was.Member]; found && is.Lingers != live.Deadline {
			s.violated("I4", "shard %d lingers until %d, the stored deadline is %d", shard, is.Lingers, live.Deadline)
		}
		return
	}
	if was.Member != "" && !mayEnd(prev, in, out, shard) {
		s.violated("I4", "the hold of %s on shard %d ends without a reason: %+v -> %+v", was.Member, shard, was, is)
	}
	if is.Member == "" {
		return
	}
	if m, _ := next.Find(is.Member); m.State != group.Active || m.Incarnation != is.Incarnation || targetOf(next, shard) != is.Member {
		s.violated("I4", "shard %d is granted to %+v, target %s", shard, is, targetOf(next, shard))
	}
	if slices.Contains(next.Lost, shard) {
		s.violated("I4", "lost shard %d is granted (L12)", shard)
	}
	if next.BarrierUntil != 0 || next.Round != nil {
		s.violated("I4", "shard %d is granted during a barrier or round", shard)
	}
}

// regranted tells whether the member began a new life in the commit, so that a hold which
// looks the same is a new grant.
func regranted(prev, next *group.Group, id string, in group.Input) bool {
	was, _ := prev.Find(id)
	is, _ := next.Find(id)
	joins := slices.ContainsFunc(in.Heartbeats, func(r *protocol.HeartbeatRequest) bool { return r.MemberID == id && r.MemberEpoch == 0 })
	return joins && was.JoinEpoch != is.JoinEpoch && next.Lineage == prev.Lineage
}

// mayEnd tells whether the rules let a hold end in a step with this input (H3, H4, J3, J5).
func mayEnd(prev *group.Group, in group.Input, out group.Output, shard int) bool {
	h := holdOf(prev, shard)
	m, _ := prev.Find(h.Member)
	live, known := in.Live[h.Member]
	lingers := slices.ContainsFunc(out.Changes, func(c group.Change) bool {
		return c.Member == h.Member && (c.Cause == group.CauseFenceReport || c.Cause == group.CauseFenceTimeout || c.Cause == group.CauseSuspend || c.Cause == group.CauseAdmin)
	})
	barrier := in.Now < prev.BarrierUntil && (in.Order == nil || in.Order.Kind != group.OrderUnbar)
	switch {
	case h.Lingers == 0 && known && in.Now >= live.Deadline && lingers:
		return true // H4: but its deadline is over already
	case barrier:
	case h.Lingers != 0 && in.Now >= h.Lingers:
		return true
	case h.Lingers == 0 && known && in.Now >= live.Deadline && in.Now >= prev.GraceUntil:
		return true // H3b
	case h.Told && m.DropBy != 0 && in.Now >= m.DropBy:
		return true // H3c
	}
	return slices.ContainsFunc(in.Heartbeats, func(r *protocol.HeartbeatRequest) bool {
		if r.MemberID != h.Member || r.Incarnation != h.Incarnation {
			return false
		}
		if r.Sequence > 0 && live.Incarnation == r.Incarnation && r.Sequence <= live.Sequence {
			return false
		}
		switch {
		case r.MemberEpoch == 0:
			return r.Incarnation != "" // J3
		case h.Lingers != 0:
			return false
		case r.MemberEpoch < 0:
			return r.Incarnation != "" && !running(r, shard) // J5
		default:
			return r.MemberEpoch == m.Epoch && h.Told && !running(r, shard) // R2
		}
	})
}

// running tells whether a report names the shard as read or still being given back.
func running(r *protocol.HeartbeatRequest, shard int) bool {
	return slices.Contains(indexes(r.OwnedShards), shard) ||
		slices.ContainsFunc(r.RevokingShards, func(v protocol.RevokingShard) bool {
			return v.Shard.ShardIndex == shard && (v.State != protocol.Revoked || v.InFlight > 0)
		})
}
