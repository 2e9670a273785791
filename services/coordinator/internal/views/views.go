// Package views turns a group into what monitoring shows of it. It is pure and decides
// nothing.
package views

import (
	"fmt"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// Source is a group as one read of the store saw it.
type Source struct {
	Group  *group.Group
	Live   map[string]group.Liveness
	Detail map[string]codec.Detail
	// RebalanceTimeoutMs is the coordinator's own, shown with every member.
	RebalanceTimeoutMs int64
}

// Group returns the group at a glance.
func Group(s Source) protocol.GroupResponse {
	g := s.Group
	response := protocol.GroupResponse{
		StreamPrefix:             g.StreamPrefix,
		ConsumerGroup:            g.ConsumerGroup,
		State:                    State(s),
		GroupEpoch:               g.GroupEpoch,
		AssignmentEpoch:          g.AssignmentEpoch,
		MetadataVersion:          g.MetadataVersion,
		ShardCount:               g.ShardCount,
		TargetAssignmentSummary:  map[string]int{},
		CurrentAssignmentSummary: map[string]int{},
		Lineage:                  g.Lineage,
		UnassignedShards:         []int{},
		LostShards:               append([]int{}, g.Lost...),
		SurplusMembers:           []string{},
	}
	for shard, owner := range g.Target {
		if m, _ := g.Find(owner); g.Open(shard) && m.State != group.Active { // nobody, or one who is away (J4, J5)
			response.UnassignedShards = append(response.UnassignedShards, shard)
		}
		if owner != "" {
			response.TargetAssignmentSummary[owner]++
		}
		if h := g.Holds[shard]; h.Member != "" {
			response.CurrentAssignmentSummary[h.Member]++
		}
	}
	for _, m := range g.Members {
		if m.State == group.Active && response.TargetAssignmentSummary[m.ID] == 0 {
			response.SurplusMembers = append(response.SurplusMembers, m.ID)
		}
	}
	if g.BarrierUntil != 0 {
		until := protocol.AtMillis(int64(g.BarrierUntil))
		response.BarrierUntil = &until
	}
	return response
}

// State is the state of a group (wire contract, Meaning of states; I15).
func State(s Source) protocol.GroupState {
	g := s.Group
	held := slices.ContainsFunc(g.Holds, func(h group.Hold) bool { return h.Member != "" })
	switch {
	case !g.HasListening():
		return protocol.GroupEmpty
	case stable(s):
		return protocol.GroupStable
	case !held:
		return protocol.GroupAssigning
	default:
		return protocol.GroupReconciling
	}
}

// stable tells whether reported = held = target, with nothing lingering, no round and no
// barrier (I15). A shard that is closed is wanted by nobody: it must not be held or
// reported either (L5).
func stable(s Source) bool {
	g := s.Group
	if g.Round != nil || g.BarrierUntil != 0 {
		return false
	}
	reported := make([]string, len(g.Target))
	for _, m := range g.Members {
		if !m.Listening() {
			continue
		}
		for _, shard := range s.Detail[m.ID].Owned {
			if shard < 0 || shard >= len(reported) || g.Target[shard] != m.ID {
				return false // it reports what it should not read, perhaps beside another
			}
			reported[shard] = m.ID
		}
	}
	for shard, owner := range g.Target {
		h := g.Holds[shard]
		if !g.Open(shard) && h.Member == "" {
			continue
		}
		if owner == "" || h.Member != owner || h.Told || h.Lingers != 0 || reported[shard] != owner {
			return false
		}
	}
	return true
}

// Assignments shows who should read, who may be reading, and what is being given back.
func Assignments(s Source) protocol.AssignmentsResponse {
	response := protocol.AssignmentsResponse{
		TargetAssignment:    map[string][]protocol.ShardID{},
		CurrentAssignments:  map[string][]protocol.ShardID{},
		RevokeProgress:      map[string][]protocol.ShardID{},
		InvariantViolations: violations(s),
	}
	for shard, owner := range s.Group.Target {
		id := protocol.ShardID{ShardIndex: shard}
		if owner != "" {
			response.TargetAssignment[owner] = append(response.TargetAssignment[owner], id)
		}
		h := s.Group.Holds[shard]
		if h.Member == "" {
			continue
		}
		response.CurrentAssignments[h.Member] = append(response.CurrentAssignments[h.Member], id)
		if h.Told || h.Lingers != 0 {
			response.RevokeProgress[h.Member] = append(response.RevokeProgress[h.Member], id)
		}
	}
	return response
}

// violations names the shards that a live member reports as read without holding them: a
// client that reads what it may not (I1). Sorted by member.
func violations(s Source) []string {
	found := []string{}
	for _, m := range s.Group.Members {
		if !m.Listening() {
			continue
		}
		for _, shard := range s.Detail[m.ID].Owned {
			if holder := holderOf(s.Group, shard); holder != m.ID {
				found = append(found, fmt.Sprintf("member %q reports shard %d, which %q holds", m.ID, shard, holder))
			}
		}
	}
	return found
}

// holderOf returns the member that holds a shard, "" for none.
func holderOf(g *group.Group, shard int) string {
	if shard < 0 || shard >= len(g.Holds) {
		return ""
	}
	return g.Holds[shard].Member
}
