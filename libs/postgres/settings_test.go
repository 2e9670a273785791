package postgres_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/postgres"
)

func opened(t *testing.T, settings postgres.Settings) *pgxpool.Pool {
	t.Helper()
	pool, err := postgres.Open(t.Context(), settings, postgres.Options{Application: "test"})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

func TestTheDefaultsAreAServerOnThisMachine(t *testing.T) {
	t.Parallel()
	settings := postgres.DefaultSettings()
	require.NoError(t, settings.Validate("store.postgres"))
	built := opened(t, settings).Config()
	require.Equal(t, "127.0.0.1", built.ConnConfig.Host)
	require.Equal(t, uint16(5432), built.ConnConfig.Port)
	require.Equal(t, "rsc", built.ConnConfig.Database)
	require.Equal(t, "rsc", built.ConnConfig.User)
	require.Equal(t, int32(10), built.MaxConns)
}

func TestKeysReachTheConnectionWhateverIsInThem(t *testing.T) {
	t.Parallel()
	settings := postgres.Settings{
		Host: "db.example", Port: 6432, Database: `it's \ odd`, Username: "a b", Password: config.Secret("p' w=1"),
		TLSMode: postgres.TLSVerifyFull, PoolSize: 3,
	}
	require.NoError(t, settings.Validate("store.postgres"))
	built := opened(t, settings).Config()
	require.Equal(t, `it's \ odd`, built.ConnConfig.Database)
	require.Equal(t, "a b", built.ConnConfig.User)
	require.Equal(t, "p' w=1", built.ConnConfig.Password)
	require.Equal(t, "db.example", built.ConnConfig.TLSConfig.ServerName)
	require.False(t, built.ConnConfig.TLSConfig.InsecureSkipVerify)
	require.Equal(t, int32(3), built.MaxConns)
}

func TestAURLStandsForAllButPasswordAndPoolSize(t *testing.T) {
	t.Parallel()
	settings := postgres.Settings{URL: "postgres://me:old@one,two:99/base?sslmode=disable&pool_max_conns=7", Password: "new"}
	require.NoError(t, settings.Validate("store.postgres"))
	built := opened(t, settings).Config()
	require.Equal(t, "one", built.ConnConfig.Host)
	require.Equal(t, "two", built.ConnConfig.Fallbacks[0].Host)
	require.Equal(t, "base", built.ConnConfig.Database)
	require.Equal(t, "new", built.ConnConfig.Password)
	require.Equal(t, int32(7), built.MaxConns)
	settings.PoolSize = 2
	require.Equal(t, int32(2), opened(t, settings).Config().MaxConns)
}

func TestWhatIsWrongIsNamedByItsKeyAndShowsNoPassword(t *testing.T) {
	t.Parallel()
	bad := func(change func(*postgres.Settings)) postgres.Settings {
		settings := postgres.DefaultSettings()
		change(&settings)
		return settings
	}
	noPEM := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(noPEM, []byte("nothing"), 0o600))
	for want, settings := range map[string]postgres.Settings{
		"audit.postgres.url":         {URL: "redis://u:hunter2@host/db"},
		"postgres.url: it must be":   {URL: "postgres://u:hunter2@host:port/db"},
		"must be postgres://":        {URL: "host=a password=hunter2"},
		"audit.postgres.host":        bad(func(s *postgres.Settings) { s.Host = "" }),
		"and port 70000":             bad(func(s *postgres.Settings) { s.Port = 70000 }),
		"audit.postgres.database":    bad(func(s *postgres.Settings) { s.Database = "" }),
		"audit.postgres.tls-mode":    bad(func(s *postgres.Settings) { s.TLSMode = "on" }),
		"nothing is verified":        bad(func(s *postgres.Settings) { s.TLSCAFile = noPEM }),
		"audit.postgres.tls-ca-file": bad(func(s *postgres.Settings) { s.TLSMode, s.TLSCAFile = postgres.TLSRequire, noPEM+"x" }),
		"audit.postgres.*":           bad(func(s *postgres.Settings) { s.TLSMode, s.TLSCAFile = postgres.TLSRequire, noPEM }),
		"audit.postgres.pool-size":   bad(func(s *postgres.Settings) { s.PoolSize = -1 }),
	} {
		err := settings.Validate("audit.postgres")
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hunter2")
	}
	require.NotContains(t, fmt.Sprintf("%+v", postgres.Settings{URL: "postgres://u:hunter2@h/d", Password: "hunter2"}), "hunter2")
	_, err := postgres.Open(t.Context(), postgres.Settings{URL: "mysql://x"}, postgres.Options{})
	require.Error(t, err)
}
