package postgrestest_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/postgres"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open returns a pool of the URL that is closed with the test.
func open(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()
	pool, err := postgres.Open(t.Context(), postgres.Settings{URL: config.Secret(url)}, postgres.Options{Application: "test"})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func text(t *testing.T, pool *pgxpool.Pool, query string) string {
	t.Helper()
	var found string
	require.NoError(t, pool.QueryRow(t.Context(), query).Scan(&found))
	return found
}
