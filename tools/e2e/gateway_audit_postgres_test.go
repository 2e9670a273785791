package e2e_test

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
)

// auditedIn are the flags of a gateway that keeps its audit in a database.
func auditedIn(t *testing.T, database string) []string {
	t.Helper()
	where, err := url.Parse(database)
	require.NoError(t, err)
	host, port, err := net.SplitHostPort(where.Host)
	require.NoError(t, err)
	return []string{
		"--audit-sink", "postgres", "--audit-postgres-host", host, "--audit-postgres-port", port, "--audit-postgres-tls-mode", "disable",
		"--audit-postgres-database", strings.TrimPrefix(where.Path, "/"), "--audit-postgres-username", where.User.Username(),
		"--api-rate-limit-enabled=false",
	}
}

// everyGateway waits until all of them tell that they are, or are not, ready.
func (g *guarded) everyGateway(status int) {
	g.t.Helper()
	for _, one := range g.gateways {
		require.Eventually(g.t, func() bool {
			return g.askAt(one, guardedCall{path: "/readyz"}).status == status
		}, patience, often, "%s answers %d", one.name, status)
	}
}

// gateway, Audit: two gateways keep one audit in PostgreSQL. While that is away, mutations are
// refused and nothing is changed, and one line of the log tells it; all goes on by itself when
// it is back. A record that was changed by hand is named.
func TestGatewayKeepsItsAuditInPostgres(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	database := server.Database(t)
	g := startGuarded(t, guardedPlan{coordinators: 1, gateways: 2, gatewayFlags: auditedIn(t, database)})
	ops, viewer := g.login(userOps), g.login(userViewer)

	g.passes(createStream(ops, stream), http.StatusCreated)
	require.Equal(t, http.StatusOK, g.askAt(g.gateways[1], planScale(ops, stream)).status)
	require.Equal(t, http.StatusForbidden, g.askAt(g.gateways[1], planScale(viewer, stream)).status)
	records := g.audit(viewer)
	require.Len(t, records, 5, "two that were sent have two records, a refusal has one")
	requireOneChain(t, records)
	verified := g.rscctl(viewer, "audit", "verify")
	require.Zero(t, verified.code, verified.text)
	require.Contains(t, verified.text, "The audit is whole: 5 records.")
	require.NotContains(t, g.rscctl(viewer, "audit", "list", "--principal", userOps).text, userViewer)

	server.Stop()
	away := createStream(ops, "payments")
	away.header = map[string]string{"X-Request-Id": "while-away"}
	for _, one := range g.gateways {
		refused := g.askAt(one, away)
		require.Equal(t, http.StatusServiceUnavailable, refused.status, "%s", refused.body)
		require.Equal(t, protocol.CodeAuditUnavailable, refused.code())
	}
	require.Equal(t, http.StatusNotFound, g.askAt(g.coordinators[0], guardedCall{path: api("/streams/payments")}).status, "nothing was changed")
	g.refused(guardedCall{path: api("/audit"), token: viewer}, http.StatusServiceUnavailable, protocol.CodeStoreUnavailable)
	g.passes(guardedCall{path: api("/streams/" + stream), token: viewer}, http.StatusOK)
	g.everyGateway(http.StatusServiceUnavailable)

	server.Restart()
	g.everyGateway(http.StatusOK)
	require.Eventually(t, func() bool {
		return g.ask(createStream(ops, "payments")).status == http.StatusCreated
	}, patience, often, "changes go on when the database is back")
	refused := byRequest(g.audit(viewer))["while-away"]
	require.NotEmpty(t, refused)
	for _, one := range refused {
		require.Equal(t, protocol.AuditRefused, one.Result)
		require.False(t, one.Intended)
	}
	verified = g.rscctl(viewer, "audit", "verify")
	require.Zero(t, verified.code, verified.text)
	require.Equal(t, 1, strings.Count(string(g.gateways[0].all.bytes()), "audit sink failed"))

	name := strings.TrimSuffix(database[strings.LastIndex(database, "/")+1:], "?sslmode=disable")
	server.Exec(t, name, "ALTER TABLE rsc_audit_record DISABLE TRIGGER rsc_audit_keep")
	server.Exec(t, name, `UPDATE rsc_audit_record SET record = replace(record, '"principal":"ops"', '"principal":"opt"') WHERE sequence = 3`)
	verified = g.rscctl(viewer, "audit", "verify")
	require.Equal(t, 1, verified.code, verified.text)
	require.Contains(t, verified.text, "record 3 was changed")
}

// requireOneChain requires that records of several gateways are one chain without a gap.
func requireOneChain(t *testing.T, records []protocol.AuditRecord) {
	t.Helper()
	gateways := map[string]bool{}
	for _, record := range records {
		gateways[record.GatewayID] = true
		require.Equal(t, "postgres", record.Chain)
	}
	require.Greater(t, len(gateways), 1)
	for _, finding := range audit.Verify(records, nil) {
		require.Equal(t, audit.EndUnknown, finding.Kind, finding.Text)
	}
}
