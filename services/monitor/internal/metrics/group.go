package metrics

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/views"
)

// offsetsOf returns the shards of a group.
func offsetsOf(look Look, g *facts.Group) protocol.StreamShardOffsetsResponse {
	offsets, _ := views.Offsets(look.Round, look.Snapshot, g.View.StreamPrefix, g.View.ConsumerGroup)
	return offsets
}

// groupFamilies are one series a group, or a few.
type groupFamilies struct {
	// As the coordinator tells.
	groupEpoch, assignmentEpoch, members, stable   family
	migrationActive, migrationAge                  family
	revokePending, violations                      family
	unassigned, lost, surplus, barrier, shardCount family
	// As observed.
	problem, lagUnknown, shardProblems family
	timeToDrain, trimmedAlarm          family
}

func newGroupFamilies(f *families) groupFamilies {
	gauge := func(name, help string, more ...string) family {
		return f.gauge(name, help, append([]string{labelStream, labelGroup}, more...)...)
	}
	return groupFamilies{
		groupEpoch:      gauge("group_epoch", "Number of the membership and layout; it rises when either changes."),
		assignmentEpoch: gauge("assignment_epoch", "The group epoch that the target assignment was computed for."),
		members:         gauge("members", "Members by state: total, active (ACTIVE or STARTING) and expired.", labelState),
		stable:          gauge("group_stable", "1 where what members report, hold and should hold is the same."),
		migrationActive: gauge("migration_active", "1 while a resharding is under way."),
		migrationAge:    gauge("migration_active_age_seconds", "Time since the resharding under way began, 0 without one."),
		revokePending:   gauge("revoke_pending", "Shards that members have been told to give back, over all members."),
		violations:      gauge("invariant_violations", "Violations of the group's invariants now, two owners of one shard among them."),
		unassigned:      gauge("unassigned_shards", "Shards that are read and that no live member is to own."),
		lost:            gauge("lost_shards", "Shards that are read and missing in Redis; nobody is given them."),
		surplus:         gauge("surplus_members", "Live members that own nothing, as there are more members than shards."),
		barrier:         gauge("barrier_active", "1 while nothing is granted because writes may have been lost."),
		shardCount:      gauge("shards", "Shards that producers write to."),

		problem:       gauge("group_problem", "1 for a group whose metadata cannot be read, by the reason.", labelProblem),
		lagUnknown:    gauge("lag_unknown_shards", "Shards whose lag is not known, by the reason; no series without one.", labelReason),
		shardProblems: gauge("problem_shards", "Shards that could not be observed, by the reason; no series without one.", labelProblem),
		timeToDrain:   gauge("time_to_drain_seconds", "How long the slowest shard needs for its lag at its present rates."),
		trimmedAlarm:  gauge("trimmed_unread_alarm", "1 where records went away before the group had read them."),
	}
}

// showTold shows what the coordinator has told in this round.
func (f groupFamilies) showTold(out scrape, g *facts.Group, now time.Time) {
	view := g.View
	stream, group := view.StreamPrefix, view.ConsumerGroup
	out.put(f.groupEpoch, float64(view.GroupEpoch), stream, group)
	out.put(f.assignmentEpoch, float64(view.AssignmentEpoch), stream, group)
	out.put(f.shardCount, float64(view.ShardCount), stream, group)
	out.flag(f.stable, view.State == protocol.GroupStable, stream, group)
	f.showMembers(out, g)
	out.flag(f.migrationActive, view.ActiveMigration != nil, stream, group)
	age := 0.0
	if view.ActiveMigration != nil {
		age = max(0, now.Sub(view.ActiveMigration.CreatedAt.Time).Seconds())
	}
	out.put(f.migrationAge, age, stream, group)
	out.put(f.violations, float64(len(g.Assignments.InvariantViolations)), stream, group)
	out.put(f.unassigned, float64(len(view.UnassignedShards)), stream, group)
	out.put(f.lost, float64(len(view.LostShards)), stream, group)
	out.put(f.surplus, float64(len(view.SurplusMembers)), stream, group)
	out.flag(f.barrier, view.BarrierUntil != nil, stream, group)
}

func (f groupFamilies) showMembers(out scrape, g *facts.Group) {
	stream, group := g.View.StreamPrefix, g.View.ConsumerGroup
	active, expired, revoking := 0, 0, 0
	for i := range g.Members {
		m := &g.Members[i]
		revoking += len(m.Revoking)
		if isActive(m) {
			active++
		}
		if m.State == protocol.MemberExpired {
			expired++
		}
	}
	out.put(f.members, float64(len(g.Members)), stream, group, "total")
	out.put(f.members, float64(active), stream, group, "active")
	out.put(f.members, float64(expired), stream, group, "expired")
	out.put(f.revokePending, float64(revoking), stream, group)
}

// showObserved shows what follows from the shards, and what is wrong with the group.
func (f groupFamilies) showObserved(out scrape, g *facts.Group, offsets protocol.StreamShardOffsetsResponse) {
	stream, group := g.View.StreamPrefix, g.View.ConsumerGroup
	if g.Problem != "" {
		out.put(f.problem, 1, stream, group, g.Problem)
	}
	if len(offsets.Shards) == 0 {
		return
	}
	reasons, problems := map[string]int{}, map[string]int{}
	for i := range offsets.Shards {
		one := &offsets.Shards[i]
		if one.Problem != nil {
			problems[*one.Problem]++
		}
		if !one.LagKnown && one.LagReason != nil {
			reasons[string(*one.LagReason)]++
		}
	}
	for reason, count := range reasons {
		out.put(f.lagUnknown, float64(count), stream, group, reason)
	}
	for problem, count := range problems {
		out.put(f.shardProblems, float64(count), stream, group, problem)
	}
	known(out, f.timeToDrain, offsets.TimeToDrainSeconds, stream, group)
	if !offsets.Partial || offsets.TrimmedUnreadAlarm {
		out.flag(f.trimmedAlarm, offsets.TrimmedUnreadAlarm, stream, group)
	}
}
