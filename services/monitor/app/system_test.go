package app_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/monitor/app"
)

// reliability section 5: no secret leaves the process.
func TestAMonitorTellsItsSettingsWithoutSecrets(t *testing.T) {
	t.Parallel()
	cfg := app.DefaultConfig()
	cfg.API.Dev = true
	cfg.Redis.URL = "redis://ops:hunter2@127.0.0.1:1/0"
	cfg.Redis.Password, cfg.Redis.SentinelPassword, cfg.Telemetry.TracesHeaders = "hunter2", "hunter2", "authorization=hunter2"
	a, err := app.New(t.Context(), cfg, app.Deps{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close(context.WithoutCancel(t.Context()))) })
	answer := httptest.NewRecorder()
	a.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/coord/v1/internal/system", http.NoBody))
	require.Equal(t, 200, answer.Code, "%s", answer.Body)
	require.NotContains(t, answer.Body.String(), "hunter2")
	require.Contains(t, answer.Body.String(), `{"key":"redis.url","value":"********","masked":true}`)
	require.Contains(t, answer.Body.String(), `{"key":"observe.interval","value":"5s","masked":false}`)
	require.Contains(t, answer.Body.String(), `"service":"monitor"`)
}
