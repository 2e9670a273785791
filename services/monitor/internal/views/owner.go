package views

import (
	"slices"
	"strconv"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// owners tells who should read, who may be reading and who gives back each shard of a group.
type owners struct {
	target, current, revoking map[int][]string
	reported                  map[int]map[string]protocol.ShardProgress
	stable                    bool
}

func ownersOf(g *facts.Group) owners {
	o := owners{
		target:   byShard(g.Assignments.TargetAssignment),
		current:  byShard(g.Assignments.CurrentAssignments),
		revoking: byShard(g.Assignments.RevokeProgress),
		reported: map[int]map[string]protocol.ShardProgress{},
		stable:   g.View.State == protocol.GroupStable,
	}
	for _, m := range g.Members {
		for _, p := range m.ShardProgress {
			reports := o.reported[p.Shard.ShardIndex]
			if reports == nil {
				reports = map[string]protocol.ShardProgress{}
				o.reported[p.Shard.ShardIndex] = reports
			}
			reports[m.MemberID] = p
		}
	}
	return o
}

// byShard turns shards by member into members by shard, sorted.
func byShard(byMember map[string][]protocol.ShardID) map[int][]string {
	members := map[int][]string{}
	for member, shards := range byMember {
		for _, shard := range shards {
			members[shard.ShardIndex] = append(members[shard.ShardIndex], member)
		}
	}
	for _, list := range members {
		slices.Sort(list)
	}
	return members
}

// state is how far the hand-off of a shard has come.
func (o owners) state(shard int) protocol.OwnerState {
	target, current := o.target[shard], o.current[shard]
	switch {
	case len(target) == 0 && len(current) == 0:
		return protocol.OwnerUnassigned
	case !slices.Equal(target, current) || len(o.revoking[shard]) > 0:
		return protocol.OwnerTransitioning
	case o.stable || len(o.reported[shard]) > 0 && o.reportedBy(shard, current):
		return protocol.OwnerCurrent
	default:
		return protocol.OwnerPendingAck
	}
}

// reportedBy tells whether all of the members tell progress of a shard.
func (o owners) reportedBy(shard int, members []string) bool {
	return !slices.ContainsFunc(members, func(member string) bool {
		_, found := o.reported[shard][member]
		return !found
	})
}

// named tells whether anybody holds a shard or should.
func (o owners) named(shard int) bool { return len(o.target[shard])+len(o.current[shard]) > 0 }

// progress returns the highest ids that the members report of a shard.
func (o owners) progress(shard int) (delivered, acked *string) {
	for _, p := range o.reported[shard] {
		delivered, acked = later(delivered, p.LastDeliveredID), later(acked, p.LastAckedID)
	}
	return delivered, acked
}

// later returns the id that lies behind the other, nil for none.
func later(a, b *string) *string {
	if a == nil || b != nil && idLess(*a, *b) {
		return b
	}
	return a
}

// idLess compares the ids of records. Numbers without leading zeros are in the order of their
// lengths first.
func idLess(a, b string) bool {
	aMs, aSeq, _ := strings.Cut(a, "-")
	bMs, bSeq, _ := strings.Cut(b, "-")
	if aMs != bMs {
		return numberLess(aMs, bMs)
	}
	return numberLess(aSeq, bSeq)
}

func numberLess(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// label is how dashboards name a shard.
func label(shard int) string { return ":" + strconv.Itoa(shard) }
