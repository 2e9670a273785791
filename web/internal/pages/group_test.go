package pages_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	groupPage = "/console/streams/orders/groups/billing"
	groupPath = "/streams/orders/groups/billing"
)

// aGroup is a group that a test changes before it is told.
type aGroup struct {
	group    protocol.MonitoredGroup
	shards   []protocol.GrafanaShardRow
	members  []protocol.MemberMetadata
	assigned protocol.AssignmentsResponse
	events   []protocol.GroupEvent
}

// stableGroup is a group of two members with two shards each.
func stableGroup() *aGroup {
	now := protocol.AtMillis(1_700_000_000_000)
	g := &aGroup{
		group: protocol.MonitoredGroup{
			GroupResponse: protocol.GroupResponse{
				StreamPrefix: "orders", ConsumerGroup: "billing", State: protocol.GroupStable, GroupEpoch: 7, AssignmentEpoch: 7,
				MetadataVersion: 21, ShardCount: 4, Lineage: "L1",
			},
			TotalLag: new(int64(12)), TotalPendingCount: 3, ProducedPerSecond: new(2.5), ConsumedPerSecond: new(40.0),
			GroupSignals: protocol.GroupSignals{ObservedAt: now, KnownParts: 4, AllParts: 4},
		},
		assigned: protocol.AssignmentsResponse{TargetAssignment: map[string][]protocol.ShardID{}},
		events:   []protocol.GroupEvent{{ID: "1-0", At: protocol.AtMillis(1_600_000_000_000), Cause: protocol.EventJoin, MemberID: new("m-1")}},
	}
	for i := range 2 {
		id := fmt.Sprintf("m-%d", i)
		shards := []protocol.ShardID{{ShardIndex: 2 * i}, {ShardIndex: 2*i + 1}}
		g.assigned.TargetAssignment[id] = shards
		g.members = append(g.members, protocol.MemberMetadata{
			MemberID: id, State: protocol.MemberActive, StateDetail: "ACTIVE", MemberEpoch: 5, CurrentAssignment: shards, Incarnation: "I" + id,
			RuntimeMaxConcurrency: 8, ActiveConsumerWorkers: 3,
			LastHeartbeatAt: protocol.AtMillis(now.UnixMilli() - 1000), MemberLeaseExpiresAt: protocol.AtMillis(now.UnixMilli() + 9000),
		})
		for _, shard := range shards {
			g.shards = append(g.shards, shardRow(shard.ShardIndex, id))
		}
	}
	return g
}

func shardRow(index int, owner string) protocol.GrafanaShardRow {
	return protocol.GrafanaShardRow{
		ShardIndex: index, RedisSlot: 100 + index, RedisNodeEndpoint: new("redis:6379"), Lag: new(int64(3)), LagKnown: true,
		CurrentOwnerMemberIDs: owner, TargetOwnerMemberIDs: owner, OwnerState: protocol.OwnerCurrent, StreamLength: 1234,
	}
}

// tells makes the API of a console tell the group.
func (g *aGroup) tells(c *console) {
	c.answers("GET /monitoring"+groupPath, g.group)
	c.answers("GET /monitoring"+groupPath+"/members", protocol.MembersResponse{Members: g.members})
	c.answers("GET /monitoring"+groupPath+"/assignments", g.assigned)
	c.answers("GET /monitoring"+groupPath+"/migrations", protocol.MigrationsResponse{})
	c.answers("GET /monitoring/grafana/shards", g.shards)
	c.answers("GET "+groupPath+"/events", protocol.EventsResponse{Events: g.events})
}

func TestGroupShowsWhoReadsWhat(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	stableGroup().tells(c)
	got := c.get(t, ops(), groupPage)
	require.Equal(t, http.StatusOK, got.status)
	for _, text := range []string{
		"orders / billing", "Every shard is read by the member that should read it.", "Nothing is wrong with this group.", "All 4 shards are read",
		"m-0", "m-1", "9.0 s of 10.0 s", "1.0 s ago", "3 of 8", "2 of 2", "a member joined", "redis:6379, 103", "1\u202f234", "2.5",
		`href="` + groupPage + `/scale"`, `href="` + groupPage + `/messages?shard=3"`, "page=group", `data-copy="m-1"`,
		`<time datetime="2020-09-13T12:26:40Z">2020-09-13 12:26:40 UTC</time>`, "cannot be read from here",
	} {
		require.Contains(t, got.body, text)
	}
	require.NotContains(t, c.get(t, reader(), groupPage).body, "/scale", "who may only read is not led to a form")
	require.Empty(t, c.calls("POST"))
	require.Equal(t, "ops", c.calls("GET")[0].subject)
}

func TestGroupShowsWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	g := stableGroup()
	g.group.State = protocol.GroupReconciling
	g.group.ActiveMigration = &protocol.Migration{ReshardingID: "R1", FromShardCount: 4, ToShardCount: 6, State: protocol.MigrationActive, CreatedAt: g.group.ObservedAt}
	g.group.Problems = []protocol.GroupProblem{{Problem: "UNREACHABLE", ShardIndex: new(2)}}
	g.shards[2].Problem = new("UNREACHABLE")
	g.shards[3].OwnerState, g.shards[3].TargetOwnerMemberIDs = protocol.OwnerTransitioning, "m-0"
	g.members[1].Revoking = []protocol.ShardID{{ShardIndex: 3}}
	g.tells(c)
	got := c.get(t, ops(), groupPage)
	for _, text := range []string{
		`href="` + groupPage + `/migrations/R1"`, "4 → 6 shards, active", "Shards cannot be looked at", `href="` + groupPage + `?shard=2#shards"`,
		"m-1 has to release it; then m-0 gets it.", "→ m-0", "has to release 3", `href="` + groupPage + `?open=1#shards"`,
	} {
		require.Contains(t, got.body, text)
	}
	got = c.get(t, ops(), groupPage+"?open=1")
	require.Contains(t, got.body, `shard=3"`)
	require.NotContains(t, got.body, `messages?shard=1"`)
	got = c.get(t, ops(), groupPage+"?shard=1")
	require.Contains(t, got.body, `messages?shard=1"`)
	require.NotContains(t, got.body, `messages?shard=3"`)
	require.Contains(t, c.get(t, ops(), groupPage+"?shard=77").body, "Show all 4")
}

func TestGroupDoesNotTakeUnknownForNothing(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.answers("GET /monitoring"+groupPath, protocol.MonitoredGroup{GroupResponse: protocol.GroupResponse{StreamPrefix: "orders", ConsumerGroup: "billing", State: "NEW"}})
	c.answers("GET /monitoring/grafana/shards", []protocol.GrafanaShardRow{{ShardIndex: 0, OwnerState: "NEW"}})
	c.refuses("GET /monitoring"+groupPath+"/members", protocol.CodeUpstreamUnavailable, "away")
	c.refuses("GET /monitoring"+groupPath+"/assignments", protocol.CodeUpstreamUnavailable, "away")
	c.refuses("GET "+groupPath+"/events", protocol.CodeUpstreamUnavailable, "no <b>coordinator</b>")
	got := c.get(t, ops(), groupPage)
	require.Equal(t, http.StatusOK, got.status, "what is known is shown")
	require.Contains(t, got.body, "The members are not known at the moment.")
	require.Contains(t, got.body, "The history is not known at the moment.")
	require.Contains(t, got.body, "no &lt;b&gt;coordinator&lt;/b&gt;")
	require.Contains(t, got.body, "<dt>Lag</dt><dd>–</dd>")
	require.Contains(t, got.body, "<dt>Members</dt><dd>–</dd>")
}

func TestGroupThatIsNotThereIsNotFound(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.refuses("GET /monitoring"+groupPath, protocol.CodeGroupNotFound, "there is no group")
	require.Equal(t, http.StatusNotFound, c.get(t, ops(), groupPage).status)
	asked := len(c.calls("GET"))
	for _, name := range []string{"/console/streams/-/groups/billing", "/console/streams/orders/groups/a%3Ab", "/console/streams/a%2Fb/groups/g", "/console/streams/a%2561/groups/g"} {
		require.Equal(t, http.StatusNotFound, c.get(t, ops(), name).status, name)
	}
	require.Len(t, c.calls("GET"), asked, "no such name is sent anywhere")
	require.Equal(t, http.StatusNotFound, c.get(t, ops(), "/console/live?page=group&stream=..&group=x").status)
	c.refuses("GET /monitoring/streams/a:b/groups/g", protocol.CodeForbidden, "not yours")
	require.Equal(t, http.StatusForbidden, c.get(t, ops(), "/console/streams/a%3Ab/groups/g").status)
}

// Protocol M6; the runbook says how it is repaired.
func TestGroupWhoseMetadataCannotBeReadSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, code := range []protocol.Code{protocol.CodeMetadataCorrupt, protocol.CodeMetadataMissing} {
		c := newConsole(t)
		c.refuses("GET /monitoring"+groupPath, code, "<i>schema 9</i>")
		c.answers("GET "+groupPath+"/events", protocol.EventsResponse{Events: stableGroup().events})
		got := c.get(t, ops(), groupPage)
		require.Equal(t, http.StatusServiceUnavailable, got.status)
		for _, text := range []string{string(code), "&lt;i&gt;schema 9&lt;/i&gt;", "create the group again", "operations runbook", "a member joined"} {
			require.Contains(t, got.body, text)
		}
	}
}

