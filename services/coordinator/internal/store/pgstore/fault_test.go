package pgstore_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/postgres"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/pgstore"
)

func TestAKilledServerIsUnreachableAndHasEverythingWhenItIsBack(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	kept := newStore(t, migrated(t, server.Database(t)), pgstore.Options{})
	version := created(t, kept)
	before := loaded(t, kept)
	server.Kill()
	_, err := kept.Load(t.Context(), orders(), store.Version{})
	unavailable(t, err, "UNREACHABLE")
	_, err = kept.Touch(t.Context(), heard(version, "m1", 1))
	require.False(t, mayHaveWritten(t, err, "UNREACHABLE"), "nobody took the connection")
	_, err = kept.Ping(t.Context())
	unavailable(t, err, "UNREACHABLE")

	server.Restart()
	after := loaded(t, kept)
	require.Equal(t, before.Record, after.Record)
	require.NotEqual(t, before.Identity, after.Identity, "what happened in between nobody knows (M1)")
	change := next(version)
	change.Identity = before.Identity
	_, err = kept.Commit(t.Context(), change)
	require.ErrorIs(t, err, store.ErrConflict)
	require.ErrorContains(t, err, "store identity")
	touch := heard(version, "m1", 1)
	touch.Identity = before.Identity
	_, err = kept.Touch(t.Context(), touch)
	require.ErrorIs(t, err, store.ErrConflict)
	change.Identity = after.Identity
	_, err = kept.Commit(t.Context(), change)
	require.NoError(t, err)
}

// All connections of the pool broke while nobody looked: the call goes on with a new one.
func TestCallsOutliveARestartThatNobodyNoticed(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	pool := migrated(t, server.Database(t))
	kept := newStore(t, pool, pgstore.Options{})
	version := created(t, kept)
	for _, end := range []func(){server.Stop, server.Kill} {
		for _, err := range together(6, func(int) error { return pool.Ping(t.Context()) }) {
			require.NoError(t, err)
		}
		end()
		server.Restart()
		for _, err := range together(6, func(int) error {
			_, err := kept.Load(t.Context(), orders(), store.Version{})
			return err
		}) {
			require.NoError(t, err)
		}
	}
	_, err := kept.Commit(t.Context(), next(version))
	require.NoError(t, err)
}

func TestAPausedServerIsATimeoutThatMayHaveWritten(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	kept := newStore(t, migrated(t, server.Database(t)), pgstore.Options{})
	version := created(t, kept)
	change := next(version)
	server.Pause()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := kept.Commit(ctx, change)
	unavailable(t, err, "TIMEOUT")
	server.Resume()
	// Whether it was written or not, asked again it is.
	done, err := kept.Commit(t.Context(), change)
	require.NoError(t, err)
	require.Equal(t, store.Version{Revision: 2, Token: change.Token}, done.Version)
}

func TestAServerThatIsSetToReadOnlyIsReadOnly(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	kept := newStore(t, migrated(t, server.Database(t)), pgstore.Options{LeaseWait: -1})
	version := created(t, kept)
	server.Exec(t, "postgres", "ALTER ROLE "+postgresproc.Owner+" SET default_transaction_read_only = on")
	server.Kill()
	server.Restart()
	refusedByReadOnly(t, kept, version)
	server.Exec(t, "postgres", "ALTER ROLE "+postgresproc.Owner+" RESET default_transaction_read_only")
	// The sessions that were told so are given up, like those to a primary of before a failover.
	require.Eventually(t, func() bool {
		_, err := kept.Commit(t.Context(), next(version))
		return err == nil
	}, time.Minute, time.Millisecond)
}

func refusedByReadOnly(t *testing.T, kept *pgstore.Store, version store.Version) {
	t.Helper()
	_, err := kept.Commit(t.Context(), next(version))
	unavailable(t, err, "READONLY") // its first try may have met a connection of before the restart
	_, err = kept.Commit(t.Context(), next(version))
	require.False(t, mayHaveWritten(t, err, "READONLY"))
	_, err = kept.Touch(t.Context(), heard(version, "m1", 1))
	unavailable(t, err, "READONLY")
	_, err = kept.Create(t.Context(), store.Create{Key: store.Key{Stream: "other"}, Token: "t", Aggregate: []byte("x")})
	unavailable(t, err, "READONLY")
	_, err = kept.Delete(t.Context(), orders(), version, nil)
	unavailable(t, err, "READONLY")
	_, err = kept.Lease(t.Context(), orders(), time.Hour)
	unavailable(t, err, "READONLY")
	_, err = kept.Announce(t.Context(), store.Peer{ID: "a"}, time.Hour)
	unavailable(t, err, "READONLY")
	_, err = kept.Load(t.Context(), orders(), version)
	unavailable(t, err, "READONLY")
	_, err = kept.Load(t.Context(), store.Key{Stream: "absent"}, version)
	unavailable(t, err, "READONLY")
	_, err = kept.History(t.Context(), store.Key{Stream: "absent"}, "", 1)
	unavailable(t, err, "READONLY")
	_, err = kept.List(t.Context())
	unavailable(t, err, "READONLY")
	_, err = kept.Ping(t.Context())
	unavailable(t, err, "READONLY")
}

