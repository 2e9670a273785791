package httpapi_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// contract is the compatibility data of the original service (wire contract).
type contract struct {
	Paths      map[string]map[string]operation `yaml:"paths"`
	Components struct {
		Schemas map[string]schema `yaml:"schemas"`
	} `yaml:"components"`
}

type operation struct {
	Responses map[string]struct {
		Content map[string]struct {
			Schema schema `yaml:"schema"`
		} `yaml:"content"`
	} `yaml:"responses"`
}

// UnmarshalYAML lets the list of parameters that stands among the methods be.
func (o *operation) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return nil
	}
	type plain operation
	return node.Decode((*plain)(o))
}

type schema struct {
	Ref        string            `yaml:"$ref"`
	Type       string            `yaml:"type"`
	Format     string            `yaml:"format"`
	Enum       []string          `yaml:"enum"`
	Nullable   bool              `yaml:"nullable"`
	Required   []string          `yaml:"required"`
	Properties map[string]schema `yaml:"properties"`
	Items      *schema           `yaml:"items"`
	OneOf      []schema          `yaml:"oneOf"`
	Each       *schema           `yaml:"additionalProperties"`
}

func readContract(t *testing.T) contract {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "testdata", "contract", "shapes.yaml"))
	require.NoError(t, err)
	var c contract
	require.NoError(t, yaml.Unmarshal(data, &c))
	require.NotEmpty(t, c.Components.Schemas)
	return c
}

// check requires that value has the shape of s: all required fields, no null where the
// contract has none, the types and the enums. Fields more are allowed.
func (c contract) check(t *testing.T, at string, s schema, value any) {
	t.Helper()
	if s.Ref != "" {
		name := s.Ref[strings.LastIndex(s.Ref, "/")+1:]
		require.Contains(t, c.Components.Schemas, name)
		c.check(t, at, c.Components.Schemas[name], value)
		return
	}
	if value == nil {
		canBeNull := s.Nullable || slices.ContainsFunc(s.OneOf, func(o schema) bool { return o.Type == "null" })
		require.Truef(t, canBeNull, "%s is null", at)
		return
	}
	switch {
	case len(s.OneOf) > 0:
		c.check(t, at, s.OneOf[0], value)
	case s.Type == "object":
		c.checkObject(t, at, s, value)
	case s.Type == "array":
		list, ok := value.([]any)
		require.Truef(t, ok, "%s is no list", at)
		for _, item := range list {
			c.check(t, at+"[]", *s.Items, item)
		}
	case s.Type == "integer":
		number, ok := value.(json.Number)
		require.Truef(t, ok, "%s is no number", at)
		_, err := number.Int64()
		require.NoErrorf(t, err, "%s is no whole number", at)
	case s.Type == "boolean":
		require.IsTypef(t, true, value, "%s", at)
	case s.Type == "string":
		c.checkText(t, at, s, value)
	default:
		require.Failf(t, "shape not understood", "%s: %+v", at, s)
	}
}

func (c contract) checkObject(t *testing.T, at string, s schema, value any) {
	t.Helper()
	object, ok := value.(map[string]any)
	require.Truef(t, ok, "%s is no object", at)
	for _, name := range s.Required {
		require.Containsf(t, object, name, "%s", at)
	}
	for name, inner := range s.Properties {
		if field, there := object[name]; there {
			c.check(t, at+"."+name, inner, field)
		}
	}
	if s.Each == nil {
		return
	}
	for key, item := range object {
		c.check(t, at+"."+key, *s.Each, item)
	}
}

func (c contract) checkText(t *testing.T, at string, s schema, value any) {
	t.Helper()
	text, ok := value.(string)
	require.Truef(t, ok, "%s is no text", at)
	if len(s.Enum) > 0 {
		require.Containsf(t, s.Enum, text, "%s", at)
	}
	switch s.Format {
	case "date-time":
		require.Regexpf(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, text, "%s", at)
	case "duration":
		require.Regexpf(t, `^PT(\d+H)?(\d+M)?(\d+(\.\d+)?S)?$`, text, "%s", at)
	}
}

