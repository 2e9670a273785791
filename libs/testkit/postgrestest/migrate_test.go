package postgrestest_test

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/postgres"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
)

const versions = "test_schema"

// files returns migrations; each text is one, the first has number 1.
func files(statements ...string) fs.FS {
	made := fstest.MapFS{}
	for i, statement := range statements {
		made["0000"+string(rune('1'+i))+"_step.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\n" + statement + "\n")}
	}
	return made
}

func TestMigrations(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	for name, check := range map[string]func(*testing.T, *postgresproc.Server){
		"run once, and the later ones when they come":           runOnce,
		"one that fails is undone and leaves the schema before": undone,
		"of many processes at once each finds them done":        together,
		"a newer schema is refused and not touched":             newer,
		"two tables of versions do not know each other":         apart,
		"a user who may not create tables is told so":           forbidden,
		"waiting for the turn ends with the context":            waits,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, server)
		})
	}
}

func runOnce(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	pool := open(t, server.Database(t))
	first := "CREATE TABLE a (n int); INSERT INTO a VALUES (1);"
	for range 2 {
		require.NoError(t, postgres.Migrate(t.Context(), pool, files(first), versions))
	}
	require.NoError(t, postgres.Migrate(t.Context(), pool, files(first, "INSERT INTO a VALUES (2);"), versions))
	require.Equal(t, "1,2", text(t, pool, "SELECT string_agg(n::text, ',' ORDER BY n) FROM a"))
	single, err := postgres.Open(t.Context(), postgres.Settings{URL: config.Secret(server.Database(t)), PoolSize: 1}, postgres.Options{})
	require.NoError(t, err)
	t.Cleanup(single.Close)
	require.NoError(t, postgres.Migrate(t.Context(), single, files(first), versions), "a pool of one connection is enough")
}

func undone(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	pool := open(t, server.Database(t))
	first := "CREATE TABLE a (n int);"
	require.NoError(t, postgres.Migrate(t.Context(), pool, files(first), versions))
	broken := "ALTER TABLE a ADD COLUMN m int; INSERT INTO a VALUES (1, 1); SELECT 1/0;"
	err := postgres.Migrate(t.Context(), pool, files(first, broken), versions)
	require.ErrorIs(t, err, postgres.ErrMigration)
	require.ErrorContains(t, err, "00002_step.sql has failed and was undone, the schema is intact at version 1")
	require.ErrorContains(t, err, "division by zero")
	require.Equal(t, "0", text(t, pool, "SELECT count(*)::text FROM a"))
	require.Equal(t, "n", text(t, pool, "SELECT string_agg(column_name, ',') FROM information_schema.columns WHERE table_name = 'a'"))
	require.NoError(t, postgres.Migrate(t.Context(), pool, files(first), versions), "the old binary still starts")
	require.NoError(t, postgres.Migrate(t.Context(), pool, files(first, "ALTER TABLE a ADD COLUMN m int;"), versions), "and one that is repaired too")
}

func together(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	url := server.Database(t)
	var group sync.WaitGroup
	results := make([]error, 6)
	for i := range results {
		pool := open(t, url)
		group.Go(func() {
			results[i] = postgres.Migrate(context.WithoutCancel(t.Context()), pool, files(
				"CREATE TABLE a (n int);", "INSERT INTO a SELECT 1 FROM pg_sleep(0.05);"), versions)
		})
	}
	group.Wait()
	require.NoError(t, errors.Join(results...))
	require.Equal(t, "1", text(t, open(t, url), "SELECT count(*)::text FROM a"))
}

func newer(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	pool := open(t, server.Database(t))
	first := "CREATE TABLE a (n int);"
	require.NoError(t, postgres.Migrate(t.Context(), pool, files(first, "CREATE TABLE b (n int);"), versions))
	err := postgres.Migrate(t.Context(), pool, files(first), versions)
	require.ErrorIs(t, err, postgres.ErrNewerSchema)
	require.ErrorContains(t, err, "test_schema is at 2, this binary knows 1")
	require.Equal(t, "0", text(t, pool, "SELECT count(*)::text FROM b"))
}

func apart(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	pool := open(t, server.Database(t))
	require.NoError(t, postgres.Migrate(t.Context(), pool, files("CREATE TABLE a (n int);", "CREATE TABLE b (n int);"), versions))
	require.NoError(t, postgres.Migrate(t.Context(), pool, files("CREATE TABLE c (n int);"), "other_schema"))
}

func forbidden(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	url := server.Database(t)
	_, err := open(t, url).Exec(t.Context(), "REVOKE CREATE ON SCHEMA public FROM pg_database_owner")
	require.NoError(t, err)
	err = postgres.Migrate(t.Context(), open(t, url), files("CREATE TABLE a (n int);"), versions)
	require.ErrorContains(t, err, "permission denied for schema public")
	require.Equal(t, postgres.StateNoPerm, postgres.StateOf(err))
}

func waits(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	url := server.Database(t)
	pool := open(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	started, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		started <- postgres.Migrate(ctx, pool, files("CREATE TABLE a AS SELECT 1 FROM pg_sleep(20);"), versions)
	}()
	require.Eventually(t, func() bool {
		return text(t, pool, "SELECT count(*)::text FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())") == "1"
	}, time.Minute, 10*time.Millisecond)
	waiting, stop := context.WithCancel(t.Context())
	go func() { ended <- postgres.Migrate(waiting, pool, files("CREATE TABLE b (n int);"), versions) }()
	stop()
	require.Error(t, <-ended)
	cancel()
	require.Error(t, <-started)
	require.Eventually(t, func() bool {
		return postgres.Migrate(t.Context(), pool, files("CREATE TABLE a (n int);"), versions) == nil
	}, time.Minute, 10*time.Millisecond, "the lock of a process that is gone goes too")
}
