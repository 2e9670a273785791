package postgrestest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/postgres"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
)

func TestSessionsAreSetUpWhateverTheServersDefaultsAre(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t, postgresproc.WithParameters(
		"synchronous_commit=off", "default_transaction_isolation=serializable"))
	pool := open(t, server.Database(t))
	require.Equal(t, "on", text(t, pool, "SHOW synchronous_commit"))
	require.Equal(t, "read committed", text(t, pool, "SHOW transaction_isolation"))
	require.Equal(t, "30s", text(t, pool, "SHOW statement_timeout"))
	require.Equal(t, "test", text(t, pool, "SHOW application_name"))

	named := server.Database(t) + "&application_name=mine"
	brief, err := postgres.Open(t.Context(), postgres.Settings{URL: config.Secret(named)},
		postgres.Options{Application: "test", StatementTimeout: 50 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(brief.Close)
	require.Equal(t, "mine", text(t, brief, "SHOW application_name"))
	_, err = brief.Exec(t.Context(), "SELECT pg_sleep(60)")
	require.Equal(t, postgres.StateTimeout, postgres.StateOf(err))
}

func TestAWeakerWaitForStandbysThanOnStaysAsItIs(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t, postgresproc.WithParameters("synchronous_commit=remote_apply"))
	require.Equal(t, "remote_apply", text(t, open(t, server.Database(t)), "SHOW synchronous_commit"))
}

func TestFaultsOfARealServerHaveTheirNames(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t, postgresproc.WithParameters("max_connections=8", "superuser_reserved_connections=1"))
	url := server.Database(t)
	pool := open(t, url)
	state := func(pool *pgxpool.Pool, statement string) postgres.State {
		_, err := pool.Exec(t.Context(), statement)
		return postgres.StateOf(err)
	}
	require.Equal(t, postgres.StateNoSchema, state(pool, "SELECT * FROM nothing"))
	require.Equal(t, postgres.StateNoPerm, state(pool, "CREATE ROLE another"))
	require.Equal(t, postgres.StateReadOnly, state(pool, "BEGIN READ ONLY; CREATE TABLE a (n int)"))
	require.Equal(t, postgres.StateNoSchema, state(open(t, strings.Replace(url, "?", "nothing?", 1)), "SELECT 1"), "no such database")
	require.Equal(t, postgres.StateNoPerm, state(open(t, strings.Replace(url, "rsc@", "stranger@", 1)), "SELECT 1"))
	require.Equal(t, postgres.StateConnections, exhausted(t, url))
	pool.Close()

	again := open(t, url)
	require.Equal(t, postgres.StateOK, state(again, "SELECT 1"))
	require.Equal(t, postgres.StateShutdown, state(again, "SELECT pg_terminate_backend(pg_backend_pid())"))
	server.Kill()
	require.Equal(t, postgres.StateUnreachable, state(again, "SELECT 1"))
}

// exhausted takes connections until the server has no more, and returns the state then.
func exhausted(t *testing.T, url string) postgres.State {
	t.Helper()
	pool := open(t, url)
	var held []*pgxpool.Conn
	defer func() {
		for _, conn := range held {
			conn.Release()
		}
		pool.Close()
	}()
	for range 9 {
		conn, err := pool.Acquire(t.Context())
		if err != nil {
			return postgres.StateOf(err)
		}
		held = append(held, conn)
	}
	return postgres.StateOK
}

func TestAPausedServerIsATimeoutAndMayHaveWritten(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	pool := open(t, server.Database(t))
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	server.Pause()
	defer server.Resume()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = conn.Exec(ctx, "CREATE TABLE a (n int)")
	require.Equal(t, postgres.StateTimeout, postgres.StateOf(err))
	require.False(t, postgres.Undone(err))
}
