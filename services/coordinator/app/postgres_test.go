package app_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/postgres"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

// inPostgres returns settings whose metadata is in the database of the URL.
func inPostgres(redis *redisproc.Server, url string) app.Config {
	cfg := settings(redis)
	cfg.Store.Type, cfg.Store.Postgres.URL = app.StorePostgres, config.Secret(url)
	return cfg
}

// The metadata is in PostgreSQL only, and what goes for Redis goes for it: nothing is answered
// from memory while it is away (storage design, Failure).
func TestPostgresAwayIsToldAndNothingIsAnsweredFromMemory(t *testing.T) {
	t.Parallel()
	redis, server := redisproc.Start(t), postgresproc.Start(t)
	c := start(t, inPostgres(redis, server.Database(t)), app.Deps{})
	c.createOrders("billing")
	m := newMember("m1", ordersURL)
	settle(c, m)
	ready(c)
	healthy(c)
	require.Zero(t, redis.Client(t).Exists(t.Context(), ordersKey).Val())

	server.Kill()
	beat := protocol.HeartbeatRequest{
		ProtocolVersion: 1, RequestID: "r", MemberID: "m1", MemberEpoch: m.epoch, MetadataVersion: m.version, OwnedShards: m.owned,
		RuntimeConsumerCapacity: protocol.Capacity{RuntimeMaxConcurrency: 1, AvailableConcurrency: 1},
	}
	require.Equal(t, protocol.CodeStoreUnavailable,
		c.refused("POST", ordersURL+"/members/m1/heartbeat", beat, http.StatusServiceUnavailable))
	require.Equal(t, protocol.CodeStoreUnavailable, c.refused("GET", "/readyz", nil, http.StatusServiceUnavailable))
	require.Eventually(t, func() bool { // a probe may also run out of its time
		health := c.health()
		return health.Status == protocol.HealthDegraded && health.Redis == protocol.HealthUp &&
			strings.Contains(strings.Join(health.Problems, " "), "PostgreSQL, which keeps the metadata, does not work now (UNREACHABLE)")
	}, patience, interval)

	server.Restart()
	ready(c)
	settle(c, m)
	healthy(c)
}

func TestTwoCoordinatorsServeOneGroupInPostgres(t *testing.T) {
	t.Parallel()
	redis, url := redisproc.Start(t), postgresproc.Start(t).Database(t)
	cfg := inPostgres(redis, url)
	cfg.Store.Type = app.StoreJDBC
	first, second := start(t, inPostgres(redis, url), app.Deps{}), start(t, cfg, app.Deps{})
	first.createOrders("billing")
	a, b := newMember("m1", ordersURL), newMember("m2", ordersURL)
	require.Eventually(t, func() bool {
		one, other := a.beat(first), b.beat(second)
		return one.Status == protocol.StatusOK && other.Status == protocol.StatusOK && len(a.owned) == 2 && len(b.owned) == 2
	}, patience, interval)
	first.close()
	settle(second, a, b)
}

func TestAStartWithoutAUsableDatabaseIsRefusedWithTheNextStep(t *testing.T) {
	t.Parallel()
	redis, server := redisproc.Start(t), postgresproc.Start(t)
	refusal := func(url string) error {
		t.Helper()
		_, err := app.New(t.Context(), inPostgres(redis, url), app.Deps{})
		require.Error(t, err)
		return err
	}
	newer := server.Database(t)
	start(t, inPostgres(redis, newer), app.Deps{}).close()
	run(t, newer, "INSERT INTO rsc_schema (version_id, is_applied) VALUES (99, true)")
	err := refusal(newer)
	require.ErrorIs(t, err, postgres.ErrNewerSchema)
	require.ErrorContains(t, err, "run the binary that made it")

	taken := server.Database(t)
	run(t, taken, "CREATE TABLE rsc_event (mine int)")
	require.ErrorIs(t, refusal(taken), postgres.ErrMigration)

	fresh := server.Database(t)
	require.ErrorContains(t, refusal(strings.Replace(fresh, "?", "absent?", 1)), "create the database")
	require.ErrorContains(t, refusal(strings.Replace(fresh, "rsc@", "stranger@", 1)), "see store.postgres.username")
	run(t, fresh, "REVOKE CREATE ON SCHEMA public FROM pg_database_owner")
	require.ErrorContains(t, refusal(fresh), "let the user create tables")
}

// run runs a statement as the owner of the database.
func run(t *testing.T, url, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), statement)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
}

func TestAStartWaitsForItsPostgres(t *testing.T) {
	t.Parallel()
	redis, server := redisproc.Start(t), postgresproc.Start(t)
	url := server.Database(t)
	server.Stop()
	var log lines
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := app.New(ctx, inPostgres(redis, url), app.Deps{Logger: log.logger()})
		ended <- err
	}()
	require.Eventually(t, func() bool {
		return strings.Contains(log.take(), "PostgreSQL does not work yet; the start waits for it")
	}, patience, time.Millisecond)
	cancel()
	err := <-ended
	require.ErrorContains(t, err, "see store.postgres.url or store.postgres.host")

	started := make(chan error, 1)
	var late *app.App
	go func() {
		var err error
		late, err = app.New(context.WithoutCancel(t.Context()), inPostgres(redis, url), app.Deps{Logger: log.logger()})
		started <- err
	}()
	require.Eventually(t, func() bool { return strings.Contains(log.take(), "the start waits for it") }, patience, time.Millisecond)
	server.Restart()
	require.NoError(t, <-started)
	require.NoError(t, late.Close(t.Context()))
}

func TestSettingsOfPostgresAreCheckedWhereTheyCountAndNeverShown(t *testing.T) {
	t.Parallel()
	cfg := app.DefaultConfig()
	cfg.Store.Postgres.URL = "mysql://u:hunter2@h/d"
	require.NoError(t, cfg.Validate(), "store.type is redis")
	cfg.Store.Type = app.StorePostgres
	require.ErrorContains(t, cfg.Validate(), "store.postgres.url")
	require.NotContains(t, cfg.Validate().Error(), "hunter2")
	cfg = app.DefaultConfig()
	cfg.Store.Type, cfg.Store.Postgres.TLSMode = app.StoreJDBC, "yes"
	require.ErrorContains(t, cfg.Validate(), "store.postgres.tls-mode")
}

// Storage design, Failure: Redis counts only where it is used.
func TestPostgresWithoutProvisioningNeedsNoRedis(t *testing.T) {
	t.Parallel()
	gone := redisproc.Start(t)
	cfg := inPostgres(gone, postgresproc.Start(t).Database(t))
	cfg.Provisioning.Enabled = false
	gone.Kill()
	c := start(t, cfg, app.Deps{})
	ready(c)
	c.createOrders("billing")
	settle(c, newMember("m1", ordersURL))
	healthy(c)
	require.Equal(t, "DISABLED", c.health().Redis)
	var repaired json.RawMessage
	status, _ := c.call("POST", "/coord/v1/admin/repair-index", map[string]string{"requestedBy": "test", "reason": "test"}, &repaired)
	require.Equalf(t, http.StatusOK, status, "the table is the index: %s", repaired)
}
