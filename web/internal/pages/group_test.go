package pages_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	groupAddress = "/console/streams/orders/groups/billing"
	groupAPIPath = "/streams/orders/groups/billing"
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
	at := protocol.AtMillis(1_700_000_000_000)
	g := &aGroup{
		group: protocol.MonitoredGroup{
			GroupResponse: protocol.GroupResponse{
				StreamPrefix: "orders", ConsumerGroup: "billing", State: protocol.GroupStable, GroupEpoch: 7, AssignmentEpoch: 7,
				MetadataVersion: 21, ShardCount: 4, Lineage: "L1",
			},
			TotalLag: new(int64(12)), TotalPendingCount: 3, ProducedPerSecond: new(2.5), ConsumedPerSecond: new(40.0),
			GroupSignals: protocol.GroupSignals{ObservedAt: at, KnownParts: 4, AllParts: 4},
		},
		assigned: protocol.AssignmentsResponse{TargetAssignment: map[string][]protocol.ShardID{}},
	}
	for i := range 2 {
		id := fmt.Sprintf("m-%d", i)
		shards := []protocol.ShardID{{ShardIndex: 2 * i}, {ShardIndex: 2*i + 1}}
		g.assigned.TargetAssignment[id] = shards
		g.members = append(g.members, protocol.MemberMetadata{
			MemberID: id, State: protocol.MemberActive, StateDetail: "ACTIVE", MemberEpoch: 5, CurrentAssignment: shards, Incarnation: "I" + id,
			RuntimeMaxConcurrency: 8, ActiveConsumerWorkers: 3,
			LastHeartbeatAt: protocol.AtMillis(at.UnixMilli() - 1000), MemberLeaseExpiresAt: protocol.AtMillis(at.UnixMilli() + 9000),
		})
		for _, shard := range shards {
			g.shards = append(g.shards, protocol.GrafanaShardRow{
				ShardIndex: shard.ShardIndex, RedisSlot: 100 + shard.ShardIndex, RedisNodeEndpoint: new("redis:6379"), Lag: new(int64(3)), LagKnown: true,
				CurrentOwnerMemberIDs: id, TargetOwnerMemberIDs: id, OwnerState: protocol.OwnerCurrent, StreamLength: 1234,
			})
		}
	}
	return g
}

// tells makes the API of a console tell the group.
func (g *aGroup) tells(c *console) {
	c.answers("GET /monitoring"+groupAPIPath, g.group)
	c.answers("GET /monitoring"+groupAPIPath+"/members", protocol.MembersResponse{Members: g.members})
	c.answers("GET /monitoring"+groupAPIPath+"/assignments", g.assigned)
	c.answers("GET /monitoring"+groupAPIPath+"/migrations", protocol.MigrationsResponse{})
	c.answers("GET /monitoring/grafana/shards", g.shards)
	c.answers("GET "+groupAPIPath+"/events", protocol.EventsResponse{Events: g.events})
}

func TestGroupShowsWhoReadsWhat(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	g := stableGroup()
	g.events = []protocol.GroupEvent{{ID: "1-0", At: protocol.AtMillis(1_600_000_000_000), Cause: protocol.EventJoin, MemberID: new("m-1")}}
	g.tells(c)
	got := c.get(t, ops(), groupAddress)
	require.Equal(t, http.StatusOK, got.status)
	for _, text := range []string{
		"orders / billing", "Every shard is read by the member that should read it.", "Nothing is wrong with this group.", "All 4 shards are read",
		"m-0", "m-1", "9.0 s of 10.0 s", "1.0 s ago", "3 of 8", "2 of 2", "a member joined", "redis:6379, 103", "1\u202f234", "2.5",
		`href="` + groupAddress + `/scale"`, `href="` + groupAddress + `/messages?shard=3"`, "page=group", `data-copy="m-1"`,
	} {
		require.Contains(t, got.body, text)
	}
	require.NotContains(t, c.get(t, reader(), groupAddress).body, "/scale", "who may only read is not led to a form")
	require.Empty(t, c.calls("POST"))
}
