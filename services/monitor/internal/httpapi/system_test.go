package httpapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/httpapi"
)

const system = "/coord/v1/internal/system"

// askSystem asks for what the API's document does not have: it is for the gateway.
func askSystem(t *testing.T, at http.Handler, target, authorization string) (int, []byte) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody)
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	answer := httptest.NewRecorder()
	at.ServeHTTP(answer, request)
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.Code, body
}

// gateway, Roles: settings concern all streams. A stream that the query names gives no right.
func TestSettingsAreToldToTheGatewayOnly(t *testing.T) {
	t.Parallel()
	ring := keyring(t, "one")
	want := protocol.SystemProcess{
		Service: protocol.ServiceMonitor, Instance: "host-1", StartedAt: protocol.AtMillis(1_800_000_000_000),
		Configuration: []protocol.SystemSetting{{Key: "redis.url", Value: "********", Masked: true}},
	}
	api := httpapi.New(httpapi.Config{Process: want}, httpapi.Deps{Guard: httpapi.NewGuard(ring, true, time.Now)})
	bound := token(t, ring, auth.AudienceMonitor, auth.Read, "orders")
	for authorization, status := range map[string]int{
		"": 401, "Bearer x": 401, token(t, ring, auth.AudienceCoordinator, auth.Read): 401, token(t, keyring(t, "two"), auth.AudienceMonitor, auth.Read): 401,
		token(t, ring, auth.AudienceMonitor, auth.Member): 403, token(t, ring, auth.AudienceMonitor, 0): 403, bound: 403,
	} {
		for _, query := range []string{"", "?streamPrefix=orders", "?streamPrefix=orders&consumerGroup=billing"} {
			got, body := askSystem(t, api, system+query, authorization)
			require.Equal(t, status, got, "%s", body)
			require.NotContains(t, string(body), "host-1")
		}
	}
	status, body := askSystem(t, api, system, token(t, ring, auth.AudienceMonitor, auth.Read))
	require.Equal(t, 200, status, "%s", body)
	var told protocol.SystemProcess
	require.NoError(t, json.Unmarshal(body, &told))
	require.Equal(t, want, told)
}

func TestWithoutKeysSettingsAreForNobodyButInDevelopment(t *testing.T) {
	t.Parallel()
	for dev, want := range map[bool]int{false: 401, true: 200} {
		status, body := askSystem(t, httpapi.New(httpapi.Config{}, httpapi.Deps{Guard: httpapi.NewGuard(nil, dev, time.Now)}), system, "")
		require.Equal(t, want, status, "%s", body)
		require.Equal(t, dev, string(body[:12]) == `{"service":"`)
	}
}
