package proxy

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

func newCredentials(t *testing.T) *credentials {
	t.Helper()
	key, err := auth.KeyFromSecret(strings.Repeat("s", auth.MinSecret))
	require.NoError(t, err)
	ring, err := auth.NewKeyring(key)
	require.NoError(t, err)
	return &credentials{ring: ring, now: func() time.Time { return time.Unix(1000, 0) }, kept: make(map[holder]kept)}
}

// A token that is used again is that of the same user with the same rights for the same
// service; a change of rights works at once.
func TestATokenIsSharedWithNoOtherHolder(t *testing.T) {
	t.Parallel()
	c := newCredentials(t)
	read := auth.Principal{Name: "a", Roles: auth.Read}
	exchanges := []exchange.Exchange{
		{Route: route.Route{Service: route.Coordinator}, Principal: read},
		{Route: route.Route{Service: route.Monitor}, Principal: read},
		{Route: route.Route{Service: route.Coordinator}, Principal: auth.Principal{Name: "b", Roles: auth.Read}},
		{Route: route.Route{Service: route.Coordinator}, Principal: auth.Principal{Name: "a", Roles: auth.Read | auth.Write}},
		{Route: route.Route{Service: route.Coordinator}, Principal: auth.Principal{Name: "a", Roles: auth.Read, Scopes: []auth.Scope{"x", "y"}}},
		{Route: route.Route{Service: route.Coordinator}, Principal: auth.Principal{Name: "a", Roles: auth.Read, Scopes: []auth.Scope{"xy"}}},
		{Route: route.Route{Service: route.Coordinator}},
	}
	verifier := auth.NewVerifier(c.ring, c.now, auth.AudienceCoordinator, auth.AudienceMonitor)
	given := map[string]bool{}
	for range 2 {
		for _, e := range exchanges {
			header, err := c.header(&e, "r-1")
			require.NoError(t, err)
			given[header] = true
			claims, err := verifier.Verify(t.Context(), strings.TrimPrefix(header, "Bearer "))
			require.NoError(t, err)
			require.Equal(t, principalOf(&e), claims.Principal())
			require.Equal(t, []string{string(e.Route.Service)}, claims.Audience)
			require.Empty(t, claims.RequestID, "it is for more than one request")
		}
	}
	require.Len(t, given, len(exchanges))
}

func TestKeptTokensAreBounded(t *testing.T) {
	t.Parallel()
	c := newCredentials(t)
	for i := range 3 * maxKept {
		c.keep(holder{name: strings.Repeat("n", i%7), scopes: time.Duration(i).String()}, kept{})
	}
	require.LessOrEqual(t, len(c.kept), maxKept)
}
