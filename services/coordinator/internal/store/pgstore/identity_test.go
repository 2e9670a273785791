package pgstore_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/pgstore"
)

func identityParts(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	kept := newStore(t, migrated(t, server.Database(t)), pgstore.Options{})
	created(t, kept)
	parts := strings.Split(loaded(t, kept).Identity, "/")
	require.Len(t, parts, 4)
	require.NotEqual(t, "-", parts[0], "the cluster's number")
	require.Equal(t, "00000001", parts[1], "the timeline")
	require.NotEmpty(t, parts[2], "the start of the server")
	require.NotEmpty(t, parts[3], "the file of the records")
}

func TestAnOlderCopyOfTheDataIsAnotherStore(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	kept := newStore(t, migrated(t, server.Database(t)), pgstore.Options{})
	version := created(t, kept)
	server.Stop()
	backup := server.Backup(t)
	server.Restart()
	before := loaded(t, kept)
	lost, err := kept.Commit(t.Context(), next(version))
	require.NoError(t, err)

	server.Kill()
	server.Restore(t, backup)
	server.Restart()
	after := loaded(t, kept)
	require.Equal(t, version, after.Version, "the commit is lost")
	require.NotEqual(t, before.Identity, after.Identity)
	change := next(lost.Version)
	_, err = kept.Commit(t.Context(), change)
	require.ErrorIs(t, err, store.ErrConflict)
	change = next(version)
	change.Identity = before.Identity
	_, err = kept.Commit(t.Context(), change)
	require.ErrorIs(t, err, store.ErrConflict, "who decided on the store of before must look again (MUT35)")
}

func TestAStandbyAnswersNothingAndIsAnotherStoreWhenItIsPromoted(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	url := server.Database(t)
	kept := newStore(t, migrated(t, url), pgstore.Options{LeaseWait: -1})
	version := created(t, kept)
	before := loaded(t, kept)
	server.Stop()
	signal := filepath.Join(server.Data(), "standby.signal")
	require.NoError(t, os.WriteFile(signal, nil, 0o666))
	require.NoError(t, os.Chmod(signal, 0o666))
	server.Restart()
	refusedByReadOnly(t, kept, version)

	admin := open(t, server.Admin(url))
	_, err := admin.Exec(t.Context(), "SELECT pg_promote()")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := kept.Load(t.Context(), orders(), store.Version{})
		return err == nil
	}, time.Minute, time.Millisecond)
	after := loaded(t, kept)
	require.Equal(t, "00000002", strings.Split(after.Identity, "/")[1])
	require.NotEqual(t, before.Identity, after.Identity)
	require.Equal(t, before.Record, after.Record)
}

func dumpLoaded(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	pool := migrated(t, server.Database(t))
	kept := newStore(t, pool, pgstore.Options{})
	created(t, kept)
	for name, restore := range map[string]string{
		"the rows are exchanged": "CREATE TABLE dump AS TABLE rsc_record; TRUNCATE rsc_record; INSERT INTO rsc_record TABLE dump; DROP TABLE dump",
		"the table is made anew": "CREATE TABLE dump (LIKE rsc_record INCLUDING ALL); INSERT INTO dump TABLE rsc_record; DROP TABLE rsc_record; ALTER TABLE dump RENAME TO rsc_record",
	} {
		before := loaded(t, kept)
		exec(t, pool, restore)
		after := loaded(t, kept)
		require.Equal(t, before.Record, after.Record)
		require.NotEqual(t, before.Identity, after.Identity, name)
	}
}

func exec(t *testing.T, pool *pgxpool.Pool, statements string) {
	t.Helper()
	conn, err := pool.Acquire(context.WithoutCancel(t.Context()))
	require.NoError(t, err)
	defer conn.Release()
	_, err = conn.Conn().PgConn().Exec(t.Context(), statements).ReadAll()
	require.NoError(t, err)
}
