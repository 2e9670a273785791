package app_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

// reliability section 5: no secret leaves the process.
func TestACoordinatorTellsItsSettingsWithoutSecrets(t *testing.T) {
	t.Parallel()
	ring := keyring(t, "one")
	cfg := inMemory()
	cfg.Redis.URL, cfg.Redis.Username = "redis://ops:hunter2@db:6379/0", "somebody"
	cfg.Redis.Password, cfg.Redis.SentinelPassword, cfg.Telemetry.TracesHeaders = "hunter2", "hunter2", "authorization=hunter2"
	c := start(t, cfg, app.Deps{Keys: ring})
	status, _ := c.call("GET", "/coord/v1/internal/system", nil, nil)
	require.Equal(t, 401, status)

	c.token = sign(t, ring)
	var body json.RawMessage
	status, _ = c.call("GET", "/coord/v1/internal/system", nil, &body)
	require.Equal(t, 200, status, "%s", body)
	require.NotContains(t, string(body), "hunter2")
	var told protocol.SystemProcess
	require.NoError(t, json.Unmarshal(body, &told))
	require.Equal(t, protocol.ServiceCoordinator, told.Service)
	require.Equal(t, c.app.ID(), told.Instance)
	require.Equal(t, app.Build(), told.Version)
	require.False(t, told.StartedAt.IsZero())
	require.Contains(t, told.Configuration, protocol.SystemSetting{Key: "redis.url", Value: "********", Masked: true})
	require.Contains(t, told.Configuration, protocol.SystemSetting{Key: "redis.username", Value: "somebody"})
	require.Contains(t, told.Configuration, protocol.SystemSetting{Key: "provisioning.enabled", Value: "false"})
}
