package apidocs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheAuditIsAsTheDocumentSays(t *testing.T) {
	t.Parallel()
	g := startGateway(t)
	ops := g.login("ops")
	const audit = base + "/audit"
	g.ask(200, "GET", audit, "", "Authorization", ops)
	g.ask(401, "POST", base+"/streams/orders", change)
	g.ask(503, "POST", base+"/streams/orders?dryRun=true", change, "Authorization", ops, "Idempotency-Key", "k1")
	g.ask(503, "POST", base+"/streams/orders/groups/billing/members/m-1/fence", `{"requestedBy":"ops","reason":"r"}`, "Authorization", ops)
	require.Eventually(t, func() bool {
		return strings.Count(g.ask(200, "GET", audit, "", "Authorization", ops).Body.String(), `"sequence":`) >= 5
	}, time.Minute, 20*time.Millisecond)
	for _, query := range []string{
		"?limit=1", "?limit=1000&streamPrefix=orders", "?consumerGroup=billing&streamPrefix=orders", "?principal=ops",
		"?from=2026-01-01T00:00:00Z&to=2126-01-01T00:00:00Z",
	} {
		g.ask(200, "GET", audit+query, "", "Authorization", ops)
	}
	for _, query := range []string{"?limit=0", "?limit=1001", "?limit=x", "?from=noon", "?to=1", "?cursor=%00", "?streamPrefix=-x"} {
		g.ask(400, "GET", audit+query, "", "Authorization", ops)
	}
}
