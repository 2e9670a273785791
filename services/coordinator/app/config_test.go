package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

func load(t *testing.T, text string, environ ...string) (app.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rsc.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return config.Load(app.DefaultConfig(), config.Source{File: path, Environ: environ, Ignore: app.OtherSections()})
}

// documented is the example of the original configuration, word for word.
const documented = `
coordinator:
  api:
    base-path: /coord/v1
    admin-username: admin
    admin-password: ${COORDINATOR_ADMIN_PASSWORD:password}
    authenticate-member-api: false
    users:
      - username: admin
        password: ${COORDINATOR_WRITE_PASSWORD}
        roles: [WRITE]
      - username: grafana
        password: ${COORDINATOR_READ_PASSWORD}
        roles: [READ]
    rate-limit:
      enabled: true
      window: 1m
      max-requests: 60
  store:
    # memory for local development, redis for Redis-backed metadata, or jdbc for database-backed metadata.
    type: redis
    key-prefix: redis-stream:coord
  audit:
    sink: redis
  redis:
    host: ${REDIS_HOST:127.0.0.1}
    port: ${REDIS_PORT:6379}
    database: ${REDIS_DATABASE:0}
    username: ${REDIS_USERNAME:}
    password: ${REDIS_PASSWORD:}
    tls: ${REDIS_TLS:false}
  coordination:
    heartbeat-interval: 1s
    member-lease-ttl: 10s
    rebalance-timeout: 60s
    event-loop:
      enabled: true
      interval: 1s
    state-mutex:
      enabled: true
      ttl-ms: 30000
      acquire-timeout-ms: 5000
      retry-interval-ms: 100
  defaults:
    initial-shard-count: 4
`

func TestDocumentedExampleLoadsAndEqualsTheDefaults(t *testing.T) {
	t.Parallel()
	cfg, err := load(t, documented)
	require.NoError(t, err)
	require.Equal(t, app.DefaultConfig(), cfg)

	cfg, err = load(t, documented, "REDIS_HOST=db", "REDIS_PASSWORD=hunter2", "RSC_STORE_TYPE=memory", "RSC_REDIS_TLS=true",
		"RSC_STORE_REDIS_WAIT_REPLICAS=off")
	require.NoError(t, err)
	require.Equal(t, "db", cfg.Redis.Host)
	require.Equal(t, "hunter2", cfg.Redis.Password.Reveal())
	require.Equal(t, app.StoreMemory, cfg.Store.Type)
	require.Equal(t, "off", cfg.Store.Redis.WaitReplicas)
	require.True(t, cfg.Redis.TLS)
}

// Trace T15: the orderings that the promise of one reader rests on refuse the start.
func TestTimingThatBreaksThePromiseRefusesTheStart(t *testing.T) {
	t.Parallel()
	for _, set := range []string{
		"rebalance-timeout: 19s", "client-lease: 8001ms", "heartbeat-interval: 4001ms", "member-lease-ttl: 31s",
		"routing-lease: 4999ms", "barrier-extra: -1s", "hint-interval: 0s", "stale-member-retention: 0s",
	} {
		_, err := load(t, "coordinator: {coordination: {"+set+"}}")
		key, _, _ := strings.Cut(set, ":")
		require.ErrorContains(t, err, "coordination."+key)
	}
	cfg := app.DefaultConfig()
	cfg.Coordination.RebalanceTimeout = 2*cfg.Coordination.MemberLeaseTTL - 1
	_, err := app.New(t.Context(), cfg, app.Deps{})
	require.ErrorContains(t, err, "coordination.rebalance-timeout", "also for a program that embeds it")
}

func TestEveryProblemIsToldAtOnce(t *testing.T) {
	t.Parallel()
	_, err := load(t, `
coordinator:
  listen: 8081
  shutdown-timeout: 0s
  api: {base-path: coord}
  store: {type: oracle, key-prefix: "a{b}", redis: {wait-replicas: always}}
  redis: {port: 0, database: -1, addresses: [db], pool-size: -1, tls-ca-file: /nowhere}
  coordination:
    rebalance-timeout: 1s
    event-loop: {interval: 0s, sweep-interval: -1s}
    state-mutex: {ttl-ms: 0, acquire-timeout-ms: -1, retry-interval-ms: -1}
  defaults: {initial-shard-count: 10001}
  limits: {max-members: 0}
  log: {level: loud, format: xml}
  colour: red
`)
	for _, key := range []string{
		"listen", "shutdown-timeout", "api.base-path", "store.type", "store.key-prefix", "store.redis.wait-replicas", "redis.addresses", "redis.pool-size",
		"redis.tls-ca-file", "redis.*", "coordination.rebalance-timeout", "coordination.event-loop.interval",
		"coordination.event-loop.sweep-interval", "coordination.state-mutex.ttl-ms", "coordination.state-mutex.acquire-timeout-ms",
		"coordination.state-mutex.retry-interval-ms", "defaults.initial-shard-count", "limits.max-members", "log.level",
		"log.format", "coordinator.colour",
	} {
		require.ErrorContains(t, err, key)
	}
	require.Len(t, strings.Split(err.Error(), "\n"), 22, "%v", err)
}

func TestRedisCanBeGivenInEveryForm(t *testing.T) {
	t.Parallel()
	for form, redis := range map[string]func(*app.Redis){
		"host and port":   func(*app.Redis) {},
		"URL":             func(r *app.Redis) { r.URL = "rediss://user:secret@db:7000/2" },
		"cluster":         func(r *app.Redis) { r.Cluster, r.Addresses = true, []string{"a:1", "b:2"} },
		"one seed":        func(r *app.Redis) { r.Cluster = true },
		"Sentinel":        func(r *app.Redis) { r.MasterName, r.Addresses = "main", []string{"a:1"} },
		"IPv6":            func(r *app.Redis) { r.Host = "::1" },
		"URL of clusters": func(r *app.Redis) { r.URL = "redis+cluster://a,b:7001" },
	} {
		cfg := app.DefaultConfig()
		redis(&cfg.Redis)
		require.NoError(t, cfg.Validate(), form)
	}
	cfg := app.DefaultConfig()
	cfg.Redis.URL = "http://user:secret@db"
	require.ErrorContains(t, cfg.Validate(), "redis.url")
	require.NotContains(t, cfg.Validate().Error(), "secret")
	cfg = app.DefaultConfig()
	cfg.Redis.Addresses = []string{"a:1", "b:2"}
	require.ErrorContains(t, cfg.Validate(), "redis.*: invalid Redis options: 2 addresses need Cluster or MasterName")
}

func TestEverySettingIsDocumented(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.Flags(flags, app.DefaultConfig())
	flags.VisitAll(func(flag *pflag.Flag) {
		require.Regexp(t, `^[^ (].* \(RSC_[A-Z0-9_]+\)$`, flag.Usage, flag.Name)
	})
	for _, secret := range config.Secrets(app.DefaultConfig()) {
		require.NotEmpty(t, secret[1], secret[0])
	}
}
