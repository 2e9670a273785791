package httpapi_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/httpapi"
)

func keyring(t *testing.T, secret string) *auth.Keyring {
	t.Helper()
	key, err := auth.KeyFromSecret(secret)
	require.NoError(t, err)
	ring, err := auth.NewKeyring(key)
	require.NoError(t, err)
	return ring
}

// token returns the Authorization header of a caller.
func token(t *testing.T, ring *auth.Keyring, audience string, roles auth.Roles, scopes ...auth.Scope) string {
	t.Helper()
	now := time.Now()
	signed, err := ring.Sign(auth.Claims{
		ID: "j", Subject: "ops", Audience: []string{audience}, Roles: roles, Scopes: scopes, IssuedAt: now, ExpiresAt: now.Add(time.Minute),
	})
	require.NoError(t, err)
	return "Bearer " + signed
}

// targets are all endpoints that tell of streams.
func targets() []string {
	const names = "?streamPrefix=orders&consumerGroup=billing"
	return []string{
		base + "/groups", billing, billing + "/members", billing + "/assignments", billing + "/migrations", billing + "/consumption",
		billing + "/offsets", billing + "/shards/1/messages", billing + "/shards/1/pending", rowsOf + "/groups", rowsOf + "/shards" + names, rowsOf + "/members" + names,
		rowsOf + "/assignments" + names, rowsOf + "/messages" + names, rowsOf + "/options/streams", rowsOf + "/options/consumer-groups" + names,
		rowsOf + "/options/shards" + names,
	}
}

// Gateway, Authentication: bypassing the gateway bypasses nothing.
func TestOnlyTheGatewaysTokensForTheMonitorAreTaken(t *testing.T) {
	t.Parallel()
	ring := keyring(t, "one")
	m := start(t, httpapi.Config{}, httpapi.Deps{Guard: httpapi.NewGuard(ring, true, time.Now)})
	m.publish(roundOf(1))
	good := token(t, ring, auth.AudienceMonitor, auth.Read)
	for _, target := range append(targets(), base+"/stream") {
		require.Equal(t, protocol.CodeUnauthorized, m.code(401, target))
		for _, header := range []string{
			token(t, ring, auth.AudienceCoordinator, auth.Read), token(t, ring, auth.AudienceAPI, auth.Read),
			token(t, keyring(t, "two"), auth.AudienceMonitor, auth.Read), "Basic b3BzOnB3", good + "x", "Bearer", "",
		} {
			require.Equal(t, protocol.CodeUnauthorized, m.code(401, target, "Authorization", header), target)
		}
		require.Equal(t, protocol.CodeUnauthorized, m.code(401, target, "Authorization", good, "Authorization", good))
		require.Equal(t, protocol.CodeForbidden, m.code(403, target, "Authorization", token(t, ring, auth.AudienceMonitor, auth.Member)))
	}
	for _, target := range targets() {
		m.get(http.StatusOK, target, "Authorization", good)
	}
	for _, target := range []string{"/healthz", "/readyz", "/version"} {
		m.get(http.StatusOK, target)
	}
}

func TestScopesReachTheStreamThatIsNamed(t *testing.T) {
	t.Parallel()
	ring := keyring(t, "one")
	m := start(t, httpapi.Config{}, httpapi.Deps{Guard: httpapi.NewGuard(ring, false, time.Now)})
	m.publish(roundOf(1))
	mine := token(t, ring, auth.AudienceMonitor, auth.Read, "orders*")
	other := token(t, ring, auth.AudienceMonitor, auth.Read, "other")
	for _, rows := range []string{"/shards", "/members", "/assignments", "/options/shards"} {
		target := rowsOf + rows + "?streamPrefix=&consumerGroup="
		require.Equal(t, protocol.CodeForbidden, m.code(403, target, "Authorization", mine), "%s is about all streams", target)
	}
	for _, target := range targets() {
		if slices.Contains(narrowed(), target) {
			require.NotContains(t, string(m.get(http.StatusOK, target, "Authorization", other)), "orders", target)
			continue
		}
		require.Equal(t, protocol.CodeForbidden, m.code(403, target, "Authorization", other))
	}
	require.Equal(t, protocol.CodeForbidden, m.code(403, base+"/stream?streamPrefix=orders", "Authorization", other))
	for _, target := range targets()[1:8] {
		m.get(http.StatusOK, target, "Authorization", mine)
	}
	// Rights go by the name that the answer goes by.
	const twice = "/members?consumerGroup=billing&streamPrefix=other&streamPrefix=orders"
	require.Equal(t, protocol.CodeInvalidRequest, m.code(400, rowsOf+twice, "Authorization", other))
	require.Equal(t, protocol.CodeInvalidRequest, m.code(400, rowsOf+"/members?StreamPrefix=orders&consumerGroup=billing", "Authorization", other))
	require.Equal(t, protocol.CodeForbidden, m.code(403, billing+"?streamPrefix=other", "Authorization", other), "the path's stays")
}

func TestWithoutKeysEverybodyIsRefusedUnlessDevelopmentSaysSo(t *testing.T) {
	t.Parallel()
	for _, guard := range []*httpapi.Guard{httpapi.NewGuard(nil, false, time.Now), {}} {
		m := start(t, httpapi.Config{}, httpapi.Deps{Guard: guard})
		m.publish(roundOf(1))
		require.Equal(t, protocol.CodeUnauthorized, m.code(401, billing))
		require.Equal(t, protocol.CodeUnauthorized, m.code(401, billing, "Authorization", token(t, keyring(t, "x"), auth.AudienceMonitor, auth.Read)))
	}
	serving(t).get(http.StatusOK, billing)
}
