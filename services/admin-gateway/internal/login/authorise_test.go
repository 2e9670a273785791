package login_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

func TestRouteIsOpenToWhoHasARoleAndReachesTheStream(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	about := func(r route.Route, stream string) route.Route { r.Stream = stream; return r }
	global := route.Route{Operation: "REPAIR_INDEX", Method: http.MethodPost, Service: route.Coordinator, Access: route.Access{Roles: auth.Write, Global: true}, Mutation: true}
	audit := route.Route{Operation: "LIST_AUDIT", Method: http.MethodGet, Service: route.Gateway, Access: route.Access{Roles: auth.Read}}
	globalAudit := audit
	globalAudit.Access.Global = true
	narrowed := about(readRoute, "")
	narrowed.Access.Narrowed = true
	routing := route.Route{Operation: "PRODUCER_ROUTING", Method: http.MethodGet, Service: route.Coordinator, Access: route.Access{Roles: auth.Member | auth.Read, MemberAPI: true}, Stream: "orders"}
	for _, one := range []struct {
		name   string
		asks   route.Route
		passes []string
	}{
		{"read", readRoute, []string{"ops", "reader", "scoped"}},
		{"read below the scope", about(readRoute, "orders.eu"), []string{"ops", "reader", "scoped"}},
		{"read outside of the scope", about(readRoute, "payments"), []string{"ops", "reader"}},
		{"read of no one stream", about(readRoute, ""), []string{"ops", "reader"}},
		{"read of those that the scopes reach", narrowed, []string{"ops", "reader", "scoped"}},
		{"the same about a stream", about(narrowed, "payments"), []string{"ops", "reader"}},
		{"change", changeRoute, []string{"ops", "scoped"}},
		{"change outside of the scope", about(changeRoute, "payments"), []string{"ops"}},
		{"change of all streams", global, []string{"ops"}},
		{"change of all streams that names one", about(global, "orders"), []string{"ops"}},
		{"what the gateway bounds itself", audit, []string{"ops", "reader", "scoped"}},
		{"the same about a stream", about(audit, "payments"), []string{"ops", "reader"}},
		{"what is of the gateway and about all", globalAudit, []string{"ops", "reader"}},
		{"heartbeat", beatRoute, []string{"pod"}},
		{"routing", routing, []string{"ops", "reader", "pod", "scoped"}},
		{"any credential", logoutRoute, []string{"ops", "reader", "pod", "scoped", "nothing"}},
		{"public", openRoute, []string{"ops", "reader", "pod", "scoped", "nothing"}},
	} {
		for _, user := range []string{"ops", "reader", "pod", "scoped", "nothing"} {
			got := g.ask(t, asked{route: one.asks}.bearer(g.token(t, user)))
			require.Equal(t, slices.Contains(one.passes, user), got.passed, "%s: %s: %s", one.name, user, got.body)
			if !got.passed {
				require.Equal(t, http.StatusForbidden, got.status)
				require.Equal(t, protocol.CodeForbidden, got.code(t))
				require.Equal(t, user, got.exchange.Principal.Name, "the audit knows who was refused")
				require.Empty(t, got.header.Get("WWW-Authenticate"))
			}
		}
	}
}

func TestRefusalNamesTheRoleThatIsMissing(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	require.Contains(t, g.ask(t, asked{route: changeRoute}.bearer(g.token(t, "reader"))).body, "WRITE")
	require.Contains(t, g.ask(t, asked{route: beatRoute}.bearer(g.token(t, "reader"))).body, "MEMBER")
	body := g.ask(t, asked{route: readRoute}.bearer(g.token(t, "pod"))).body
	require.Contains(t, body, "READ")
	require.NotContains(t, body, "orders")
}
