package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
)

// titles are those of a page's problems.
func titles(page model.Group) []string {
	found := []string{}
	for _, problem := range page.Problems {
		found = append(found, problem.Title)
	}
	return found
}

// Every problem that the monitor knows says what it means and what can be done.
func TestEveryKnownProblemIsExplained(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"STREAM_MISSING", "WRONG_TYPE", "GROUP_MISSING", "UNREACHABLE",
		protocol.ProblemStructure, protocol.ProblemUnassigned, protocol.ProblemLost, protocol.ProblemInvariant, protocol.ProblemTrimmedUnread, protocol.ProblemRegressed,
		string(protocol.LagNotObserved), string(protocol.LagUnknown), string(protocol.LagNegative), string(protocol.LagContradictsTail),
		string(protocol.LagAboveLength), string(protocol.LagBelowTail), string(protocol.LagDeleted),
		string(protocol.CodeMetadataMissing), string(protocol.CodeMetadataCorrupt),
	} {
		kind := model.KindOfProblem(name)
		require.NotEmpty(t, kind.Text, name)
		require.NotEmpty(t, kind.Advice, name)
		require.Contains(t, []string{"bad", "warn"}, kind.Tone, name)
	}
	require.Equal(t, "Of a later monitor", model.KindOfProblem("OF_A_LATER_MONITOR").Title)
}

func TestAGroupThatIsWellHasNoProblems(t *testing.T) {
	t.Parallel()
	page := pageOf(sceneOf([]protocol.GrafanaShardRow{shard(0, "a", "a", protocol.OwnerCurrent)}, []protocol.MemberMetadata{member("a", protocol.MemberActive, "ACTIVE")}))
	require.Empty(t, page.Problems)
}

func TestProblemsOfOneKindStandTogetherWorstFirst(t *testing.T) {
	t.Parallel()
	var rows []protocol.GrafanaShardRow
	for i := range 30 {
		row := shard(i, "a", "a", protocol.OwnerCurrent)
		row.LagKnown, row.Lag, row.LagReason = false, nil, new(protocol.LagUnknown)
		if i == 29 {
			row.Problem, row.ProblemDetail = new("UNREACHABLE"), new("connection refused")
		}
		if i == 28 {
			row.TrimmedUnreadAlarm, row.TrimmedUnread, row.ShardLabel = true, new(int64(1200)), ":28"
		}
		rows = append(rows, row)
	}
	page := pageOf(sceneOf(rows, nil))
	require.Equal(t, []string{"Records went away before they were read", "Shards cannot be looked at", "The lag is not known"}, titles(page))
	lag := page.Problems[2]
	require.Len(t, lag.Shards, 20)
	require.Equal(t, 9, lag.More, "a shard that cannot be seen has no second problem")
	require.Equal(t, "/console/streams/orders/groups/billing?shard=0#shards", lag.Shards[0].Address)
	require.Equal(t, []string{"connection refused"}, page.Problems[1].Details)
	require.Equal(t, []string{"1\u202f200 records lost on shard :28"}, page.Problems[0].Details)
	require.Equal(t, "–", page.Shards.Lines[29].Pending, "0 would be a lie")
}

// What the monitor tells of the structure comes once, also where two sources tell it.
func TestProblemsOfTheStructureAreSaidOnce(t *testing.T) {
	t.Parallel()
	page := pageOf(sceneOf(nil, nil, func(g *protocol.MonitoredGroup, d *model.GroupDetails) {
		g.UnassignedShards, g.LostShards = []int{2}, []int{3}
		until := at(7000)
		g.BarrierUntil = &until
		g.SurplusMembers = []string{"x"}
		d.Assignments = &protocol.AssignmentsResponse{InvariantViolations: []string{"member x reads 1"}}
		d.Events = []protocol.GroupEvent{{At: at(-9000), Cause: protocol.EventCorrection}}
		g.Problems = []protocol.GroupProblem{
			{Problem: protocol.ProblemStructure, Detail: "the coordinator is away"},
			{Problem: protocol.ProblemInvariant, Detail: "member x reads 1"},
			{Problem: protocol.ProblemUnassigned, ShardIndex: new(2)},
			{Problem: protocol.ProblemLost, ShardIndex: new(3)},
			{Problem: "NEW_KIND", ShardIndex: new(1), Detail: "something"},
		}
		d.Problems = g.Problems
	}))
	require.Equal(t, []string{
		"A client reads what it may not", "Shards are lost", "New kind",
		"What is shown of members and owners is old", "Shards without a reader",
		"Nothing is given away for a while", "Members without work",
	}, titles(page))
	require.Equal(t, []string{"the coordinator is away"}, page.Problems[3].Details)
	require.Equal(t, []string{"something"}, page.Problems[2].Details)
	require.Equal(t, "2023-11-14 22:13:11 UTC", page.Problems[5].Since.Text)
	require.Equal(t, "2023-11-14 22:13:27 UTC", page.Problems[5].Until.Text)
}

