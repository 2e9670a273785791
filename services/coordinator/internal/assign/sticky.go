package assign

import (
	"cmp"
	"slices"
)

// Sticky keeps live owners, gives unowned shards to the least loaded, and moves the
// fewest shards that bring the spread to at most one (S1). It balances by the number of
// members, not by reported capacity (S2). It takes O(S + M log M).
type Sticky struct{}

// member is a live member during one computation.
type member struct {
	id    string
	owned int // shards kept so far
	quota int // shards it ends with
}

// Assign implements Strategy.
func (Sticky) Assign(in Input) []string {
	owners := make([]string, len(in.Owners))
	if len(in.Members) == 0 {
		return owners
	}
	members, index := load(in)
	setQuotas(members, len(in.Owners))
	free := keep(in, owners, members, index)
	give(free, owners, members)
	return owners
}

// load counts what each live member owns.
func load(in Input) ([]member, map[string]int) {
	members := make([]member, len(in.Members))
	index := make(map[string]int, len(in.Members))
	for i, id := range in.Members {
		members[i] = member{id: id}
		index[id] = i
	}
	for _, owner := range in.Owners {
		if i, live := index[owner]; live {
			members[i].owned++
		}
	}
	return members, index
}

// setQuotas gives every member the floor of the average, and the remainder to those
// who own most already: each shard that they keep is one that does not move.
func setQuotas(members []member, shards int) {
	floor, extra := shards/len(members), shards%len(members)
	byLoad := make([]int, len(members))
	for i := range byLoad {
		byLoad[i] = i
	}
	slices.SortStableFunc(byLoad, func(a, b int) int { return cmp.Compare(members[b].owned, members[a].owned) })
	for rank, i := range byLoad {
		members[i].quota = floor
		if rank < extra {
			members[i].quota++
		}
		members[i].owned = 0
	}
}

// keep leaves each shard with its live owner up to the owner's quota and returns the
// shards that are free then, in order.
func keep(in Input, owners []string, members []member, index map[string]int) []int {
	var free []int
	for shard, owner := range in.Owners {
		i, live := index[owner]
		if !live || members[i].owned == members[i].quota {
			free = append(free, shard)
			continue
		}
		members[i].owned++
		owners[shard] = owner
	}
	return free
}

// give hands the free shards out, the emptiest member first, ties by id.
func give(free []int, owners []string, members []member) {
	slices.SortStableFunc(members, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.owned, b.owned), cmp.Compare(a.id, b.id))
	})
	next := 0
	for _, shard := range free {
		for members[next].owned == members[next].quota {
			next++
		}
		members[next].owned++
		owners[shard] = members[next].id
	}
}
