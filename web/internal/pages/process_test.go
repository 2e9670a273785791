package pages_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/pages"
)

// gateway, Roles: settings concern all streams.
func TestTheConsolesSettingsAreToldToTheGatewayOnly(t *testing.T) {
	t.Parallel()
	key, err := auth.KeyFromSecret("a secret of tests that is long enough")
	require.NoError(t, err)
	keys, err := auth.NewKeyring(key)
	require.NoError(t, err)
	want := protocol.SystemProcess{
		Service: protocol.ServiceConsole, Instance: "host-1", StartedAt: protocol.AtMillis(1_800_000_000_000),
		Configuration: []protocol.SystemSetting{{Key: "web.listen", Value: ":8083"}},
	}
	console := pages.New(pages.Config{MaxViewers: 1, BasePath: "/base/", Process: want}, pages.Deps{Keys: keys, Now: clock.Now, Gate: httpx.NewGate()})
	t.Cleanup(console.Close)
	ask := func(path, authorization string) *httptest.ResponseRecorder {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		request.Header.Set("Authorization", authorization)
		answer := httptest.NewRecorder()
		console.ServeHTTP(answer, request)
		return answer
	}
	token := func(audience string, roles auth.Roles, scopes ...auth.Scope) string {
		signed, err := keys.Sign(auth.Claims{
			ID: "t-1", Subject: "ops", Audience: []string{audience}, Roles: roles, Scopes: scopes, IssuedAt: clock.Now(), ExpiresAt: clock.Now().Add(time.Minute),
		})
		require.NoError(t, err)
		return "Bearer " + signed
	}
	for authorization, status := range map[string]int{
		"": 401, "Bearer x": 401, token(auth.AudienceMonitor, auth.Read): 401, token(auth.AudienceAPI, auth.Read): 401,
		token(auth.AudienceWeb, 0): 403, token(auth.AudienceWeb, auth.Member): 403, token(auth.AudienceWeb, auth.Read, "orders*"): 403,
	} {
		for _, query := range []string{"", "?streamPrefix=orders"} {
			got := ask("/base/internal/system"+query, authorization)
			require.Equal(t, status, got.Code, "%s", got.Body)
			require.NotContains(t, got.Body.String(), "host-1")
		}
	}
	got := ask("/base/internal/system", token(auth.AudienceWeb, auth.Read))
	require.Equal(t, http.StatusOK, got.Code, "%s", got.Body)
	require.Equal(t, "no-store", got.Header().Get("Cache-Control"))
	var told protocol.SystemProcess
	require.NoError(t, json.Unmarshal(got.Body.Bytes(), &told))
	require.Equal(t, want, told)
}
