package pgstore_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/pgstore"
)

// counter counts statements: each is one round trip once its connection knows it.
type counter struct {
	statements atomic.Int64
}

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.statements.Add(1)
	return ctx
}

func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// oneStatement: what is asked of the store all the time costs one round trip, and holds no
// transaction open between two of them.
func oneStatement(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	var counted counter
	prepared := migrated(t, server.Database(t)).Config()
	prepared.ConnConfig.Tracer, prepared.AfterConnect = &counted, nil
	prepared.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false } // however long a line takes
	pool, err := pgxpool.NewWithConfig(t.Context(), prepared)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	kept := newStore(t, pool, pgstore.Options{})
	version := created(t, kept)
	costs := func(what string, act func() error) {
		t.Helper()
		before := counted.statements.Load()
		require.NoError(t, act())
		require.Equal(t, int64(1), counted.statements.Load()-before, what)
	}
	costs("touch", func() error { _, err := kept.Touch(t.Context(), heard(version, "m1", 1)); return err })
	costs("load", func() error { _, err := kept.Load(t.Context(), orders(), store.Version{}); return err })
	costs("commit", func() error { _, err := kept.Commit(t.Context(), next(version)); return err })
	costs("history", func() error { _, err := kept.History(t.Context(), orders(), "", 10); return err })
	costs("announcement", func() error { _, err := kept.Announce(t.Context(), store.Peer{ID: "a"}, time.Hour); return err })
	costs("ping", func() error { _, err := kept.Ping(t.Context()); return err })
}
