package httpapi

import "github.com/redis-stream-coordinator/rsc/libs/protocol"

// The functions here return a copy of an answer in which every list and map is there,
// as the contract has no null in their place. They leave the original alone: it may be
// shared with other requests.

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func orEmptyMap[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return m
}

func each[T any](list []T, complete func(T) T) []T {
	completed := make([]T, len(list))
	for i, item := range list {
		completed[i] = complete(item)
	}
	return completed
}

func completeHeartbeat(h protocol.HeartbeatResponse) protocol.HeartbeatResponse {
	h.Assignment.AssignedShards = orEmpty(h.Assignment.AssignedShards)
	h.Assignment.PendingShards = orEmpty(h.Assignment.PendingShards)
	return h
}

func completeGroup(g protocol.GroupResponse) protocol.GroupResponse {
	g.TargetAssignmentSummary = orEmptyMap(g.TargetAssignmentSummary)
	g.CurrentAssignmentSummary = orEmptyMap(g.CurrentAssignmentSummary)
	g.UnassignedShards = orEmpty(g.UnassignedShards)
	g.LostShards = orEmpty(g.LostShards)
	g.SurplusMembers = orEmpty(g.SurplusMembers)
	if g.ActiveMigration != nil {
		active := completeMigration(*g.ActiveMigration)
		g.ActiveMigration = &active
	}
	return g
}

func completeCreated(c protocol.StreamCreateResponse) protocol.StreamCreateResponse {
	c.ConsumerGroups = orEmpty(c.ConsumerGroups)
	return c
}

func completeStream(s protocol.StreamResponse) protocol.StreamResponse {
	s.ConsumerGroups = orEmpty(s.ConsumerGroups)
	s.Groups = each(s.Groups, completeGroup)
	return s
}

func completeStreams(s protocol.StreamsResponse) protocol.StreamsResponse {
	s.Streams = each(s.Streams, completeStream)
	return s
}

func completeMembers(m protocol.MembersResponse) protocol.MembersResponse {
	m.Members = each(m.Members, func(member protocol.MemberMetadata) protocol.MemberMetadata {
		member.CurrentAssignment = orEmpty(member.CurrentAssignment)
		member.GrantedAssignment = orEmpty(member.GrantedAssignment)
		member.Revoking = orEmpty(member.Revoking)
		member.ShardProgress = orEmpty(member.ShardProgress)
		return member
	})
	return m
}

func completeAssignments(a protocol.AssignmentsResponse) protocol.AssignmentsResponse {
	a.TargetAssignment = completeShards(a.TargetAssignment)
	a.CurrentAssignments = completeShards(a.CurrentAssignments)
	a.RevokeProgress = completeShards(a.RevokeProgress)
	a.InvariantViolations = orEmpty(a.InvariantViolations)
	return a
}

func completeShards(byMember map[string][]protocol.ShardID) map[string][]protocol.ShardID {
	completed := make(map[string][]protocol.ShardID, len(byMember))
	for member, shards := range byMember {
		completed[member] = orEmpty(shards)
	}
	return completed
}

func completeMigrations(m protocol.MigrationsResponse) protocol.MigrationsResponse {
	m.Migrations = each(m.Migrations, completeMigration)
	return m
}

func completeMigration(m protocol.Migration) protocol.Migration {
	if m.Progress == nil {
		return m
	}
	progress := *m.Progress
	progress.Groups = orEmpty(progress.Groups)
	progress.Shards = each(progress.Shards, func(shard protocol.ShardDrain) protocol.ShardDrain {
		shard.Owners = orEmpty(shard.Owners)
		return shard
	})
	m.Progress = &progress
	return m
}

func completeScaled(s protocol.StreamScaleResponse) protocol.StreamScaleResponse {
	s.AffectedConsumerGroups = orEmpty(s.AffectedConsumerGroups)
	s.Migrations = each(s.Migrations, completeMigration)
	return s
}

func completePlan(p protocol.Plan) protocol.Plan {
	p.ShardsAdded = orEmpty(p.ShardsAdded)
	p.ShardsRemoved = orEmpty(p.ShardsRemoved)
	p.Warnings = orEmpty(p.Warnings)
	p.Groups = each(p.Groups, func(group protocol.GroupPlan) protocol.GroupPlan {
		group.Moves = each(group.Moves, func(move protocol.MemberMove) protocol.MemberMove {
			move.Gains, move.Loses = orEmpty(move.Gains), orEmpty(move.Loses)
			return move
		})
		return group
	})
	return p
}

func completeRepairedIndex(r protocol.RepairIndexResponse) protocol.RepairIndexResponse {
	r.Added, r.Removed = orEmpty(r.Added), orEmpty(r.Removed)
	return r
}

func completeEvents(e protocol.EventsResponse) protocol.EventsResponse {
	e.Events = each(e.Events, func(event protocol.GroupEvent) protocol.GroupEvent {
		event.Changes = orEmpty(event.Changes)
		event.Shards = orEmpty(event.Shards)
		return event
	})
	return e
}
