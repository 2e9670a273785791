package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/httpapi"
)

// ledger knows the changes of groups by name; of shipping it does not answer in time.
type ledger map[string][]protocol.RecentMutation

func (l ledger) Recent(ctx context.Context, stream, group string) ([]protocol.RecentMutation, error) {
	if stream == "orders" && group == "shipping" {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return l[group], nil
}

// Monitoring, APIs: the view has the heads, or null where they cannot be had; it is answered
// all the same.
func TestTheViewOfAGroupHasItsLastChangesOrNull(t *testing.T) {
	t.Parallel()
	head := protocol.RecentMutation{Time: protocol.AtMillis(1000), Kind: protocol.AuditOutcome, Operation: "SCALE_GROUP", RequestID: "r", Result: protocol.AuditAllowed, Status: 202}
	for name, test := range map[string]struct {
		mutations httpapi.Mutations
		path      string
		want      string
	}{
		"some":              {ledger{"billing": {head}}, billing, `[{"time":"1970-01-01T00:00:01.000Z","kind":"OUTCOME","operation":"SCALE_GROUP","method":"","route":"","principal":"","requestedBy":"","reason":"","requestId":"r","result":"ALLOWED","status":202,"errorCode":""}]`},
		"none":              {ledger{"billing": {}}, billing, `[]`},
		"no audit in Redis": {ledger{}, billing, `null`},
		"nobody to ask":     {nil, billing, `null`},
		"no answer in time": {ledger{}, base + "/streams/orders/groups/shipping", `null`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := start(t, httpapi.Config{}, httpapi.Deps{Mutations: test.mutations})
			m.publish(roundOf(1))
			var shown struct {
				ConsumerGroup   string          `json:"consumerGroup"`
				RecentMutations json.RawMessage `json:"recentMutations"`
			}
			require.NoError(t, json.Unmarshal(m.get(http.StatusOK, test.path), &shown))
			require.NotEmpty(t, shown.ConsumerGroup)
			require.JSONEq(t, test.want, string(shown.RecentMutations))
		})
	}
}
