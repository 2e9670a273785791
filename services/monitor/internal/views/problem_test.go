package views_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/views"
)

// TestProblemsNameWhatIsWrongAndWhere, the group's first.
func TestProblemsNameWhatIsWrongAndWhere(t *testing.T) {
	t.Parallel()
	on := func(problem string, shard int, detail string) protocol.GroupProblem {
		return protocol.GroupProblem{Problem: problem, ShardIndex: &shard, Detail: detail}
	}
	group := func(change func(*facts.ShardGroup)) func(*facts.Round) {
		return func(r *facts.Round) {
			g := shardOf(r, 1).Groups["billing"]
			change(&g)
			shardOf(r, 1).Groups["billing"] = g
		}
	}
	for name, test := range map[string]struct {
		change  func(*facts.Round)
		want    protocol.GroupProblem
		partial bool
	}{
		"the coordinator is away": {
			func(r *facts.Round) { r.Problem = "connection refused" },
			protocol.GroupProblem{Problem: "STRUCTURE_OLD", Detail: "connection refused"},
			true,
		},
		"unreadable metadata": {
			func(r *facts.Round) { groupOf(r).Problem = "METADATA_CORRUPT" }, protocol.GroupProblem{Problem: "METADATA_CORRUPT"}, true,
		},
		"a client that reads what it may not": {
			func(r *facts.Round) { groupOf(r).Assignments.InvariantViolations = []string{"member x"} },
			protocol.GroupProblem{Problem: "INVARIANT_VIOLATION", Detail: "member x"},
			false,
		},
		"F32 a shard without an owner": {func(r *facts.Round) { groupOf(r).View.UnassignedShards = []int{1} }, on("UNASSIGNED", 1, ""), false},
		"a lost shard":                 {func(r *facts.Round) { groupOf(r).View.LostShards = []int{0} }, on("LOST_SHARD", 0, ""), false},
		"a missing key": {func(r *facts.Round) {
			*shardOf(r, 1) = facts.Shard{Index: 1, Problem: facts.ProblemMissing, Detail: "no such key"}
		}, on("STREAM_MISSING", 1, "no such key"), true},
		"a missing group": {func(r *facts.Round) { delete(shardOf(r, 1).Groups, "billing") }, on("GROUP_MISSING", 1, ""), true},
		"an unknown lag":  {group(func(g *facts.ShardGroup) { g.Lag = nil }), on("LAG_UNKNOWN", 1, ""), false},
		"F03 a lag of 0 with unread entries": {
			group(func(g *facts.ShardGroup) { g.Lag = new(int64) }), on("LAG_BELOW_TAIL", 1, ""), false,
		},
		"F23 a cursor that went back": {group(func(g *facts.ShardGroup) { g.LastDeliveredID = id(20) }), on("GROUP_REGRESSED", 1, ""), false},
		"trimmed before it was read": {func(r *facts.Round) {
			shardOf(r, 1).FirstID, shardOf(r, 1).Length = id(91), 20
			group(func(g *facts.ShardGroup) { g.Lag = new(int64(20)) })(r)
		}, on("TRIMMED_UNREAD", 1, "10 entries went away before they were read"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			round, snap := observed(test.change)
			shown, found := views.Group(round, snap, "orders", "billing")
			require.True(t, found)
			require.Equal(t, []protocol.GroupProblem{test.want}, shown.Problems)
			require.Equal(t, test.partial, shown.Partial)
			require.Equal(t, test.partial, shown.Problem != nil)
		})
	}
}

func TestAGroupAtAGlance(t *testing.T) {
	t.Parallel()
	round, snap := observed()
	shown, found := views.Group(round, snap, "orders", "billing")
	require.True(t, found)
	require.Equal(t, protocol.MonitoredGroup{
		GroupResponse: round.Groups[1].View, TotalStreamLength: 220, TotalPendingCount: 6, TotalLag: new(int64(60)), TotalMemoryUsageBytes: 2000,
		MemoryUsageKnown: true, ProducedPerSecond: new(4.0), ConsumedPerSecond: new(8.0), GroupSignals: offsets(t).GroupSignals,
		Problems: []protocol.GroupProblem{},
	}, shown)
	require.Len(t, views.Groups(round, snap), 3)
	require.Equal(t, shown, views.Groups(round, snap)[1])
}
