package cli

import (
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

// movesTold is how many ways of shards a line tells.
const movesTold = 4

// way is from whom to whom shards went.
type way struct{ what, from, to string }

// moveWords tells which shards went from whom to whom, or are to, as in 2-3: one -> two. Shards of
// the same way stand together.
func moveWords(event protocol.GroupEvent) []string {
	var order []way
	moved := map[way][]int{}
	for _, shard := range event.Shards {
		for _, each := range waysOf(shard) {
			if moved[each] == nil {
				order = append(order, each)
			}
			moved[each] = append(moved[each], shard.Shard)
		}
	}
	words, more := []string{}, event.ShardsLeftOut
	for i, each := range order {
		if i >= movesTold {
			more += len(moved[each])
			continue
		}
		words = append(words, fmt.Sprintf("%s%s: %s -> %s", each.what, show.Ranges(moved[each]), each.from, each.to))
	}
	if more > 0 {
		words = append(words, "and "+amount(more)+" more")
	}
	return words
}

// waysOf tells what became of a shard: who reads it, and who is wanted to where that is another
// one than who reads it now.
func waysOf(shard protocol.ShardChange) []way {
	var ways []way
	if hold := shard.Hold; hold != nil {
		if from, to := holder(hold.Before), holder(hold.After); from != to {
			ways = append(ways, way{"", from, to})
		}
	}
	if target := shard.Target; target != nil {
		to := orElse(show.Optional(target.After), show.None)
		if len(ways) == 0 || ways[0].to != to {
			ways = append(ways, way{"wanted ", orElse(show.Optional(target.Before), show.None), to})
		}
	}
	return ways
}

// holder is who may be reading by a hold; what is told to drop a shard still may.
func holder(hold *protocol.HoldState) string {
	if hold == nil || hold.MemberID == "" {
		return show.None
	}
	return hold.MemberID
}