// full fills every field of the layer's answers, bare leaves all lists and maps nil.
func full(l *layer) {
	at, id, name := protocol.AtMillis(1_700_000_000_000), "r1", "1-1"
	shards := []protocol.ShardID{{ShardIndex: 0}}
	l.migration = fullMigration(at, id)
	migration := l.migration
	l.scaled = protocol.StreamScaleResponse{AffectedConsumerGroups: []string{"billing"}, Migrations: []protocol.Migration{migration}}
	l.plan = protocol.Plan{
		Action: protocol.PlanScale, ShardsAdded: []int{1}, ShardsRemoved: []int{2}, Warnings: []string{"w"},
		Groups:  []protocol.GroupPlan{{Moves: []protocol.MemberMove{{Gains: []int{1}, Loses: []int{2}}}}},
		Refusal: &protocol.PlanRefusal{ErrorCode: protocol.CodeActiveMigrationExists, Message: "m"},
	}
	l.index = protocol.RepairIndexResponse{Added: []string{"orders"}, Removed: []string{"orders:billing"}}
	l.group = protocol.GroupResponse{
		StreamPrefix: "orders", ConsumerGroup: "billing", State: protocol.GroupStable, ActiveMigration: &migration, BarrierUntil: &at,
		TargetAssignmentSummary: map[string]int{"m": 1}, CurrentAssignmentSummary: map[string]int{"m": 1},
		UnassignedShards: []int{1}, LostShards: []int{2}, SurplusMembers: []string{"s"},
	}
	l.stream = protocol.StreamResponse{ConsumerGroups: []string{"billing"}, Groups: []protocol.GroupResponse{l.group}}
	l.created = protocol.StreamCreateResponse{ShardCount: 1, ConsumerGroups: []string{"billing"}}
	progress := protocol.ShardProgress{StreamKey: "orders:0", LastAckedID: &name, LastDeliveredID: &name, UpdatedAt: &at}
	l.members = protocol.MembersResponse{Members: []protocol.MemberMetadata{{
		MemberID: "m", State: protocol.MemberActive, CurrentAssignment: shards, GrantedAssignment: shards, Revoking: shards,
		RebalanceDeadlineAt: &at, ShardProgress: []protocol.ShardProgress{progress}, Successor: &name,
	}}}
	byMember := map[string][]protocol.ShardID{"m": shards}
	l.assignments = protocol.AssignmentsResponse{
		TargetAssignment: byMember, CurrentAssignments: byMember, RevokeProgress: byMember, InvariantViolations: []string{"none"},
	}
	l.migrations = protocol.MigrationsResponse{Migrations: []protocol.Migration{migration}, ActiveReshardingID: &id}
	l.routing = protocol.ProducerRouting{Shards: []protocol.RoutingShard{{StreamKey: "orders:0"}}}
	made := protocol.ActionCreate
	held := &protocol.HoldState{MemberID: "m", LingersUntil: &at}
	l.events = protocol.EventsResponse{Next: &id, Events: []protocol.GroupEvent{{
		ID: id, At: at, Cause: protocol.EventAdmin, MemberID: &id, RequestID: &id, Action: &made, Actor: &id, Reason: &id,
		Changes: []protocol.EventChange{{Cause: protocol.EventGrant, Shards: 1}},
		Shards: []protocol.ShardChange{{
			Target: &protocol.TargetChange{Before: &id, After: &id}, Hold: &protocol.HoldChange{Before: held, After: held},
		}},
	}}}
	l.health = protocol.HealthResponse{Status: protocol.HealthUp, Problems: []string{"none"}}
	l.heartbeat = &protocol.HeartbeatResponse{
		Status:     protocol.StatusOK,
		Assignment: protocol.Assignment{AssignedShards: shards, PendingShards: shards},
	}
}

