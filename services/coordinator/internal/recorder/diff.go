package recorder

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// Diff returns the shards whose target or hold differ between two states of a group, by
// index. A nil group, and a shard outside the reading set, has neither.
func Diff(prev, next *group.Group) []protocol.ShardChange {
	changed := []protocol.ShardChange{}
	for shard := range max(shards(prev), shards(next)) {
		change := protocol.ShardChange{Shard: shard}
		if before, after := target(prev, shard), target(next, shard); before != after {
			change.Target = &protocol.TargetChange{Before: some(before), After: some(after)}
		}
		if before, after := hold(prev, shard), hold(next, shard); before != after {
			change.Hold = &protocol.HoldChange{Before: state(before), After: state(after)}
		}
		if change.Target != nil || change.Hold != nil {
			changed = append(changed, change)
		}
	}
	return changed
}

func shards(g *group.Group) int {
	if g == nil {
		return 0
	}
	return max(len(g.Target), len(g.Holds))
}

func target(g *group.Group, shard int) string {
	if g == nil || shard >= len(g.Target) {
		return ""
	}
	return g.Target[shard]
}

func hold(g *group.Group, shard int) group.Hold {
	if g == nil || shard >= len(g.Holds) {
		return group.Hold{}
	}
	return g.Holds[shard]
}

func state(h group.Hold) *protocol.HoldState {
	if h == (group.Hold{}) {
		return nil
	}
	shown := &protocol.HoldState{MemberID: h.Member, Incarnation: h.Incarnation, Told: h.Told}
	if h.Lingers != 0 {
		until := protocol.AtMillis(int64(h.Lingers))
		shown.LingersUntil = &until
	}
	return shown
}
