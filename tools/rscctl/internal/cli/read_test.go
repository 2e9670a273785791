package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// text removes the tabs that a raw string is indented with.
func text(raw string) string {
	return strings.ReplaceAll(strings.TrimPrefix(raw, "\n"), "\t", "")
}

func TestReadsPrintTables(t *testing.T) {
	t.Parallel()
	wanting := orders()
	wanting.Groups[0].ActiveMigration = new(resharding(protocol.MigrationDraining, nil))
	for line, one := range map[string]struct {
		says answers
		want string
	}{
		"streams list": {answers{"GET /streams": {protocol.StreamsResponse{Streams: []protocol.StreamResponse{wanting}}}}, `
			STREAM   SHARDS   GROUPS     RESHARDING
			orders   4        orders-g   8 -> 3 DRAINING
			`},
		"streams describe orders": {answers{getOrders: {orders()}}, `
			stream:            orders
			shards:            4
			shard keys:        orders:{shardIndex}
			metadata version:  7
			resharding:        -

			STREAM   GROUP      STATE         SHARDS   MEMBERS   UNASSIGNED   LOST   BARRIER UNTIL
			orders   orders-g   RECONCILING   4        2         3            2      2026-01-02T03:04:15Z
			`},
		"groups list orders": {answers{getOrders: {orders()}}, `
			STREAM   GROUP      STATE         SHARDS   MEMBERS   UNASSIGNED   LOST   BARRIER UNTIL
			orders   orders-g   RECONCILING   4        2         3            2      2026-01-02T03:04:15Z
			`},
		"groups list": {answers{"GET /monitoring/groups": {protocol.GroupsResponse{}}}, "No groups.\n"},
		"groups describe orders": {answers{getOrders: {orders()}, "GET /streams/orders/groups/orders-g": {ordersGroup()}}, `
			stream:                  orders
			group:                   orders-g
			state:                   RECONCILING
			shards:                  4
			unassigned shards:       3
			lost shards:             2
			members without shards:  -
			barrier until:           2026-01-02T03:04:15Z
			resharding:              -
			group epoch:             5
			assignment epoch:        4
			metadata version:        9
			lineage:                 L1

			MEMBER   SHOULD READ   MAY BE READING
			m1       2             3
			m2       1             0
			`},
		"migrations list orders": {underway(true), `
			ID   SHARDS   STATE        BEGAN                  CHANGED                BY    REASON
			R1   8 -> 3   DRAINING     2026-01-02T03:04:05Z   2026-01-02T03:04:10Z   ann   less load
			R0   4 -> 8   DEPRECATED   2026-01-02T03:03:05Z   2026-01-02T03:03:15Z   -     -
			`},
		"health": {answers{"GET /monitoring/health": {protocol.HealthResponse{Status: "UP", CoordinatorID: "c1", Redis: "UP", Loop: "UP"}}}, `
			status:       UP
			coordinator:  c1
			redis:        UP
			loop:         UP
			`},
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			_, url := serve(t, one.says)
			require.Equal(t, outcome{out: text(one.want)}, rscctl(t, scene{}, url, line))
		})
	}
}

func TestMembersTellWhatAnOperatorShouldKnow(t *testing.T) {
	t.Parallel()
	ids := func(shards ...int) (found []protocol.ShardID) {
		for _, shard := range shards {
			found = append(found, protocol.ShardID{ShardIndex: shard})
		}
		return found
	}
	_, url := serve(t, answers{
		getOrders: {orders()},
		"GET /monitoring/streams/orders/groups/orders-g/members": {protocol.MembersResponse{Members: []protocol.MemberMetadata{
			{
				MemberID: "m1", State: protocol.MemberLeaving, StateDetail: "SUSPENDED", Incarnation: "i", MemberEpoch: 4,
				CurrentAssignment: ids(0, 1, 2), GrantedAssignment: ids(0, 1), Revoking: ids(2),
				LastHeartbeatAt: at(0), MemberLeaseExpiresAt: at(10),
			},
			{MemberID: "m2", State: protocol.MemberActive, StateDetail: "ACTIVE"},
			{MemberID: "m3", State: protocol.MemberActive, Incarnation: "i", Successor: new("x")},
		}}},
	})
	require.Equal(t, outcome{out: text(`
		MEMBER   STATE     DETAIL                          EPOCH   READS   TARGET   REVOKING   LAST HEARTBEAT         LEASE UNTIL
		m1       LEAVING   SUSPENDED                       4       0-2     0-1      2          2026-01-02T03:04:05Z   2026-01-02T03:04:15Z
		m2       ACTIVE    OLD CLIENT                      0       -       -        -          -                      -
		m3       ACTIVE    another process wants this id   0       -       -        -          -                      -
		`)}, rscctl(t, scene{}, url, "members orders"))
}