func fullMigration(at protocol.Timestamp, text string) protocol.Migration {
	count, reason, proof := int64(1), protocol.DrainPending, protocol.ProofLag
	return protocol.Migration{
		ReshardingID: text, ToShardCount: 2, State: protocol.MigrationActive, CreatedAt: at, UpdatedAt: at, RequestedBy: &text, Reason: &text,
		Progress: &protocol.MigrationProgress{
			LastError: &text, DrainingFrom: &at, Groups: []protocol.GroupProgress{{ConsumerGroup: "billing"}},
			Shards: []protocol.ShardDrain{{
				Phase: protocol.DrainReading, Reason: &reason, Since: &at, Owners: []protocol.ShardOwner{{MemberID: "m"}}, Pending: &count, Lag: &count,
				TailID: &text, BlockingGroup: &text, BlockingConsumer: &text, Proof: &proof, RetiredKey: &text,
			}},
		},
	}
}

func bare(l *layer) {
	l.migration = protocol.Migration{
		State: protocol.MigrationPreparing, Progress: &protocol.MigrationProgress{Shards: []protocol.ShardDrain{{Phase: protocol.DrainReading}}},
	}
	l.scaled = protocol.StreamScaleResponse{Migrations: []protocol.Migration{l.migration}}
	l.plan = protocol.Plan{Action: protocol.PlanCreate, Groups: []protocol.GroupPlan{{}, {Moves: []protocol.MemberMove{{}}}}}
	l.group = protocol.GroupResponse{State: protocol.GroupEmpty, ActiveMigration: &l.migration}
	l.migrations = protocol.MigrationsResponse{Migrations: []protocol.Migration{l.migration}}
	l.members = protocol.MembersResponse{Members: []protocol.MemberMetadata{{State: protocol.MemberStarting}}}
	l.assignments = protocol.AssignmentsResponse{TargetAssignment: map[string][]protocol.ShardID{"m": nil}}
	l.stream = protocol.StreamResponse{Groups: []protocol.GroupResponse{{State: protocol.GroupEmpty}}}
	l.events = protocol.EventsResponse{Events: []protocol.GroupEvent{{Shards: []protocol.ShardChange{{
		Target: &protocol.TargetChange{}, Hold: &protocol.HoldChange{},
	}}}}}
	l.heartbeat = &protocol.HeartbeatResponse{Status: protocol.StatusRetry}
}

// nullOfContract are the fields, by name, that may be null in an answer.
func nullOfContract() []string {
	return []string{
		"activeMigration", "barrierUntil", "rebalanceDeadlineAt", "successor", "activeReshardingId", "deprecatedIn", "removedIn",
		"qualifier", "lastDeliveredId", "lastAckedId", "updatedAt",
		"next", "memberId", "requestId", "action", "actor", "reason", "before", "after",
		"requestedBy", "progress", "lastError", "drainingFrom", "since", "pending", "lag", "tailId", "blockingGroup", "blockingConsumer",
		"proof", "retiredKey", "refusal",
	}
}

func requireNoOtherNull(t *testing.T, at string, value any) {
	t.Helper()
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			if field == nil {
				require.Containsf(t, nullOfContract(), name, "null in %s", at)
			}
			requireNoOtherNull(t, at+"."+name, field)
		}
	case []any:
		for _, item := range v {
			require.NotNil(t, item, at)
			requireNoOtherNull(t, at+"[]", item)
		}
	}
}

