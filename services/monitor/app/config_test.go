package app_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/services/monitor/app"
)

// TestMain lets the Redis client look for a server that was killed for the second that it
// does so after its end.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

func load(t *testing.T, yaml string, environ ...string) (app.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rsc.yaml")
	require.NoError(t, os.WriteFile(path, []byte(yaml), 0o600))
	return config.Load(app.DefaultConfig(), config.Source{File: path, Environ: environ, Ignore: app.OtherSections()})
}

// Architecture, Configuration: one file may serve all services.
func TestOneFileServesAllServices(t *testing.T) {
	t.Parallel()
	cfg, err := load(t, `
coordinator:
  listen: ":8081"
  shutdown-timeout: 5s
  store: {type: redis, key-prefix: "mine:coord"}
  coordination: {heartbeat-interval: 2s}
  provisioning: {enabled: false}
  defaults: {initial-shard-count: 3}
  limits: {max-shards: 8}
  gateway: {listen: ":8443", monitor: "http://monitor:8082"}
  audit: {sink: redis}
  web: {listen: ":8083"}
  telemetry: {traces-endpoint: "http://collector:4318"}
  api: {base-path: /x, token-secret: s, jwks-url: "http://gateway:8080/.well-known/jwks.json"}
  monitor: {listen: "127.0.0.1:1", coordinator: "http://coordinator:8081"}
  observe: {interval: 2s}
  redis: {host: db}
`, "RSC_OBSERVE_MEMORY_EVERY=3")
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:1", cfg.Monitor.Listen)
	require.Equal(t, 2*time.Second, cfg.Observe.Interval)
	require.Equal(t, 3, cfg.Observe.MemoryEvery)
	require.Equal(t, "/x", cfg.API.BasePath)
	require.Equal(t, "mine:coord", cfg.Store.KeyPrefix)

	cfg, err = load(t, "coordinator: {}", "RSC_MONITOR_COORDINATOR=http://one:8081, https://two/x")
	require.NoError(t, err, "several after commas")
	require.Equal(t, "http://one:8081, https://two/x", cfg.Monitor.Coordinator)
	for _, wrong := range []string{" ", ",", "http://one:8081,", "http://one:8081,two:8081", "http://one:8081,http://u:hunter2@two"} {
		_, err = load(t, "coordinator: {}", "RSC_MONITOR_COORDINATOR="+wrong)
		require.ErrorContains(t, err, "monitor.coordinator", wrong)
		require.NotContains(t, err.Error(), "hunter2")
	}

	_, err = load(t, "coordinator: {observe: {intervall: 2s}}")
	require.ErrorContains(t, err, "intervall", "keys that nobody knows refuse the start")
}

func TestEveryWrongSettingIsNamed(t *testing.T) {
	t.Parallel()
	_, err := load(t, `
coordinator:
  monitor: {listen: nowhere, shutdown-timeout: 0s, coordinator: "http://u:hunter2@c", max-followers: 0}
  observe: {interval: 1ms, structure-interval: 0s, round-timeout: 0s, memory-every: 0, consumers-every: 0, history: 0s}
  api: {base-path: coord, jwks-url: "ftp://u:hunter2@gateway"}
  store: {key-prefix: "-"}
  redis: {host: ""}
  log: {level: loud}
`)
	require.ErrorIs(t, err, config.ErrInvalid)
	for _, key := range []string{
		"monitor.listen", "monitor.shutdown-timeout", "monitor.coordinator", "monitor.max-followers", "observe.interval", "observe.structure-interval",
		"observe.round-timeout", "observe.memory-every", "observe.consumers-every", "observe.history", "api.base-path", "api.jwks-url",
		"store.key-prefix", "redis.host", "log.level",
	} {
		require.ErrorContains(t, err, key)
	}
	require.NotContains(t, err.Error(), "hunter2")
	_, err = app.New(t.Context(), app.Config{}, app.Deps{})
	require.ErrorIs(t, err, app.ErrSettings)
	require.NoError(t, app.DefaultConfig().Validate())
}
