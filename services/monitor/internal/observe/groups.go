package observe

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// groupsTimeout bounds the question to the coordinator, so that one that hangs takes no
// more of a round.
const groupsTimeout = 2 * time.Second

// groupsKeeper keeps the last answer of the coordinator.
type groupsKeeper struct {
	source Groups
	tag    string
	last   []protocol.GroupSnapshot // sorted by stream, then group; not changed
}

// ask returns the groups as they are now, or the last ones with the reason.
func (k *groupsKeeper) ask(ctx context.Context, limit time.Duration) (groups []protocol.GroupSnapshot, problem string) {
	ctx, cancel := context.WithTimeout(ctx, min(groupsTimeout, limit/2))
	defer cancel()
	answer, tag, err := k.source.GroupSnapshots(ctx, k.tag)
	switch {
	case err != nil:
		return k.last, fmt.Sprintf("the coordinator does not tell the groups: %v", err)
	case answer != nil:
		sorted := slices.Clone(answer.Groups)
		slices.SortFunc(sorted, func(a, b protocol.GroupSnapshot) int {
			return cmp.Or(cmp.Compare(a.Group.StreamPrefix, b.Group.StreamPrefix), cmp.Compare(a.Group.ConsumerGroup, b.Group.ConsumerGroup))
		})
		k.tag, k.last = tag, sorted
	}
	return k.last, ""
}

// factsOf returns groups as facts.
func factsOf(groups []protocol.GroupSnapshot) []facts.Group {
	known := make([]facts.Group, len(groups))
	for i, g := range groups {
		known[i] = facts.Group{View: g.Group, Members: g.Members, Assignments: g.Assignments, Migrations: g.Migrations}
		if g.Problem != nil {
			known[i].Problem = string(*g.Problem)
		}
	}
	return known
}
