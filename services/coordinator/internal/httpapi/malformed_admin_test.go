package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Reliability section 4, Admin: creations and deletions.
func TestMalformedMutationIsRefused(t *testing.T) {
	t.Parallel()
	groups := make([]string, 65)
	for i := range groups {
		groups[i] = fmt.Sprintf("%q", fmt.Sprintf("g%d", i))
	}
	all := []string{"create stream", "create group", "delete stream", "delete group"}
	creations, deletions := all[:2], all[2:]
	tests := map[string]struct {
		endpoints []string
		body      string
	}{
		"requestedBy missing":       {all, `{"reason":"r"}`},
		"requestedBy null":          {all, `{"requestedBy":null,"reason":"r"}`},
		"requestedBy blank":         {all, `{"requestedBy":" \t ","reason":"r"}`},
		"requestedBy long":          {all, `{"requestedBy":"` + strings.Repeat("a", 257) + `","reason":"r"}`},
		"requestedBy with newline":  {all, `{"requestedBy":"a\nb","reason":"r"}`},
		"requestedBy a number":      {all, `{"requestedBy":1,"reason":"r"}`},
		"reason long":               {all, `{"requestedBy":"a","reason":"` + strings.Repeat("r", 1025) + `"}`},
		"reason a list":             {all, `{"requestedBy":"a","reason":["r"]}`},
		"reason missing":            {deletions, `{"requestedBy":"a"}`},
		"reason blank":              {deletions, `{"requestedBy":"a","reason":"  "}`},
		"reason null":               {deletions, `{"requestedBy":"a","reason":null}`},
		"force as text":             {deletions, `{"requestedBy":"a","reason":"r","force":"true"}`},
		"force null":                {deletions, `{"requestedBy":"a","reason":"r","force":null}`},
		"deleteStreams a number":    {deletions, `{"requestedBy":"a","reason":"r","deleteStreams":1}`},
		"shards -1":                 {creations, `{"requestedBy":"a","initialShardCount":-1}`},
		"shards 0":                  {creations, `{"requestedBy":"a","initialShardCount":0}`},
		"shards -0":                 {creations, `{"requestedBy":"a","initialShardCount":-0}`},
		"shards over the limit":     {creations, `{"requestedBy":"a","initialShardCount":101}`},
		"shards 10^9":               {creations, `{"requestedBy":"a","initialShardCount":1000000000}`},
		"shards 2^63":               {creations, `{"requestedBy":"a","initialShardCount":9223372036854775808}`},
		"shards 1e1":                {creations, `{"requestedBy":"a","initialShardCount":1e1}`},
		"shards 4.0":                {creations, `{"requestedBy":"a","initialShardCount":4.0}`},
		"shards as text":            {creations, `{"requestedBy":"a","initialShardCount":"4"}`},
		"position unknown":          {creations[1:], `{"requestedBy":"a","initialPosition":"newest"}`},
		"position in other case":    {creations[1:], `{"requestedBy":"a","initialPosition":"LATEST"}`},
		"position null":             {creations[1:], `{"requestedBy":"a","initialPosition":null}`},
		"position long":             {creations[1:], `{"requestedBy":"a","initialPosition":"` + strings.Repeat("p", 300) + `"}`},
		"groups with colon":         {creations[:1], `{"requestedBy":"a","consumerGroups":["a:b"]}`},
		"groups with empty name":    {creations[:1], `{"requestedBy":"a","consumerGroups":["a",""]}`},
		"groups with null":          {creations[:1], `{"requestedBy":"a","consumerGroups":[null]}`},
		"groups twice the same":     {creations[:1], `{"requestedBy":"a","consumerGroups":["a","a"]}`},
		"groups as text":            {creations[:1], `{"requestedBy":"a","consumerGroups":"a"}`},
		"65 groups":                 {creations[:1], `{"requestedBy":"a","consumerGroups":[` + strings.Join(groups, ",") + `]}`},
		"group name over 200 bytes": {creations[:1], `{"requestedBy":"a","consumerGroups":["` + strings.Repeat("g", 201) + `"]}`},
	}
	a := startAPI(t)
	t.Cleanup(func() { assert.Empty(t, a.seen(), "nothing may reach the layer below") })
	for name, test := range tests {
		for _, endpoint := range test.endpoints {
			t.Run(endpoint+"/"+name, func(t *testing.T) {
				t.Parallel()
				taker := takers()[endpoint]
				got := a.call(t, taker.method, taker.target, test.body)
				requireRefusal(t, got, 400, protocol.CodeInvalidRequest, test.body)
			})
		}
	}
}

func TestADryRunNeverBecomesARealOne(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	for endpoint, taker := range takers() {
		if endpoint == "heartbeat" {
			continue
		}
		for _, query := range []string{"dryRun=true", "dryRun", "dryRun=1", "dryRun=false&dryRun=true", "dryRun=true;x=1", "x=%zz&dryRun=true"} {
			got := a.call(t, taker.method, taker.target+"?"+query, taker.body)
			requireRefusal(t, got, 400, protocol.CodeInvalidRequest, "")
		}
		require.Empty(t, a.seen())
		require.Less(t, a.call(t, taker.method, taker.target+"?dryRun=false&other=1", taker.body).status, 300)
		a.forget()
	}
}

func TestMutationsReachTheLayerBelowUnchanged(t *testing.T) {
	t.Parallel()
	four, why := 4, ""
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
		{"delete group", goodDelete, "DeleteGroup orders billing", 200, protocol.DeleteRequest{RequestedBy: "ops", Reason: "done"}},
	}
	for _, test := range tests {
		a := startAPI(t)
		taker := takers()[test.endpoint]
		got := a.call(t, taker.method, taker.target, test.body)
		require.Equalf(t, test.status, got.status, "%s", got.body)
		require.Equal(t, []string{test.call}, a.seen())
		require.Equal(t, test.want, a.asked)
	}
}