func TestAGroupWithoutMembersSaysSinceWhen(t *testing.T) {
	t.Parallel()
	page := pageOf(sceneOf([]protocol.GrafanaShardRow{shard(0, "", "", protocol.OwnerUnassigned)}, nil, func(g *protocol.MonitoredGroup, d *model.GroupDetails) {
		g.State, g.UnassignedShards = protocol.GroupEmpty, []int{0, 1, 2, 3}
		d.Events = []protocol.GroupEvent{
			{At: at(-9000), Cause: protocol.EventJoin},
			{At: at(-3000), Cause: protocol.EventOther, Changes: []protocol.EventChange{{Cause: protocol.EventExpire}}},
			{At: at(-1000), Cause: protocol.EventForget},
		}
	}))
	require.Equal(t, []string{"No member is alive"}, titles(page), "that nobody reads follows from it")
	require.Equal(t, "2023-11-14 22:13:17 UTC", page.Problems[0].Since.Text)
	require.Equal(t, "warn", page.Head.Tone)
}

// J4, H3.
func TestMembersInTroubleAreNamed(t *testing.T) {
	t.Parallel()
	soon, later := at(10_000), at(20_000)
	page := pageOf(sceneOf(nil, []protocol.MemberMetadata{
		member("f", protocol.MemberFenced, "FENCED"),
		member("e", protocol.MemberExpired, "EXPIRED", func(m *protocol.MemberMetadata) { m.MemberLeaseExpiresAt = at(-5000) }),
		member("w", protocol.MemberExpired, "WAITING"),
		member("r", protocol.MemberActive, "ACTIVE", func(m *protocol.MemberMetadata) {
			m.Revoking, m.RebalanceDeadlineAt = []protocol.ShardID{{ShardIndex: 1}}, &later
		}),
		member("s", protocol.MemberActive, "ACTIVE", func(m *protocol.MemberMetadata) {
			m.Revoking, m.RebalanceDeadlineAt = []protocol.ShardID{{ShardIndex: 2}}, &soon
		}),
		member("t", protocol.MemberActive, "ACTIVE", func(m *protocol.MemberMetadata) { m.Successor = new("I2") }),
	}, func(_ *protocol.MonitoredGroup, d *model.GroupDetails) {
		d.Events = []protocol.GroupEvent{{At: at(-1000), Cause: protocol.EventFenceTimeout, MemberID: new("f")}}
	}))
	found := map[string]model.Problem{}
	for _, problem := range page.Problems {
		found[problem.Title] = problem
	}
	require.Equal(t, []string{"f"}, found["Members were fenced"].Members)
	require.Equal(t, "2023-11-14 22:13:19 UTC", found["Members were fenced"].Since.Text)
	require.Equal(t, []string{"e"}, found["Members are no longer heard"].Members)
	require.Equal(t, "2023-11-14 22:13:15 UTC", found["Members are no longer heard"].Since.Text)
	require.Equal(t, []string{"r", "s"}, found["Members have to release shards"].Members)
	require.Equal(t, "2023-11-14 22:13:30 UTC", found["Members have to release shards"].Until.Text)
	require.Equal(t, []string{"t: process I has it, process I2 asks for it"}, found["Two processes use one member id"].Details)
	require.Len(t, found, 4)
}

func TestAGroupThatIsNotSeenSaysWhy(t *testing.T) {
	t.Parallel()
	name := protocol.GroupName{StreamPrefix: "orders", ConsumerGroup: "billing"}
	require.Contains(t, pageOf(&model.Scene{}).Gone, "was deleted")
	require.Contains(t, pageOf(&model.Scene{Problem: "no coordinator"}).Gone, "no coordinator")
	require.Contains(t, pageOf(&model.Scene{Unreadable: []protocol.UnreadableGroup{{GroupName: name, Problem: "METADATA_CORRUPT"}}}).Gone, "metadata corrupt")
	begun := pageOf(&model.Scene{Groups: map[protocol.GroupName]protocol.GrafanaGroupRow{name: {}}})
	require.Empty(t, begun.Gone)
	require.True(t, begun.Waiting)
}