func TestEveryAnswerHasTheShapeOfTheContract(t *testing.T) {
	t.Parallel()
	c := readContract(t)
	scale := mutations()["scale stream"].body
	endpoints := []struct{ method, target, body, path, status string }{
		{"POST", orders, goodCreate, "/streams/{streamPrefix}", "201"},
		{"POST", billing, goodCreate, "/streams/{streamPrefix}/groups/{consumerGroup}", "201"},
		{"GET", billing, "", "/streams/{streamPrefix}/groups/{consumerGroup}", "200"},
		{"DELETE", billing, goodCause, "/streams/{streamPrefix}/groups/{consumerGroup}", "200"},
		{"GET", billing + "/producer-routing", "", "/streams/{streamPrefix}/groups/{consumerGroup}/producer-routing", "200"},
		{"POST", beat, goodBeat, "/streams/{streamPrefix}/groups/{consumerGroup}/members/{memberId}/heartbeat", "200"},
		{"GET", base + "/monitoring/health", "", "/monitoring/health", "200"},
		{"GET", base + "/monitoring/compatibility", "", "/monitoring/compatibility", "200"},
		{"GET", base + "/monitoring/groups", "", "/monitoring/groups", "200"},
		{"GET", monitoring, "", "/monitoring/streams/{streamPrefix}/groups/{consumerGroup}", "200"},
		{"GET", monitoring + "/members", "", "/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/members", "200"},
		{"GET", monitoring + "/assignments", "", "/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/assignments", "200"},
		{"GET", monitoring + "/migrations", "", "/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/migrations", "200"},
		{"POST", orders + "/scale", scale, "/streams/{streamPrefix}/scale", "202"},
		{"POST", billing + "/scale", scale, "/streams/{streamPrefix}/groups/{consumerGroup}/scale", "202"},
		{"GET", resharding, "", "/streams/{streamPrefix}/groups/{consumerGroup}/migrations/{reshardingId}", "200"},
		{
			"POST", resharding + "/rollback", goodCause,
			"/streams/{streamPrefix}/groups/{consumerGroup}/migrations/{reshardingId}/rollback", "202",
		},
		{"POST", resharding + "/confirm-drain", with(goodCause, `"shardIndex":1`), "", "202"},
		{"POST", billing + "/barrier", goodCause, "", "202"},
		{"POST", billing + "/members/m-1/fence", goodCause, "", "202"},
		{"POST", base + "/admin/repair-index", goodCause, "", "200"},
		{"POST", orders + "/scale?dryRun=true", scale, "", "200"},
		{"GET", billing + "/events", "", "", "200"},
		{"GET", base + "/streams", "", "", "200"},
		{"GET", orders, "", "", "200"},
		{"DELETE", orders, goodCause, "", "200"},
	}
	for name, fill := range map[string]func(*layer){"full": full, "bare": bare} {
		a := startAPI(t)
		fill(a.layer)
		for _, e := range endpoints {
			got := a.call(t, e.method, e.target, e.body)
			require.Equalf(t, e.status, strconv.Itoa(got.status), "%s %s: %s", name, e.target, got.body)
			value := decode(t, got.body)
			requireNoOtherNull(t, e.target, value)
			if e.path == "" { // an endpoint of this suite only
				continue
			}
			operation, there := c.Paths["/coord/v1"+e.path][strings.ToLower(e.method)]
			require.Truef(t, there, "%s %s", e.method, e.path)
			shape, there := operation.Responses[e.status].Content["application/json"]
			require.Truef(t, there, "%s %s %s", e.method, e.path, e.status)
			c.check(t, name+" "+e.target, shape.Schema, value)
		}
	}
}

func TestEveryRefusalHasTheShapeOfTheContract(t *testing.T) {
	t.Parallel()
	c := readContract(t)
	a := startAPI(t)
	for _, got := range []said{
		a.call(t, "POST", orders, "{}"), a.call(t, "GET", "/nothing", ""), a.call(t, "PUT", orders, "{}"),
		a.call(t, "POST", orders, strings.Repeat(" ", 1<<17)), a.call(t, "GET", base+"/streams/%2F", ""),
	} {
		require.GreaterOrEqual(t, got.status, 400)
		c.check(t, "refusal", schema{Ref: "#/components/schemas/ErrorResponse"}, decode(t, got.body))
	}
}

func decode(t *testing.T, body []byte) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	var value any
	require.NoErrorf(t, decoder.Decode(&value), "%s", body)
	return value
}
