package app_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
)

const system = "/coord/v1/system"

// canary stands in every secret of the settings.
const canary = "canary-0123456789-0123456789-0123456789"

// asSystem asks for the system with basic authentication; no user is nobody.
func asSystem(t *testing.T, of *app.App, user string) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, system, http.NoBody)
	if user != "" {
		request.SetBasicAuth(user, canary)
	}
	answer := httptest.NewRecorder()
	of.Handler().ServeHTTP(answer, request)
	return answer
}

func startSystem(t *testing.T, cfg app.Config) *app.App {
	t.Helper()
	started, err := app.New(t.Context(), cfg, app.Deps{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, started.Close(context.WithoutCancel(t.Context()))) })
	return started
}

// systemSettings have a secret wherever one can be.
func systemSettings() app.Config {
	cfg := app.DefaultConfig()
	cfg.API.Dev, cfg.API.TokenSecret, cfg.API.PreviousTokenSecret, cfg.API.AdminPassword = true, canary, canary+"2", canary
	cfg.API.Users = []app.User{
		{Username: "reader", Password: canary, Roles: []string{"READ"}},
		{Username: "member", Password: canary, Roles: []string{"MEMBER"}},
		{Username: "bound", Password: canary, Roles: []string{"ADMIN"}, Scopes: []string{"orders*"}},
	}
	cfg.Redis.URL, cfg.Redis.Password, cfg.Redis.SentinelPassword = "redis://ops:"+canary+"@db:6379", canary, canary
	cfg.Audit.Postgres.URL, cfg.Audit.Postgres.Password = "postgres://audit:"+canary+"@db/audit", canary
	cfg.Telemetry.TracesHeaders = "authorization=" + canary
	return cfg
}

// gateway, Roles; reliability section 5: no secret leaves the process.
func TestTheSystemIsForReadersOfAllStreamsAndWithoutSecrets(t *testing.T) {
	t.Parallel()
	monitor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(protocol.SystemProcess{Service: protocol.ServiceMonitor, Instance: "m-1"})
	}))
	t.Cleanup(monitor.Close)
	cfg := systemSettings()
	cfg.Gateway.Monitor, cfg.Gateway.Coordinators = monitor.URL, []string{"http://127.0.0.1:1", monitor.URL}
	gateway := startSystem(t, cfg)

	for user, status := range map[string]int{"": 401, "nobody": 401, "member": 403, "bound": 403} {
		require.Equal(t, status, asSystem(t, gateway, user).Code, user)
	}
	for _, user := range []string{"reader", "admin"} {
		answer := asSystem(t, gateway, user)
		require.Equal(t, 200, answer.Code, "%s", answer.Body)
		require.NotContains(t, answer.Body.String(), canary[:20])
		require.NotContains(t, answer.Body.String(), "bound", "who may log in is not told")
		var said protocol.SystemResponse
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &said))
		require.Len(t, said.Parts, 4)
		self := said.Parts[0]
		require.Equal(t, protocol.ServiceGateway, self.Service)
		require.Nil(t, self.Address)
		require.Equal(t, gateway.ID(), self.Process.Instance)
		require.False(t, self.Process.StartedAt.IsZero())
		for _, key := range []string{"api.token-secret", "api.previous-token-secret", "api.admin-password", "api.users", "redis.url", "redis.password"} {
			require.Contains(t, self.Process.Configuration, protocol.SystemSetting{Key: key, Value: "********", Masked: true})
		}
		require.Contains(t, self.Process.Configuration, protocol.SystemSetting{Key: "gateway.monitor", Value: monitor.URL})
		require.Contains(t, *said.Parts[1].Problem, "cannot be reached")
		require.Contains(t, *said.Parts[2].Problem, "says that it is a monitor")
		require.Equal(t, "m-1", said.Parts[3].Process.Instance)
	}
}

// Nobody gets there around the gateway's own check by asking for the services' path.
func TestThePathOfTheServicesIsNoneOfTheGateways(t *testing.T) {
	t.Parallel()
	gateway := startSystem(t, systemSettings())
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/coord/v1/internal/system", http.NoBody)
	request.SetBasicAuth("admin", canary)
	answer := httptest.NewRecorder()
	gateway.Handler().ServeHTTP(answer, request)
	require.Equal(t, 404, answer.Code)
}

// A service is asked in the name of the caller, by a token that is no login's.
func TestServicesAreAskedWithTheirOwnToken(t *testing.T) {
	t.Parallel()
	tokens := make(chan string, 1)
	console := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tokens <- r.Header.Get("Authorization")
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(console.Close)
	cfg := systemSettings()
	cfg.Gateway.Web, cfg.Gateway.Coordinators = console.URL, []string{"http://127.0.0.1:1"}
	gateway := startSystem(t, cfg)
	require.Equal(t, 200, asSystem(t, gateway, "reader").Code)
	token := (<-tokens)[len("Bearer "):]
	claims, err := auth.NewVerifier(gateway.Keys(), clock.Now, auth.AudienceWeb).Verify(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, "reader", claims.Subject)
	require.Equal(t, auth.Read, claims.Roles)
	require.Equal(t, []string{auth.AudienceWeb}, claims.Audience)
}
