package views_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/views"
)

func TestGrafanaGroups(t *testing.T) {
	t.Parallel()
	round, snap := observed(func(r *facts.Round) {
		g := groupOf(r)
		g.Members[1].State = protocol.MemberStarting
		g.Members = append(g.Members, protocol.MemberMetadata{MemberID: "c", State: protocol.MemberExpired})
		g.Assignments.RevokeProgress["a"] = []protocol.ShardID{{}}
	})
	rows := views.GrafanaGroups(round, snap)
	require.Len(t, rows, 3)
	require.Equal(t, protocol.GrafanaGroupRow{
		StreamPrefix: "orders", ConsumerGroup: "billing", State: protocol.GroupStable, GroupEpoch: 5, AssignmentEpoch: 5, MetadataVersion: 9, ShardCount: 2,
		ActiveMembers: 2, TotalMembers: 3, CurrentShards: 2, TargetShards: 2, AssignedShardRatio: "2 / 2", RevokingShards: 1,
		TotalStreamLength: 220, TotalPendingCount: 6, TotalLag: new(int64(60)), ProducedPerSecond: new(4.0), ConsumedPerSecond: new(8.0),
		TotalMemoryUsageBytes: 2000, MemoryUsageKnown: true, GroupSignals: offsets(t).GroupSignals,
	}, rows[1])
	require.Equal(t, "audit", rows[0].ConsumerGroup)
	require.Equal(t, "0 / 2", rows[0].AssignedShardRatio)
	require.Equal(t, int64(220), *rows[0].TotalLag)
	require.Zero(t, *rows[0].ConsumedPerSecond)
	require.Nil(t, rows[0].TimeToDrainSeconds, "it never ends")
	require.Equal(t, "0 / 0", rows[2].AssignedShardRatio)
}

// TestAssignedShardRatioIsOfTheRoutingSet: removed shards do not make it more than all.
func TestAssignedShardRatioIsOfTheRoutingSet(t *testing.T) {
	t.Parallel()
	round, snap := observed(func(r *facts.Round) { groupOf(r).View.ShardCount = 1 })
	row := views.GrafanaGroups(round, snap)[1]
	require.Equal(t, "1 / 1", row.AssignedShardRatio)
	require.Equal(t, 2, row.CurrentShards)
}

func TestGrafanaShards(t *testing.T) {
	t.Parallel()
	round, snap := observed()
	rows := views.GrafanaShards(round, snap, "orders", "billing")
	require.Len(t, rows, 2)
	want := offsets(t).Shards[1]
	require.Equal(t, protocol.GrafanaShardRow{
		StreamPrefix: "orders", ConsumerGroup: "billing", ShardCount: 2, ShardIndex: 1, ShardLabel: ":1", StreamKey: "orders:1", RedisSlot: want.RedisSlot,
		RedisNodeEndpoint: want.RedisNodeEndpoint, RedisNodeID: want.RedisNodeID, RedisSlotRangeStart: new(0), RedisSlotRangeEnd: new(16383),
		StreamLength: 110, FirstRecordID: id(1), LastRecordID: id(110), LastGeneratedID: id(110), GroupLastDeliveredID: id(80),
		ConsumerLastDeliveredID: id(70), ConsumerLastAckedID: id(65), PendingCount: 3, Lag: new(int64(30)), LagKnown: true,
		ProducedPerSecond: new(2.0), ConsumedPerSecond: new(4.0), MemoryUsageBytes: new(int64(1000)), MemoryUsageKnown: true,
		TargetOwnerMemberIDs: "b", CurrentOwnerMemberIDs: "b", OwnerState: protocol.OwnerCurrent, OwnerMemberIDs: "b", ShardSignals: want.ShardSignals,
	}, rows[1])
}

