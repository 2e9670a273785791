package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// badMember is a value that a member of a body cannot have; "" leaves the member out.
type badMember struct {
	endpoints []string
	member    string
	value     string
}

// Reliability section 4, Admin: every mutation, one member of its body at a time.
func TestMalformedMutationIsRefused(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	t.Cleanup(func() { assert.Empty(t, a.seen(), "nothing may reach the layer below") })
	for name, test := range badMembers() {
		for _, endpoint := range test.endpoints {
			t.Run(endpoint+"/"+name, func(t *testing.T) {
				t.Parallel()
				taker := mutations()[endpoint]
				body := set(t, taker.body, test.member, test.value)
				got := a.call(t, taker.method, taker.target, body)
				requireRefusal(t, got, 400, protocol.CodeInvalidRequest, body)
				require.Contains(t, fieldOf(t, got, "message"), strings.TrimSuffix(test.member, "s"), "it names what is wrong")
			})
		}
	}
}

func badMembers() map[string]badMember {
	all := slices.Collect(maps.Keys(mutations()))
	creations, deletions := []string{"create stream", "create group"}, []string{"delete stream", "delete group"}
	scales, confirm := []string{"scale stream", "scale group"}, []string{"confirm drain"}
	reasoned := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(creations, name) })
	tests := map[string]badMember{
		"requestedBy missing":      {all, "requestedBy", ""},
		"requestedBy null":         {all, "requestedBy", "null"},
		"requestedBy empty":        {all, "requestedBy", `""`},
		"requestedBy blank":        {all, "requestedBy", `" \t "`},
		"requestedBy long":         {all, "requestedBy", `"` + strings.Repeat("a", 257) + `"`},
		"requestedBy with newline": {all, "requestedBy", `"a\nb"`},
		"requestedBy turned":       {all, "requestedBy", `"a\u202eb"`},
		"requestedBy a number":     {all, "requestedBy", "1"},
		"reason long":              {all, "reason", `"` + strings.Repeat("r", 1025) + `"`},
		"reason a list":            {all, "reason", `["r"]`},
		"reason missing":           {reasoned, "reason", ""},
		"reason empty":             {reasoned, "reason", `""`},
		"reason blank":             {reasoned, "reason", `"  "`},
		"reason null":              {reasoned, "reason", "null"},
		"force as text":            {deletions, "force", `"true"`},
		"force null":               {deletions, "force", "null"},
		"deleteStreams a number":   {deletions, "deleteStreams", "1"},
		"close as text":            {[]string{"barrier"}, "close", `"true"`},
		"close null":               {[]string{"barrier"}, "close", "null"},
		"position unknown":         {creations[1:], "initialPosition", `"newest"`},
		"position in other case":   {creations[1:], "initialPosition", `"LATEST"`},
		"position null":            {creations[1:], "initialPosition", "null"},
		"position long":            {creations[1:], "initialPosition", `"` + strings.Repeat("p", 300) + `"`},
		"groups with colon":        {creations[:1], "consumerGroups", `["a:b"]`},
		"groups with empty name":   {creations[:1], "consumerGroups", `["a",""]`},
		"groups with null":         {creations[:1], "consumerGroups", `[null]`},
		"groups twice the same":    {creations[:1], "consumerGroups", `["a","a"]`},
		"groups as text":           {creations[:1], "consumerGroups", `"a"`},
		"65 groups":                {creations[:1], "consumerGroups", manyGroups(65)},
		"group of 201 bytes":       {creations[:1], "consumerGroups", `["` + strings.Repeat("g", 201) + `"]`},
		"deprecatedAfter a number": {scales, "deprecatedAfter", "7"},
		"deprecatedAfter long":     {scales, "deprecatedAfter", `"` + strings.Repeat("7", 65) + `"`},
		"deprecatedAfter turned":   {scales, "deprecatedAfter", `"P1D\u202e"`},
	}
	addNumbers(tests, "initialShardCount", creations, "0", "-0", "101")
	addNumbers(tests, "targetShardCount", scales, "", "null", "101")
	addNumbers(tests, "shardIndex", confirm, "", "null", "2147483648")
	return tests
}

// addNumbers adds what no count and no index can be, and more.
func addNumbers(tests map[string]badMember, member string, endpoints []string, more ...string) {
	for _, value := range append(more,
		"-1", "-2147483649", "9223372036854775808", "1e400", "1e1", "3.0", "1.5", `"3"`, `""`, "true", "[3]", `{"n":3}`) {
		tests[member+" "+value] = badMember{endpoints, member, value}
	}
	if member != "shardIndex" {
		tests[member+" 10^9"] = badMember{endpoints, member, "1000000000"}
	}
}

