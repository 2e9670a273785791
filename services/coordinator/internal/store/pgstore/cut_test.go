package pgstore_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/postgres"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/pgstore"
)

// cutter passes connections on to a server and loses the next answers of it: the request
// has arrived and was carried out, and the connection breaks instead of an answer.
type cutter struct {
	listener net.Listener
	server   string
	losses   atomic.Int64
	lost     atomic.Int64
	group    sync.WaitGroup
}

func startCutter(t *testing.T, server string) *cutter {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c := &cutter{listener: listener, server: server}
	c.group.Go(c.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		c.group.Wait()
	})
	return c
}

func (c *cutter) accept() {
	for {
		client, err := c.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", c.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		c.group.Go(func() {
			_, _ = io.Copy(server, client)
			_ = server.Close()
		})
		c.group.Go(func() {
			defer func() { _, _ = client.Close(), server.Close() }()
			c.answer(client, server)
		})
	}
}

// answer passes answers on until one is to be lost.
func (c *cutter) answer(client, server net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if n > 0 && c.losses.Load() > 0 {
			c.losses.Add(-1)
			c.lost.Add(1)
			return
		}
		if _, failed := client.Write(buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}

// through returns a store whose only connection goes through the cutter, with statements
// prepared, so that the next answer is that of a call.
func through(t *testing.T, c *cutter, url, server string) (*pgstore.Store, store.Version) {
	t.Helper()
	url = strings.Replace(url, server, c.listener.Addr().String(), 1)
	pool, err := postgres.Open(t.Context(), postgres.Settings{URL: config.Secret(url), PoolSize: 1}, postgres.Options{})
	require.NoError(t, err)
	prepared := pool.Config()
	pool.Close()
	// A connection that was idle is asked whether it still works, and that answer would be lost.
	prepared.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	unasked, err := pgxpool.NewWithConfig(t.Context(), prepared)
	require.NoError(t, err)
	t.Cleanup(unasked.Close)
	kept := newStore(t, unasked, pgstore.Options{})
	done, err := kept.Commit(t.Context(), next(created(t, kept)))
	require.NoError(t, err)
	_, err = kept.Touch(t.Context(), heard(done.Version, "m1", 1))
	require.NoError(t, err)
	return kept, done.Version
}

func commitCut(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	url := server.Database(t)
	direct := migrated(t, url)
	cut := startCutter(t, server.Addr())
	kept, version := through(t, cut, url, server.Addr())
	change := next(version)
	change.Beats = heard(version, "m1", 2).Beats

	// One loss: the store asks again by itself.
	cut.losses.Store(1)
	done, err := kept.Commit(t.Context(), change)
	require.NoError(t, err)
	require.Equal(t, int64(1), cut.lost.Load())
	require.Equal(t, store.Version{Revision: version.Revision + 1, Token: change.Token}, done.Version)
	require.Equal(t, []bool{true}, done.Applied, "what was applied the first time is told")
	require.Len(t, history(t, direct, orders()), 3)

	// Losses without end: it may have been written, and it was.
	again := next(done.Version)
	_, err = kept.Touch(t.Context(), heard(done.Version, "m1", 3))
	require.NoError(t, err)
	_, err = kept.Load(t.Context(), orders(), done.Version)
	require.NoError(t, err)
	ensureCommitPrepared(t, kept)
	cut.losses.Store(1 << 40)
	_, err = kept.Commit(t.Context(), again)
	require.True(t, mayHaveWritten(t, err, "UNREACHABLE"))
	cut.losses.Store(0)
	final, err := kept.Commit(t.Context(), again)
	require.NoError(t, err)
	require.Equal(t, done.Version.Revision+1, final.Version.Revision)
	require.Len(t, history(t, direct, orders()), 4, "its event is there once")
}

// ensureCommitPrepared lets the connection of the pool know the statement of a commit.
func ensureCommitPrepared(t *testing.T, kept *pgstore.Store) {
	t.Helper()
	_, err := kept.Commit(t.Context(), next(store.Version{Revision: 99, Token: "none"}))
	require.ErrorIs(t, err, store.ErrConflict)
}

func beatCut(t *testing.T, server *postgresproc.Server) {
	t.Helper()
	url := server.Database(t)
	migrated(t, url)
	cut := startCutter(t, server.Addr())
	kept, version := through(t, cut, url, server.Addr())
	cut.losses.Store(1)
	done, err := kept.Touch(t.Context(), heard(version, "m1", 2))
	require.NoError(t, err)
	require.Equal(t, int64(1), cut.lost.Load())
	require.Equal(t, []bool{false}, done.Applied)
	require.Equal(t, loaded(t, kept).Liveness["m1"].Deadline, done.Deadlines[0])
	require.Equal(t, int64(2), loaded(t, kept).Liveness["m1"].Sequence)
}