// TestGrafanaShardsFilters: an empty name is no filter on that part, both empty mean all.
func TestGrafanaShardsFilters(t *testing.T) {
	t.Parallel()
	round, snap := observed()
	for _, test := range []struct {
		stream, group string
		want          int
	}{
		{"", "", 4}, {"orders", "", 4}, {"", "billing", 2}, {"orders", "audit", 2}, {"users", "", 0}, {"users", "billing", 0}, {"other", "", 0}, {"", "other", 0},
	} {
		rows := views.GrafanaShards(round, snap, test.stream, test.group)
		require.Len(t, rows, test.want, "%q %q", test.stream, test.group)
		require.NotNil(t, rows)
	}
}

// TestOwnerState (wire contract, Meaning of states).
func TestOwnerState(t *testing.T) {
	t.Parallel()
	other := []protocol.ShardID{{ShardIndex: 0}, {ShardIndex: 1}}
	for name, test := range map[string]struct {
		change func(*facts.Group)
		want   protocol.OwnerState
	}{
		"held and reported, group stable": {func(g *facts.Group) { g.Members = nil }, protocol.OwnerCurrent},
		"held and reported":               {func(g *facts.Group) { g.View.State = protocol.GroupReconciling }, protocol.OwnerCurrent},
		"held, not reported": {func(g *facts.Group) {
			g.View.State, g.Members[0].ShardProgress = protocol.GroupReconciling, nil
		}, protocol.OwnerPendingAck},
		"held, reported by another": {func(g *facts.Group) {
			g.View.State, g.Members[0].ShardProgress, g.Members[1].ShardProgress[0].Shard.ShardIndex = protocol.GroupReconciling, nil, 0
		}, protocol.OwnerPendingAck},
		"wanted by another": {func(g *facts.Group) {
			g.Assignments.TargetAssignment = map[string][]protocol.ShardID{"b": other}
		}, protocol.OwnerTransitioning},
		"wanted, not held":  {func(g *facts.Group) { delete(g.Assignments.CurrentAssignments, "a") }, protocol.OwnerTransitioning},
		"held, not wanted":  {func(g *facts.Group) { delete(g.Assignments.TargetAssignment, "a") }, protocol.OwnerTransitioning},
		"told to drop":      {func(g *facts.Group) { g.Assignments.RevokeProgress["a"] = other[:1] }, protocol.OwnerTransitioning},
		"nobody's business": {func(g *facts.Group) { g.Assignments = protocol.AssignmentsResponse{} }, protocol.OwnerUnassigned},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			round, snap := observed(func(r *facts.Round) { test.change(groupOf(r)) })
			require.Equal(t, test.want, views.GrafanaShards(round, snap, "orders", "billing")[0].OwnerState)
		})
	}
}

// TestOwnersAreSortedAndTheFurthestReportCounts while a shard is handed over.
func TestOwnersAreSortedAndTheFurthestReportCounts(t *testing.T) {
	t.Parallel()
	round, snap := observed(func(r *facts.Round) {
		g := groupOf(r)
		g.Assignments.CurrentAssignments = map[string][]protocol.ShardID{"b": {{ShardIndex: 0}}, "a": {{ShardIndex: 0}}, "c": {{ShardIndex: 0}}}
		g.Members[1].ShardProgress[0] = protocol.ShardProgress{LastDeliveredID: new("1767225600070-12"), LastAckedID: new("999-0")}
		g.Members[0].ShardProgress[0].LastDeliveredID = new("1767225600070-7")
	})
	row := views.GrafanaShards(round, snap, "orders", "billing")[0]
	require.Equal(t, "a,b,c", row.CurrentOwnerMemberIDs)
	require.Equal(t, "a,b,c", row.OwnerMemberIDs)
	require.Equal(t, "1767225600070-12", *row.ConsumerLastDeliveredID)
	require.Equal(t, *id(65), *row.ConsumerLastAckedID)
	require.Empty(t, views.GrafanaShards(round, snap, "orders", "audit")[0].OwnerMemberIDs)
}