// Reliability, Console, XSS; F38.
func TestFieldF38NothingOfAGroupIsMarkup(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	evil := `"><script>alert(1)</script>`
	g := stableGroup()
	g.group.Lineage, g.group.SurplusMembers, g.group.State = evil, []string{evil}, protocol.GroupState(evil)
	g.group.Problems = []protocol.GroupProblem{{Problem: evil, Detail: evil}, {Problem: protocol.ProblemStructure, Detail: evil}}
	g.group.ActiveMigration = &protocol.Migration{ReshardingID: `"javascript:alert(1)`, State: protocol.MigrationState(evil)}
	g.group.RecentMutations = &[]protocol.RecentMutation{{
		Kind: protocol.AuditKind(evil), Operation: evil, Principal: evil, RequestedBy: evil + "2", Reason: evil, Result: protocol.AuditResult(evil), ErrorCode: evil,
	}}
	g.shards = []protocol.GrafanaShardRow{{
		ShardIndex: 1, RedisNodeEndpoint: &evil, CurrentOwnerMemberIDs: evil, TargetOwnerMemberIDs: evil + "2", OwnerState: protocol.OwnerState(evil), ShardLabel: evil,
		ShardSignals: protocol.ShardSignals{Problem: &evil, ProblemDetail: &evil, LagReason: new(protocol.LagReason(evil)), TrimmedUnread: new(int64(1)), TrimmedUnreadAlarm: true},
	}}
	g.members = []protocol.MemberMetadata{{
		MemberID: evil, MemberName: evil + "2", State: protocol.MemberState(evil), StateDetail: evil, Incarnation: evil, Successor: &evil,
		Revoking: []protocol.ShardID{{ShardIndex: 1}},
	}, {MemberID: "x" + evil, State: protocol.MemberFenced}}
	g.assigned.InvariantViolations = []string{evil}
	g.events = []protocol.GroupEvent{{
		ID: evil, Cause: protocol.EventCause(evil), MemberID: &evil, Action: new(protocol.EventAction(evil)), Actor: &evil, Reason: &evil,
		Shards: []protocol.ShardChange{{Shard: 1, Hold: &protocol.HoldChange{After: &protocol.HoldState{MemberID: evil}}}},
	}}
	g.tells(c)
	got := c.get(t, user{name: evil, roles: ops().roles}, groupPage+"?shard=%22%3E%3Cb%3E&at=%22%3E%3Cb%3E&members=-9")
	require.Equal(t, http.StatusOK, got.status)
	got.body += c.get(t, ops(), groupPage).body
	require.NotContains(t, got.body, "<script>alert")
	require.NotContains(t, got.body, "<b>")
	require.NotContains(t, got.body, `href="javascript:`)
	require.Contains(t, got.body, "&lt;script&gt;")
	require.NotRegexp(t, `(?i)<script[^>]*>[^<]|<style| style=| on[a-z]+=|(src|href)="(https?:)?//`, got.body)
}

// A page stays small, whatever the group: shards on their way between members with the longest
// names there are.
func TestGroupOfAnySizeIsAPageOfBoundedSize(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	g := stableGroup()
	name := func(i int) string { return fmt.Sprintf("m%05d-%s", i, strings.Repeat("x", protocol.MaxMemberID-7)) }
	g.group.ShardCount, g.members, g.shards = 600, nil, nil
	for i := range 1000 {
		g.members = append(g.members, protocol.MemberMetadata{
			MemberID: name(i), MemberName: name(i), State: protocol.MemberFenced, Incarnation: strings.Repeat("I", 300), Revoking: []protocol.ShardID{{ShardIndex: i}},
			CurrentAssignment: []protocol.ShardID{{ShardIndex: i}}, Successor: new(strings.Repeat("S", 300)),
		})
	}
	event := protocol.GroupEvent{Cause: protocol.EventJoin, MemberID: new(name(1)), Actor: new(name(1)), Reason: new(strings.Repeat("r", 5000))}
	for i := range 600 {
		g.shards = append(g.shards, protocol.GrafanaShardRow{
			ShardIndex: i, CurrentOwnerMemberIDs: name(i), TargetOwnerMemberIDs: name(i + 1), OwnerState: protocol.OwnerTransitioning,
			RedisNodeEndpoint: new(name(1)), ShardSignals: protocol.ShardSignals{Problem: new("UNREACHABLE"), ProblemDetail: new(name(i))},
		})
		if i < 20 {
			event.Shards = append(event.Shards, protocol.ShardChange{Shard: i, Hold: &protocol.HoldChange{
				Before: &protocol.HoldState{MemberID: name(i)}, After: &protocol.HoldState{MemberID: name(i + 1)},
			}})
		}
		g.group.UnassignedShards, g.group.LostShards = append(g.group.UnassignedShards, i), append(g.group.LostShards, i)
	}
	g.group.State, g.events = protocol.GroupReconciling, []protocol.GroupEvent{}
	for range 60 {
		g.events = append(g.events, event)
	}
	g.tells(c)
	got := c.get(t, ops(), groupPage)
	require.Equal(t, http.StatusOK, got.status)
	require.Less(t, len(got.body), 300_000)
	require.Equal(t, 250, strings.Count(got.body, "<tr class=\"")+strings.Count(got.body, "<tr><td>"), "100 shards, 100 members, 50 events")
	require.Contains(t, got.body, "1–100 of 600")
	require.Contains(t, got.body, "1–100 of 1\u202f000")
	require.Contains(t, got.body, "and 580 more")
}
