package explore

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// checkCommit checks one commit against the state it replaced: I4, I10, I11, I14 and E1.
func (w *World) checkCommit(prev *group.Group, in group.Input, out group.Output) {
	next := out.Next
	if next.MetadataVersion != prev.MetadataVersion+1 {
		w.violated("I14", "version %d follows %d", next.MetadataVersion, prev.MetadataVersion)
	}
	if next.Lineage != prev.Lineage && !slices.Contains(next.Known, prev.Lineage) {
		w.violated("I14", "lineage %s does not know its parent %s", next.Lineage, prev.Lineage)
	}
	if len(out.Changes) == 0 && changesNothing(prev, next) {
		w.violated("M4", "a commit changes nothing but what is beside the structure")
	}
	w.checkEpochs(prev, next)
	w.checkTarget(prev, next)
	w.checkLayout(prev, in, next)
	for shard := range max(len(prev.Holds), len(next.Holds)) {
		w.checkHold(prev, in, out, shard)
	}
	for _, c := range out.Changes {
		w.visit(string(c.Cause))
		if was, found := prev.Find(c.Member); found && (c.Cause == group.CauseJoin || c.Cause == group.CauseTakeover) {
			w.visit("rejoin")
			if was.State == group.Waiting {
				w.visit("successor")
			}
		}
		if c.Cause == group.CauseFenceTimeout { // H3c: nobody waits for its handlers any more
			w.excuse(c.Member)
		}
		if c.Cause == group.CauseAdmin {
			w.fences[c.Member[0]-'a']++
		}
	}
}

// changesNothing tells whether two states differ in nothing but their version.
func changesNothing(prev, next *group.Group) bool {
	same := *next
	same.MetadataVersion = prev.MetadataVersion
	return sameGroup(prev, &same)
}

// checkEpochs is E1: fresh epochs come from one counter, each member at most one a commit.
func (w *World) checkEpochs(prev, next *group.Group) {
	if next.EpochCounter < prev.EpochCounter || next.GroupEpoch < prev.GroupEpoch {
		w.violated("I5", "a counter falls")
	}
	seen := map[int64]bool{}
	changed := int64(0)
	for _, m := range next.Members {
		if old, found := prev.Find(m.ID); found && old.Epoch == m.Epoch {
			if was, is := ownHolds(prev, m.ID), ownHolds(next, m.ID); !slices.Equal(was, is) {
				w.violated("E1", "what %s holds changes without a fresh epoch: %v -> %v", m.ID, was, is)
			}
			continue
		}
		changed++
		if m.Epoch <= prev.EpochCounter || m.Epoch > next.EpochCounter || seen[m.Epoch] {
			w.violated("E1", "%s has epoch %d, counter %d -> %d", m.ID, m.Epoch, prev.EpochCounter, next.EpochCounter)
		}
		seen[m.Epoch] = true
	}
	if next.Lineage == prev.Lineage && next.EpochCounter-prev.EpochCounter > changed {
		w.violated("E1", "%d epochs drawn for %d members", next.EpochCounter-prev.EpochCounter, changed)
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
