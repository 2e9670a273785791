package views

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// GrafanaGroups returns one row for each group; never nil.
func GrafanaGroups(round facts.Round, snap rates.Snapshot) []protocol.GrafanaGroupRow {
	rows := make([]protocol.GrafanaGroupRow, 0, len(round.Groups))
	for i := range round.Groups {
		g := &round.Groups[i]
		rows = append(rows, groupRow(g, sumUp(round, g, shardsOf(round, snap, g))))
	}
	return rows
}

func groupRow(g *facts.Group, sums sums) protocol.GrafanaGroupRow {
	owners := ownersOf(g)
	routed := 0
	for shard := range owners.current {
		if shard < g.View.ShardCount {
			routed++
		}
	}
	row := protocol.GrafanaGroupRow{
		StreamPrefix:          g.View.StreamPrefix,
		ConsumerGroup:         g.View.ConsumerGroup,
		State:                 g.View.State,
		GroupEpoch:            g.View.GroupEpoch,
		AssignmentEpoch:       g.View.AssignmentEpoch,
		MetadataVersion:       g.View.MetadataVersion,
		ShardCount:            g.View.ShardCount,
		TotalMembers:          len(g.Members),
		CurrentShards:         len(owners.current),
		TargetShards:          len(owners.target),
		AssignedShardRatio:    fmt.Sprintf("%d / %d", routed, g.View.ShardCount),
		RevokingShards:        len(owners.revoking),
		TotalStreamLength:     sums.length,
		TotalPendingCount:     sums.pending,
		TotalLag:              sums.lag,
		ProducedPerSecond:     sums.produced,
		ConsumedPerSecond:     sums.consumed,
		TotalMemoryUsageBytes: sums.memory,
		MemoryUsageKnown:      sums.memoryKnown,
		GroupSignals:          sums.signals,
	}
	for _, m := range g.Members {
		if m.State == protocol.MemberActive || m.State == protocol.MemberStarting {
			row.ActiveMembers++
		}
	}
	return row
}

// GrafanaShards returns one row for each shard of the groups that two filters let pass; an
// empty one lets all. It is never nil.
func GrafanaShards(round facts.Round, snap rates.Snapshot, stream, group string) []protocol.GrafanaShardRow {
	rows := []protocol.GrafanaShardRow{}
	for _, g := range matching(round, stream, group) {
		owners := ownersOf(g)
		for _, shard := range shardsOf(round, snap, g) {
			rows = append(rows, shardRow(g, owners, shard))
		}
	}
	return rows
}

func shardRow(g *facts.Group, owners owners, s shard) protocol.GrafanaShardRow {
	delivered, acked := owners.progress(s.Index)
	current := strings.Join(owners.current[s.Index], ",")
	return protocol.GrafanaShardRow{
		StreamPrefix:            g.View.StreamPrefix,
		ConsumerGroup:           g.View.ConsumerGroup,
		ShardCount:              g.View.ShardCount,
		ShardIndex:              s.Index,
		ShardLabel:              label(s.Index),
		StreamKey:               s.Key,
		RedisSlot:               routing.Slot(s.Key),
		RedisNodeEndpoint:       s.Node.Endpoint,
		RedisNodeID:             s.Node.ID,
		RedisSlotRangeStart:     s.Node.SlotFirst,
		RedisSlotRangeEnd:       s.Node.SlotLast,
		StreamLength:            s.Length,
		FirstRecordID:           s.FirstID,
		LastRecordID:            s.LastID,
		LastGeneratedID:         s.LastGeneratedID,
		GroupLastDeliveredID:    s.group.LastDeliveredID,
		ConsumerLastDeliveredID: delivered,
		ConsumerLastAckedID:     acked,
		PendingCount:            s.group.Pending,
		Lag:                     s.rate.Lag.Value,
		LagKnown:                s.rate.Lag.Known(),
		ProducedPerSecond:       s.rate.ProducedPerSecond,
		ConsumedPerSecond:       s.rate.ConsumedPerSecond,
		MemoryUsageBytes:        s.Memory,
		MemoryUsageKnown:        s.Memory != nil,
		TargetOwnerMemberIDs:    strings.Join(owners.target[s.Index], ","),
		CurrentOwnerMemberIDs:   current,
		OwnerState:              owners.state(s.Index),
		OwnerMemberIDs:          current,
		ShardSignals:            s.signals(),
	}
}

// GrafanaMembers returns one row for each member of a group; empty, never nil, where there is
// no such group.
func GrafanaMembers(round facts.Round, stream, group string) []protocol.GrafanaMemberRow {
	rows := []protocol.GrafanaMemberRow{}
	g, found := find(round, stream, group)
	if !found {
		return rows
	}
	for _, m := range g.Members {
		rows = append(rows, protocol.GrafanaMemberRow{
			StreamPrefix:          stream,
			ConsumerGroup:         group,
			MemberID:              m.MemberID,
			MemberName:            m.MemberName,
			State:                 m.State,
			MemberEpoch:           m.MemberEpoch,
			MetadataVersion:       m.MetadataVersion,
			CurrentShardCount:     len(m.CurrentAssignment),
			RevokingShardCount:    len(m.Revoking),
			RuntimeMaxConcurrency: m.RuntimeMaxConcurrency,
			ActiveConsumerWorkers: m.ActiveConsumerWorkers,
			LastHeartbeatAt:       m.LastHeartbeatAt,
			MemberLeaseExpiresAt:  m.MemberLeaseExpiresAt,
		})
	}
	return rows
}

// GrafanaAssignments returns one row for each shard of a group that it reads or should;
// empty, never nil, where there is no such group.
func GrafanaAssignments(round facts.Round, stream, group string) []protocol.GrafanaAssignmentRow {
	rows := []protocol.GrafanaAssignmentRow{}
	g, found := find(round, stream, group)
	if !found {
		return rows
	}
	owners := ownersOf(g)
	shards := map[int]struct{}{}
	for shard := range g.View.ShardCount {
		shards[shard] = struct{}{}
	}
	for _, list := range []map[int][]string{owners.target, owners.current, owners.revoking} {
		for shard := range list {
			shards[shard] = struct{}{}
		}
	}
	for _, shard := range slices.Sorted(maps.Keys(shards)) {
		rows = append(rows, protocol.GrafanaAssignmentRow{
			StreamPrefix:   stream,
			ConsumerGroup:  group,
			ShardIndex:     shard,
			TargetOwners:   strings.Join(owners.target[shard], ","),
			CurrentOwners:  strings.Join(owners.current[shard], ","),
			RevokingOwners: strings.Join(owners.revoking[shard], ","),
		})
	}
	return rows
}