func faultsByName(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	url := server.Database(t)
	unmigrated := newStore(t, open(t, url), pgstore.Options{})
	_, err := unmigrated.Load(t.Context(), orders(), store.Version{})
	unavailable(t, err, "NOSCHEMA")
	_, err = newStore(t, open(t, strings.Replace(url, "rsc@", "stranger@", 1)), pgstore.Options{}).Ping(t.Context())
	unavailable(t, err, "NOPERM")
	_, err = newStore(t, open(t, strings.Replace(url, "?", "absent?", 1)), pgstore.Options{}).Ping(t.Context())
	unavailable(t, err, "NOSCHEMA")
	closed := open(t, url)
	closed.Close()
	_, err = newStore(t, closed, pgstore.Options{}).Ping(t.Context())
	unavailable(t, err, "OTHER")
}

func rowHeld(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	pool := migrated(t, server.Database(t))
	kept := newStore(t, pool, pgstore.Options{})
	version := created(t, kept)
	hand, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = hand.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = hand.Exec(t.Context(), "SELECT FROM rsc_record FOR UPDATE")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = kept.Touch(ctx, heard(version, "m1", 1))
	unavailable(t, err, "TIMEOUT")
	require.NoError(t, hand.Rollback(t.Context()))
	_, err = kept.Touch(t.Context(), heard(version, "m2", 1))
	require.NoError(t, err)
}

func poolFull(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	url := server.Database(t)
	migrated(t, url)
	single, err := postgres.Open(t.Context(), postgres.Settings{URL: config.Secret(url), PoolSize: 1}, postgres.Options{})
	require.NoError(t, err)
	t.Cleanup(single.Close)
	conn, err := single.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = newStore(t, single, pgstore.Options{}).Create(ctx, store.Create{Key: orders(), Token: "t", Aggregate: []byte("x")})
	require.False(t, mayHaveWritten(t, err, "TIMEOUT"))
}

// A trigger stands for other work in the database that makes PostgreSQL undo a transaction.
func undone(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	pool := migrated(t, server.Database(t))
	kept := newStore(t, pool, pgstore.Options{})
	version := created(t, kept)
	_, err := pool.Exec(t.Context(), `
		CREATE SEQUENCE hits;
		CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF nextval('hits') = 1 THEN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END IF;
			RETURN NEW;
		END $$;
		CREATE TRIGGER undo BEFORE UPDATE ON rsc_record FOR EACH ROW EXECUTE FUNCTION undo()`)
	require.NoError(t, err)
	_, err = kept.Commit(t.Context(), next(version))
	require.NoError(t, err)
	require.Len(t, history(t, pool, orders()), 2)
}

func isolated(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	pool := migrated(t, server.Database(t))
	version := created(t, newStore(t, pool, pgstore.Options{}))
	for _, isolation := range []string{"REPEATABLE READ", "SERIALIZABLE"} {
		work, err := pool.Begin(t.Context())
		require.NoError(t, err)
		t.Cleanup(func() { _ = work.Rollback(context.WithoutCancel(t.Context())) })
		_, err = work.Exec(t.Context(), "SET TRANSACTION ISOLATION LEVEL "+isolation)
		require.NoError(t, err)
		_, err = work.Exec(t.Context(), "SELECT rsc_touch($1, $2, $3, $4, 'none', 0, '[]', '[]')",
			orders().Stream, orders().Group, version.Revision, []byte(version.Token))
		require.ErrorContains(t, err, "not in "+isolation)
		require.NoError(t, work.Rollback(t.Context()))
	}
}

// Field case F21: all connections lead to a server that takes no writes any more, and the next
// call reaches the one that does.
func TestAfterAFailoverTheOtherServerIsAsked(t *testing.T) {
	t.Parallel()
	old, fresh := postgresproc.Start(t), postgresproc.Start(t)
	url := old.Database(t)
	migrated(t, url).Close()
	old.Stop()
	fresh.Stop()
	fresh.Restore(t, old.Backup(t))
	old.Restart()
	fresh.Restart()

	both := strings.Replace(url, old.Addr(), old.Addr()+","+fresh.Addr(), 1) + "&target_session_attrs=read-write"
	pool := open(t, both)
	kept := newStore(t, pool, pgstore.Options{})
	for _, err := range together(6, func(int) error { return pool.Ping(t.Context()) }) {
		require.NoError(t, err)
	}
	version := created(t, kept)
	before := loaded(t, kept).Identity
	_, err := open(t, old.Admin(url)).Exec(t.Context(), "ALTER SYSTEM SET default_transaction_read_only = on")
	require.NoError(t, err)
	_, err = open(t, old.Admin(url)).Exec(t.Context(), "SELECT pg_reload_conf()")
	require.NoError(t, err)
	require.Eventually(t, func() bool { // until the sessions know
		_, err := kept.Load(t.Context(), orders(), store.Version{})
		return errors.Is(err, store.ErrNotFound)
	}, time.Minute, time.Millisecond, "what the other one lacks was lost")
	_, err = kept.Commit(t.Context(), next(version))
	require.ErrorIs(t, err, store.ErrNotFound)
	created(t, kept)
	require.NotEqual(t, before, loaded(t, kept).Identity)
}
