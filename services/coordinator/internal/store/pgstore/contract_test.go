package pgstore_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/postgres"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/pgstore"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestContractOnAServer(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	url := server.Database(t)
	maker := open(t, url)
	var made atomic.Int64
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		t.Helper()
		// A schema is made much sooner than a database.
		own := fmt.Sprintf("contract%d", made.Add(1))
		_, err := maker.Exec(t.Context(), "CREATE SCHEMA "+own)
		require.NoError(t, err)
		pool := migrated(t, url+"&search_path="+own)
		kept := newStore(t, pool, pgstore.Options{LeaseWait: -1})
		return storetest.Harness{
			Store:   kept,
			Pass:    func(t *testing.T, d time.Duration) { t.Helper(); pass(t, kept, d) },
			History: func(t *testing.T, key store.Key) [][]byte { t.Helper(); return history(t, pool, key) },
			Spoil:   func(t *testing.T, key store.Key, field string) { t.Helper(); spoil(t, pool, key, field) },
		}
	})
}

// open returns a pool of the URL that is closed with the test.
func open(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := postgres.Open(t.Context(), postgres.Settings{URL: config.Secret(url)}, postgres.Options{Application: "test"})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// migrated returns a pool of the URL whose database has the tables.
func migrated(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pool := open(t, url)
	require.NoError(t, pgstore.Migrate(t.Context(), pool))
	return pool
}

func newStore(t *testing.T, pool *pgxpool.Pool, options pgstore.Options) *pgstore.Store {
	t.Helper()
	kept, err := pgstore.New(pool, options)
	require.NoError(t, err)
	return kept
}

// pass returns when the clock of the server has moved by d.
func pass(t *testing.T, kept *pgstore.Store, d time.Duration) {
	t.Helper()
	start, err := kept.Ping(t.Context())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		now, err := kept.Ping(t.Context())
		return err == nil && now >= start.Add(d)
	}, time.Minute, time.Millisecond)
}

func history(t *testing.T, pool *pgxpool.Pool, key store.Key) [][]byte {
	t.Helper()
	rows, err := pool.Query(t.Context(), "SELECT data FROM rsc_event WHERE stream_prefix = $1 AND consumer_group = $2 ORDER BY at, sequence",
		key.Stream, key.Group)
	require.NoError(t, err)
	events, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	require.NoError(t, err)
	return events
}

func spoil(t *testing.T, pool *pgxpool.Pool, key store.Key, field string) {
	t.Helper()
	change := map[string]string{
		"revision": "revision = 0", "token": "token = ''", "schemaVersion": "schema_version = -1", "servedAt": "served_at = -1",
	}[field]
	done, err := pool.Exec(t.Context(), "UPDATE rsc_record SET "+change+" WHERE stream_prefix = $1 AND consumer_group = $2", key.Stream, key.Group)
	require.NoError(t, err)
	require.Equal(t, int64(1), done.RowsAffected())
}
