package runtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/deploy/helm/charttest"
	gateway "github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
	coordinator "github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

// What the values say of PostgreSQL arrives, with its secrets, at those who use it.
func TestWhereMetadataAndAuditAreArrives(t *testing.T) {
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

	at := schedule(t, charttest.Render(t, sets["postgres"], nil), "gateway", outside)
	makeFirstUser(t, at)
	audit := load(t, at, gateway.DefaultConfig(), gateway.OtherSections()).Audit
	require.Equal(t, gateway.SinkPostgres, audit.Sink)
	require.Equal(t, "audit.example.com", audit.Postgres.Host)
	require.Equal(t, "auditor", audit.Postgres.Username)
	require.Equal(t, "canary-audit-password", audit.Postgres.Password.Reveal())
	require.FileExists(t, audit.Postgres.TLSCAFile)
}
