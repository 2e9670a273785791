package codec

import (
	"slices"
	"strings"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// checkGroup refuses what no commit can have written.
func checkGroup(g *group.Group) error {
	byID := func(a, b group.Member) int { return strings.Compare(a.ID, b.ID) }
	switch {
	case g.StreamPrefix == "" || g.ConsumerGroup == "":
		return corrupt("streamPrefix or consumerGroup", "is empty")
	case g.Lineage == "":
		return corrupt("lineage", "is empty")
	case g.MetadataVersion < 1:
		return corrupt("metadataVersion", "is below 1")
	case g.GroupEpoch < 1 || g.AssignmentEpoch > g.GroupEpoch:
		return corrupt("groupEpoch", "is below 1 or below assignmentEpoch")
	case g.ShardCount < 0 || g.ShardCount > len(g.Target):
		return corrupt("shardCount", "is negative or above the target's length")
	case len(g.Target) != len(g.Holds):
		return corrupt("holds", "has another length than target")
	case !slices.IsSortedFunc(g.Members, byID):
		return corrupt("members", "is not sorted")
	}
	return checkMembers(g)
}

func checkMembers(g *group.Group) error {
	for i, m := range g.Members {
		switch {
		case m.ID == "" || i > 0 && g.Members[i-1].ID == m.ID:
			return corrupt("members", "has an empty or repeated id")
		case m.Epoch > g.EpochCounter || m.JoinEpoch > m.Epoch || m.JoinEpoch < 1:
			return corrupt("members", "has an epoch that was never given")
		case !knownState(m.State):
			return corrupt("members", "has an unknown state")
		}
	}
	for _, h := range g.Holds {
		if _, found := g.Find(h.Member); h.Member != "" && !found {
			return corrupt("holds", "names a member without a record")
		}
	}
	for _, id := range g.Target {
		if _, found := g.Find(id); id != "" && !found {
			return corrupt("target", "names a member without a record")
		}
	}
	return nil
}

func knownState(state group.MemberState) bool {
	switch state {
	case group.Active, group.Leaving, group.Suspended, group.Waiting, group.Expired, group.Fenced, group.Left:
		return true
	default:
		return false
	}
}
