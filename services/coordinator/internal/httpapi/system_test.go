package httpapi_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/httpapi"
)

const system = base + "/internal/system"

// gateway, Roles: settings concern all streams, so they are for those who may read of all.
func TestSettingsAreToldToTheGatewayOnly(t *testing.T) {
	t.Parallel()
	g := newGateway(t, "one")
	a := guardedAPI(t, g, false)
	for _, header := range []string{
		"X-Nothing: 1", "Authorization: Bearer abc", g.login(auth.Read | auth.Write | auth.Member), newGateway(t, "two").upstream(auth.Read),
		g.token(func(c *auth.Claims) { c.Audience = []string{auth.AudienceMonitor} }),
	} {
		requireRefusal(t, a.call(t, "GET", system, "", header), 401, protocol.CodeUnauthorized, "")
	}
	for _, header := range []string{g.upstream(auth.Member), g.upstream(0), g.upstream(auth.Read, "orders*")} {
		requireRefusal(t, a.call(t, "GET", system, "", header), 403, protocol.CodeForbidden, "")
	}
	got := a.call(t, "GET", system, "", g.upstream(auth.Read))
	require.Equal(t, 200, got.status, "%s", got.body)
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))
	require.Contains(t, string(got.body), `"configuration":[]`, "no settings are an empty list")
}

func TestWithoutKeysSettingsAreForNobodyButInDevelopment(t *testing.T) {
	t.Parallel()
	a := startAPIWith(t, func(deps *httpapi.Deps) { deps.Guard = nil })
	requireRefusal(t, a.call(t, "GET", system, ""), 401, protocol.CodeUnauthorized, "")
	a = startAPIWith(t, func(deps *httpapi.Deps) { deps.Guard = httpapi.NewGuard(httpapi.GuardConfig{Dev: true}) })
	require.Equal(t, 200, a.call(t, "GET", system, "").status)
}

func TestWhatIsToldIsThisProcess(t *testing.T) {
	t.Parallel()
	want := protocol.SystemProcess{
		Service: protocol.ServiceCoordinator, Instance: "host-1", Version: protocol.VersionResponse{Version: "v1", Commit: "c", GoVersion: "go"},
		StartedAt: protocol.AtMillis(1_800_000_000_000), Configuration: []protocol.SystemSetting{{Key: "redis.password", Value: "********", Masked: true}},
	}
	a := serveAPI(t, httpapi.Config{Process: want}, httpx.Limits{}, func(*httpapi.Deps) {})
	var told protocol.SystemProcess
	require.NoError(t, json.Unmarshal(a.call(t, "GET", system, "").body, &told))
	require.Equal(t, want, told)
}