func TestGrafanaMembers(t *testing.T) {
	t.Parallel()
	round, _ := observed(func(r *facts.Round) { groupOf(r).Members[1].Revoking = []protocol.ShardID{{ShardIndex: 1}} })
	rows := views.GrafanaMembers(round, "orders", "billing")
	require.Len(t, rows, 2)
	require.Equal(t, protocol.GrafanaMemberRow{
		StreamPrefix: "orders", ConsumerGroup: "billing", MemberID: "b", MemberName: "node b", State: protocol.MemberActive, MemberEpoch: 4, MetadataVersion: 9,
		CurrentShardCount: 1, RevokingShardCount: 1, RuntimeMaxConcurrency: 8, ActiveConsumerWorkers: 5,
		LastHeartbeatAt: protocol.AtMillis(1), MemberLeaseExpiresAt: protocol.AtMillis(2),
	}, rows[1])
}

func TestGrafanaAssignments(t *testing.T) {
	t.Parallel()
	round, _ := observed(func(r *facts.Round) {
		g := groupOf(r)
		g.View.ShardCount = 3
		g.Assignments.RevokeProgress["b"] = []protocol.ShardID{{ShardIndex: 7}}
	})
	name := protocol.GrafanaAssignmentRow{StreamPrefix: "orders", ConsumerGroup: "billing"}
	row := func(index int, target, current, revoking string) protocol.GrafanaAssignmentRow {
		row := name
		row.ShardIndex, row.TargetOwners, row.CurrentOwners, row.RevokingOwners = index, target, current, revoking
		return row
	}
	require.Equal(t, []protocol.GrafanaAssignmentRow{
		row(0, "a", "a", ""), row(1, "b", "b", ""), row(2, "", "", ""), row(7, "", "", "b"),
	}, views.GrafanaAssignments(round, "orders", "billing"))
}

func TestOptions(t *testing.T) {
	t.Parallel()
	round, _ := observed()
	option := func(text, value string) protocol.GrafanaOptionRow {
		return protocol.GrafanaOptionRow{Text: text, Value: value}
	}
	require.Equal(t, []protocol.GrafanaOptionRow{option("orders", "orders"), option("users", "users")}, views.StreamOptions(round), "each once")
	require.Equal(t, []protocol.GrafanaOptionRow{
		option("orders / audit", "audit"), option("orders / billing", "billing"), option("users / mails", "mails"),
	}, views.GroupOptions(round, ""))
	require.Equal(t, []protocol.GrafanaOptionRow{option("users / mails", "mails")}, views.GroupOptions(round, "users"))
	require.Equal(t, []protocol.GrafanaOptionRow{option(":0", "0"), option(":1", "1")}, views.ShardOptions(round, "orders", "billing"))
}

// TestEmptyNamesGiveEmptyLists where a group is needed, and so does nothing at all.
func TestEmptyNamesGiveEmptyLists(t *testing.T) {
	t.Parallel()
	round, snap := observed()
	for _, name := range [][2]string{{"", ""}, {"orders", ""}, {"", "billing"}, {"orders", "other"}} {
		for _, list := range []any{
			views.GrafanaMembers(round, name[0], name[1]), views.GrafanaAssignments(round, name[0], name[1]), views.ShardOptions(round, name[0], name[1]),
		} {
			requireEmpty(t, list)
		}
	}
	var nothing facts.Round
	for _, list := range []any{
		views.GrafanaGroups(nothing, snap), views.GrafanaShards(nothing, snap, "", ""), views.StreamOptions(nothing), views.GroupOptions(nothing, ""),
		views.Groups(nothing, snap),
	} {
		requireEmpty(t, list)
	}
}

func requireEmpty(t *testing.T, list any) {
	t.Helper()
	require.Empty(t, list)
	require.False(t, reflect.ValueOf(list).IsNil(), "a list is never null")
}
