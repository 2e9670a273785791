package runtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/deploy/helm/charttest"
	coordinator "github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

// What the values say of PostgreSQL arrives, with its secrets.
func TestWhereTheMetadataIsArrives(t *testing.T) {
	t.Parallel()
	outside, sets := outsiders(t), charttest.Sets(t)
	read := func(set string) coordinator.Config {
		return load(t, schedule(t, charttest.Render(t, sets[set], nil), "coordinator", outside), coordinator.DefaultConfig(), coordinator.OtherSections())
	}
	postgres := read("postgres").Store
	require.Equal(t, "postgres", postgres.Type)
	require.Equal(t, "postgres.example.com", postgres.Postgres.Host)
	require.Equal(t, 5433, postgres.Postgres.Port)
	require.Equal(t, "canary-postgres-password", postgres.Postgres.Password.Reveal())
	require.Equal(t, "verify-full", postgres.Postgres.TLSMode)
	require.FileExists(t, postgres.Postgres.TLSCAFile)
	require.Equal(t, outside["postgres/url"], read("existing-secrets").Store.Postgres.URL.Reveal())
}