func manyGroups(count int) string {
	groups := make([]string, count)
	for i := range groups {
		groups[i] = fmt.Sprintf(`"g%d"`, i)
	}
	return "[" + strings.Join(groups, ",") + "]"
}

// set writes object with another value of a member, or without it.
func set(t *testing.T, object, member, value string) string {
	t.Helper()
	members := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal([]byte(object), &members))
	delete(members, member)
	if value != "" {
		members[member] = json.RawMessage(value)
	}
	written, err := json.Marshal(members)
	require.NoError(t, err)
	return string(written)
}

func TestMutationsReachTheLayerBelowUnchanged(t *testing.T) {
	t.Parallel()
	none, four, most, why, after := 0, 4, maxShards, "", "P1D"
	tests := []struct {
		endpoint, body, call string
		status               int
		want                 any
	}{
		{
			"create stream", `{"requestedBy":"a","initialShardCount":4,"reason":"","consumerGroups":["g1","g2"]}`,
			"CreateStream orders", 201,
			protocol.CreateStreamRequest{InitialShardCount: &four, RequestedBy: "a", Reason: &why, ConsumerGroups: []string{"g1", "g2"}},
		},
		{
			"create stream", `{"requestedBy":"a","initialShardCount":null,"reason":null,"consumerGroups":null}`,
			"CreateStream orders", 201,
			protocol.CreateStreamRequest{RequestedBy: "a"},
		},
		{
			"create group", `{"requestedBy":"a","initialPosition":"latest"}`,
			"CreateGroup orders billing", 201,
			protocol.CreateGroupRequest{RequestedBy: "a", InitialPosition: "latest"},
		},
		{
			"delete stream", `{"requestedBy":"a","reason":"line\nline","force":true,"deleteStreams":true}`,
			"DeleteStream orders", 200,
			protocol.DeleteRequest{RequestedBy: "a", Reason: "line\nline", Force: true, DeleteStreams: true},
		},
		{"delete group", goodCause, "DeleteGroup orders billing", 200, protocol.DeleteRequest{RequestedBy: "ops", Reason: "done"}},
		{
			"scale stream", `{"requestedBy":"a","reason":"r","targetShardCount":0,"deprecatedAfter":"P1D"}`, "Scale orders", 202,
			protocol.ScaleRequest{TargetShardCount: &none, RequestedBy: "a", Reason: "r", DeprecatedAfter: &after},
		},
		{
			"scale stream", `{"requestedBy":"a","reason":"r","targetShardCount":-0,"deprecatedAfter":null}`, "Scale orders", 202,
			protocol.ScaleRequest{TargetShardCount: &none, RequestedBy: "a", Reason: "r"},
		},
		{
			"scale group", `{"requestedBy":"a","reason":"r","targetShardCount":100}`, "Group orders billing, Scale orders", 202,
			protocol.ScaleRequest{TargetShardCount: &most, RequestedBy: "a", Reason: "r"},
		},
		{"rollback", goodCause, "Rollback orders billing r1", 202, protocol.RollbackRequest{RequestedBy: "ops", Reason: "done"}},
		{
			"confirm drain", `{"shardIndex":0,"requestedBy":"a","reason":"r"}`, "ConfirmDrain orders billing r1", 202,
			protocol.ConfirmDrainRequest{ShardIndex: &none, RequestedBy: "a", Reason: "r"},
		},
		{"barrier", goodCause, "Barrier orders billing", 202, protocol.BarrierRequest{RequestedBy: "ops", Reason: "done"}},
		{
			"barrier", with(goodCause, `"close":true`), "Barrier orders billing", 202,
			protocol.BarrierRequest{RequestedBy: "ops", Reason: "done", Close: true},
		},
		{"fence", goodCause, "Fence orders billing m-1", 202, protocol.FenceRequest{RequestedBy: "ops", Reason: "done"}},
		{"repair index", goodCause, "RepairIndex", 200, protocol.RepairIndexRequest{RequestedBy: "ops", Reason: "done"}},
	}
	reached := map[string]bool{}
	for _, test := range tests {
		a := startAPI(t)
		taker := mutations()[test.endpoint]
		got := a.call(t, taker.method, taker.target, test.body)
		require.Equalf(t, test.status, got.status, "%s", got.body)
		require.Equal(t, test.call, strings.Join(a.seen(), ", "))
		require.Equal(t, test.want, a.asked)
		reached[test.endpoint] = true
	}
	require.Len(t, reached, len(mutations()), "every mutation is called here")
}
