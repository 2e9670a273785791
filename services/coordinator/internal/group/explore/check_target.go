package explore

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// checkTarget is I10 and I11. The shards of the routing set are balanced; a removed one that
// is open stays with its owner as long as that lives; closed ones have no owner (L3, L5).
func (w *World) checkTarget(prev, next *group.Group) {
	may := eligible(next)
	load := map[string]int{}
	for shard, owner := range next.Target {
		open := next.Open(shard)
		if open && owner == "" && len(may) > 0 || owner != "" && (!open || !slices.Contains(may, owner)) {
			w.violated("I10", "shard %d, open %v, is targeted at %q of %v", shard, open, owner, may)
		}
		if shard < next.ShardCount {
			load[owner]++
			continue
		}
		if was := targetOf(prev, shard); open && slices.Contains(may, was) && was != owner {
			w.violated("I11", "removed shard %d moves from %s to %s", shard, was, owner)
		}
	}
	for _, a := range may {
		for _, b := range may {
			if load[a] > load[b]+1 {
				w.violated("I10", "%s has %d shards, %s %d", a, load[a], b, load[b])
			}
		}
	}
	if next.GroupEpoch != next.AssignmentEpoch {
		w.violated("I10", "group epoch %d, assignment epoch %d", next.GroupEpoch, next.AssignmentEpoch)
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
		w.violated("I11", "%d shards move, %d would do: %v -> %v", moved, least, prev.Target, next.Target)
	}
}

// checkLayout is L1: a newer layout is copied as it is, nothing else changes it, and the
// lists of shards are as long as the reading set, or as somebody's hold.
func (w *World) checkLayout(prev *group.Group, in group.Input, next *group.Group) {
	wants := prev.LayoutOf()
	if in.Layout != nil && in.Layout.Version > wants.Version {
		wants = *in.Layout
	} else if in.Layout != nil && !sameLayout(*in.Layout, wants) {
		w.visit("older layout")
	}
	if has := next.LayoutOf(); !sameLayout(has, wants) {
		w.violated("L1", "layout %+v, expected %+v", has, wants)
	}
	n := len(next.Holds)
	if n != len(next.Target) || n < next.ReadCount() || n > next.ReadCount() && next.Holds[n-1].Member == "" {
		w.violated("L1", "%d holds, %d targets, reading set %d", n, len(next.Target), next.ReadCount())
	}
	if n > next.ReadCount() {
		w.visit("held outside")
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