func TestShardsShowWhoShouldReadAndWhoMay(t *testing.T) {
	t.Parallel()
	id := func(shard int) protocol.ShardID { return protocol.ShardID{ShardIndex: shard} }
	routing := protocol.ProducerRouting{
		StreamPrefix: "orders", ConsumerGroup: "g", ShardCount: 3, StreamKeyPattern: "orders:{shardIndex}",
		Shards: []protocol.RoutingShard{{ShardIndex: 0, StreamKey: "orders:0"}, {ShardIndex: 1, StreamKey: "orders:1"}, {ShardIndex: 2, StreamKey: "orders:2"}},
	}
	found := protocol.AssignmentsResponse{
		TargetAssignment:    map[string][]protocol.ShardID{"m1": {id(0), id(1)}, "m2": {id(2), id(4)}, "m3": {id(5)}},
		CurrentAssignments:  map[string][]protocol.ShardID{"m1": {id(0)}, "m2": {id(1), id(3), id(4)}},
		RevokeProgress:      map[string][]protocol.ShardID{"m2": {id(1), id(3), id(4)}},
		InvariantViolations: []string{`member "m2" reports shard 0, which "m1" holds`},
	}
	says := answers{
		"GET /monitoring/streams/orders/groups/g/assignments": {found},
		"GET /streams/orders/groups/g":                        {ordersGroup()},
		"GET /streams/orders/groups/g/producer-routing":       {routing},
	}
	_, url := serve(t, says)
	require.Equal(t, outcome{out: text(`
		SHARD   KEY        PRODUCERS   STATE        TARGET   HOLDER
		0       orders:0   yes         OWNED        m1       m1
		1       orders:1   yes         MOVING       m1       m2
		2       orders:2   yes         LOST         m2       -
		3       orders:3   no          MOVING       -        m2
		4       orders:4   no          MOVING       m2       m2
		5       orders:5   no          UNASSIGNED   m3       -
		VIOLATION: member "m2" reports shard 0, which "m1" holds
		`)}, rscctl(t, scene{}, url, "shards orders g"))
	requireJSON(t, found, rscctl(t, scene{}, url, "shards orders g -o json").out)
}

func TestAReshardingIsShownWithWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	m := resharding(protocol.MigrationDraining, draining())
	_, url := serve(t, underway(true, m))
	want := text(`
		resharding:         R1
		stream:             orders
		shards:             8 -> 3
		state:              DRAINING
		requested by:       ann
		reason:             less load
		began:              2026-01-02T03:04:05Z
		changed:            2026-01-02T03:04:10Z
		rollback possible:  yes
		done:               2 of 5 shards
		draining from:      2026-01-02T03:04:08Z

		GROUP      HAS THE LAYOUT   SETTLED
		orders-g   yes              no

		REMOVED   PHASE     REASON    SINCE                  GROUP      CONSUMER   PENDING   LAG   FIRST UNREAD   READERS       PROOF
		3         SEALED    -         -                      -          -          -         -     -              -             LAG
		4         READING   PENDING   2026-01-02T03:04:08Z   orders-g   c9         2         -     -              orders-g/m1   -
		The entries of sealed shards are kept; those of shard 3 as rsc:retired:{orders:3}:R1
		`)
	require.Equal(t, outcome{out: want}, rscctl(t, scene{}, url, "migrations show orders"))
	require.Equal(t, outcome{out: want}, rscctl(t, scene{}, url, "migrations show orders R1"))
	requireJSON(t, m, rscctl(t, scene{}, url, "migrations show orders --output json").out)
}

