package pgstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/postgres"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/pgstore"
)

func schemaClaims() claims {
	found := claims{}
	for name, check := range map[string]func(*testing.T, *pgxpool.Pool){
		"coordinators that start at once find it made":                migrateTogether,
		"a migration that fails leaves nothing behind":                migrateHalf,
		"a newer one is refused, and the data stays as it is":         migrateNewer,
		"a history goes when its time is over, and not before":        historyEnds,
		"a history of a record that was made again stays":             historyStays,
		"names that no record may have are left out of the list":      strangers,
		"what stands in a field and was never written is corrupt":     corruptFields,
		"a hand cannot write liveness that nobody would understand":   constrained,
		"tables of another schema are used when the user's path says": elsewhere,
	} {
		found[name] = func(t *testing.T, server *postgresproc.Server) { t.Helper(); check(t, open(t, server.Database(t))) }
	}
	return found
}

func migrateTogether(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	results := together(5, func(int) error { return pgstore.Migrate(context.WithoutCancel(t.Context()), pool) })
	require.NoError(t, errors.Join(results...))
	created(t, newStore(t, pool, pgstore.Options{}))
	require.NoError(t, pgstore.Migrate(t.Context(), pool))
	loaded(t, newStore(t, pool, pgstore.Options{}))
}

func migrateHalf(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	exec(t, pool, "CREATE TABLE rsc_lease (mine int)")
	err := pgstore.Migrate(t.Context(), pool)
	require.ErrorIs(t, err, postgres.ErrMigration)
	require.ErrorContains(t, err, "00001_metadata.sql has failed and was undone, the schema is intact at version 0")
	require.ErrorContains(t, err, `relation "rsc_lease" already exists`)
	require.Equal(t, 2, count(t, pool, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "the one of before, and that of versions")
	exec(t, pool, "DROP TABLE rsc_lease")
	require.NoError(t, pgstore.Migrate(t.Context(), pool))
}

func migrateNewer(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	require.NoError(t, pgstore.Migrate(t.Context(), pool))
	created(t, newStore(t, pool, pgstore.Options{}))
	exec(t, pool, "INSERT INTO "+pgstore.SchemaTable+" (version_id, is_applied) VALUES (99, true)")
	err := pgstore.Migrate(t.Context(), pool)
	require.ErrorIs(t, err, postgres.ErrNewerSchema)
	require.ErrorContains(t, err, "rsc_schema is at 99, this binary knows 1")
	require.Equal(t, 1, count(t, pool, "SELECT count(*) FROM rsc_record"))
}

func count(t *testing.T, pool *pgxpool.Pool, query string) int {
	t.Helper()
	var found int
	require.NoError(t, pool.QueryRow(t.Context(), query).Scan(&found))
	return found
}

// ended makes a record, deletes it and then makes and deletes another one, which sweeps.
func ended(t *testing.T, kept *pgstore.Store, wait time.Duration) {
	t.Helper()
	_, err := kept.Delete(t.Context(), orders(), created(t, kept), []byte("deleted"))
	require.NoError(t, err)
	pass(t, kept, wait)
	other := store.Key{Stream: "other"}
	done, err := kept.Create(t.Context(), store.Create{Key: other, Token: "t", Aggregate: []byte("x")})
	require.NoError(t, err)
	_, err = kept.Delete(t.Context(), other, done.Version, nil)
	require.NoError(t, err)
}

func historyEnds(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	require.NoError(t, pgstore.Migrate(t.Context(), pool))
	ended(t, newStore(t, pool, pgstore.Options{}), 0)
	require.Len(t, history(t, pool, orders()), 2)
	brief := newStore(t, pool, pgstore.Options{HistoryRetention: 5 * time.Millisecond})
	ended(t, brief, 10*time.Millisecond)
	require.Empty(t, history(t, pool, orders()))
	_, err := brief.History(t.Context(), orders(), "", 1)
	require.ErrorIs(t, err, store.ErrNotFound)
}

func historyStays(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	require.NoError(t, pgstore.Migrate(t.Context(), pool))
	brief := newStore(t, pool, pgstore.Options{HistoryRetention: 5 * time.Millisecond})
	_, err := brief.Delete(t.Context(), orders(), created(t, brief), []byte("deleted"))
	require.NoError(t, err)
	created(t, brief)
	pass(t, brief, 10*time.Millisecond)
	other := store.Key{Stream: "other"}
	done, err := brief.Create(t.Context(), store.Create{Key: other, Token: "t", Aggregate: []byte("x")})
	require.NoError(t, err)
	_, err = brief.Delete(t.Context(), other, done.Version, nil)
	require.NoError(t, err)
	require.Len(t, history(t, pool, orders()), 3)
}

func strangers(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	require.NoError(t, pgstore.Migrate(t.Context(), pool))
	kept := newStore(t, pool, pgstore.Options{})
	created(t, kept)
	exec(t, pool, `INSERT INTO rsc_record (stream_prefix, consumer_group, revision, token, schema_version, aggregate, updated_at)
		VALUES ('a b', '', 1, 't', 1, '', 0), ('', '', 1, 't', 1, '', 0), ('redis-stream:coord', 'g', 1, 't', 1, '', 0)`)
	keys, err := kept.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []store.Key{orders()}, keys)
}

func corruptFields(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	require.NoError(t, pgstore.Migrate(t.Context(), pool))
	kept := newStore(t, pool, pgstore.Options{})
	for _, field := range []string{"revision", "token", "schemaVersion", "servedAt"} {
		version := created(t, kept)
		spoil(t, pool, orders(), field)
		_, err := kept.Load(t.Context(), orders(), version)
		var corrupt *store.CorruptError
		require.ErrorAs(t, err, &corrupt)
		require.Equal(t, field, corrupt.Field)
		_, err = kept.Touch(t.Context(), heard(version, "m1", 1))
		require.ErrorAs(t, err, &corrupt)
		require.Equal(t, field, corrupt.Field)
		_, err = kept.Commit(t.Context(), next(version))
		require.ErrorIs(t, err, store.ErrCorrupt)
		_, err = kept.Delete(t.Context(), orders(), version, nil)
		require.ErrorIs(t, err, store.ErrCorrupt)
		_, err = kept.Delete(t.Context(), orders(), store.Version{}, nil)
		require.NoError(t, err)
	}
	_, err := kept.Load(t.Context(), orders(), store.Version{})
	require.ErrorIs(t, err, store.ErrNotFound)
}

func constrained(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	require.NoError(t, pgstore.Migrate(t.Context(), pool))
	for _, columns := range []string{"deadline", "sequence"} {
		_, err := pool.Exec(t.Context(), "INSERT INTO rsc_liveness (stream_prefix, consumer_group, member_id, "+columns+") VALUES ('a', 'b', 'c', -1)")
		require.ErrorContains(t, err, "violates check constraint")
	}
}

func elsewhere(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	exec(t, pool, "CREATE SCHEMA mine; ALTER ROLE "+postgresproc.Owner+" IN DATABASE "+pool.Config().ConnConfig.Database+" SET search_path = mine")
	pool.Reset()
	require.NoError(t, pgstore.Migrate(t.Context(), pool))
	created(t, newStore(t, pool, pgstore.Options{}))
	require.Equal(t, 1, count(t, pool, "SELECT count(*) FROM mine.rsc_record"))
}