func TestOutputJSONIsTheAPIsAnswer(t *testing.T) {
	t.Parallel()
	streams := protocol.StreamsResponse{Streams: []protocol.StreamResponse{orders()}}
	_, url := serve(t, answers{"GET /streams": {streams}, getOrders: {orders()}})
	requireJSON(t, streams, rscctl(t, scene{}, url, "streams list --output json").out)
	requireJSON(t, orders(), rscctl(t, scene{person: true}, url, "streams describe orders -o json").out)
}

func TestTheCoordinatorIsNamedByTheEnvironmentToo(t *testing.T) {
	t.Parallel()
	f := &fake{answers: answers{"GET /streams": {protocol.StreamsResponse{}}}}
	got := inBubble(t.Context(), scene{env: map[string]string{"RSC_COORDINATOR": "http://elsewhere:1"}}, f, "streams list")
	require.Equal(t, outcome{out: "No streams yet. Create one with: rscctl streams create NAME --reason WHY\n"}, got)
}

func TestColoursAreForTerminalsThatWantThem(t *testing.T) {
	t.Parallel()
	_, url := serve(t, answers{getOrders: {orders()}})
	coloured := "\x1b[33mRECONCILING\x1b[0m"
	require.Contains(t, rscctl(t, scene{onlyOutput: true}, url, "groups list orders").out, coloured)
	for _, s := range []scene{
		{},
		{onlyOutput: true, env: map[string]string{"NO_COLOR": "1"}},
		{onlyOutput: true, env: map[string]string{"TERM": "dumb"}},
	} {
		require.NotContains(t, rscctl(t, s, url, "groups list orders").out, "\x1b")
	}
}

func TestNamesCannotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	evil := "\x1b]0;owned\a\u202e"
	stream := orders()
	stream.StreamPrefix, stream.Groups[0].StreamPrefix, stream.ConsumerGroups = evil, evil, []string{evil}
	_, url := serve(t, answers{
		"GET /streams":           {protocol.StreamsResponse{Streams: []protocol.StreamResponse{stream}}},
		"GET /monitoring/groups": {refused{protocol.CodeInternal, evil}},
	})
	for _, line := range []string{"streams list", "streams list -o json", "groups list"} {
		got := rscctl(t, scene{onlyOutput: true, env: map[string]string{"NO_COLOR": "1"}}, url, line)
		require.NotContains(t, got.out+got.err, "\x1b", line)
		require.NotContains(t, got.out+got.err, "\u202e", line)
		require.Contains(t, got.out+got.err, `]0;owned`, line)
	}
}

func TestHealthThatIsNotUpIsAFailure(t *testing.T) {
	t.Parallel()
	_, url := serve(t, answers{"GET /monitoring/health": {
		protocol.HealthResponse{Status: "DEGRADED", CoordinatorID: "c1", Redis: "UP", Loop: "UP", Problems: []string{"group a/b is lost"}},
	}})
	got := rscctl(t, scene{}, url, "health")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.out, "problem: group a/b is lost\n")
	require.Contains(t, got.err, "coordinator c1 is DEGRADED")
}

func TestVersionTellsBothBuilds(t *testing.T) {
	t.Parallel()
	server := protocol.VersionResponse{Version: "v1.2.3", Commit: "abc", GoVersion: "go1.26"}
	_, url := serve(t, answers{"GET /version": {server}})
	got := rscctl(t, scene{}, url, "version")
	require.Zero(t, got.code)
	require.Contains(t, got.out, "coordinator:  v1.2.3, commit abc, go1.26\n")
	got = rscctl(t, scene{}, "http://127.0.0.1:1", "version --client -o json")
	require.Zero(t, got.code)
	require.Contains(t, got.out, `"coordinator": null`)
	got = rscctl(t, scene{}, "http://127.0.0.1:1", "version")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.out, "rscctl:")
}
