package e2e_test

import (
	"net/http"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// gateway, Audit: if the sink is down, mutations are refused, and nothing is changed. What
// changes nothing goes on. The refusals are in the audit when the sink is back.
func TestGatewayWithoutItsAuditChangesNothing(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, guardedPlan{
		coordinators: 1, gateways: 1, gatewayFlags: []string{"--api-rate-limit-enabled=false"},
		auditRedis: redisproc.Start(t, redisproc.WithAOF("always")), coordinatorRedis: redisproc.Start(t),
	})
	ops, viewer := g.login(userOps), g.login(userViewer)
	g.passes(createStream(ops, stream), http.StatusCreated)
	var before protocol.StreamResponse
	g.passes(guardedCall{path: api("/streams/" + stream), token: viewer}, http.StatusOK).decode(t, &before)

	g.audited.Stop()
	away := createStream(ops, "payments")
	away.header = map[string]string{"X-Request-Id": "while-away"}
	got := g.refused(away, http.StatusServiceUnavailable, protocol.CodeAuditUnavailable)
	require.Contains(t, string(got.body), "nothing was changed")
	require.NotEmpty(t, got.header.Get("Retry-After"))
	g.refused(guardedCall{
		method: http.MethodDelete, path: api("/streams/" + stream), token: ops, body: `{"requestedBy": "e2e", "reason": "x", "force": true}`,
	}, http.StatusServiceUnavailable, protocol.CodeAuditUnavailable)
	g.refused(planScale(ops, stream), http.StatusServiceUnavailable, protocol.CodeAuditUnavailable)
	g.refused(planScale(viewer, stream), http.StatusForbidden, protocol.CodeForbidden)
	g.refused(planScale("", stream), http.StatusUnauthorized, protocol.CodeUnauthorized)

	var after protocol.StreamResponse
	g.passes(guardedCall{path: api("/streams/" + stream), token: viewer}, http.StatusOK).decode(t, &after)
	require.Equal(t, before.MetadataVersion, after.MetadataVersion, "nothing was changed")
	g.refused(guardedCall{path: api("/streams/payments"), token: viewer}, http.StatusNotFound, protocol.CodeStreamNotFound)
	require.Equal(t, http.StatusNotFound, g.askAt(g.coordinators[0], guardedCall{path: api("/streams/payments")}).status)
	g.login(userViewer)
	g.refused(guardedCall{path: api("/audit"), token: viewer}, http.StatusServiceUnavailable, protocol.CodeStoreUnavailable)
	g.passes(guardedCall{path: "/healthz"}, http.StatusOK)
	g.refused(guardedCall{path: "/readyz"}, http.StatusServiceUnavailable, protocol.CodeStoreUnavailable)

	g.audited.Restart()
	require.Eventually(t, func() bool {
		return g.ask(createStream(ops, "payments")).status == http.StatusCreated
	}, patience, often, "changes go on when the sink is back")
	refused := requireTrail(t, byRequest(g.audit(viewer))["while-away"])
	require.Equal(t, string(protocol.CodeAuditUnavailable), refused.ErrorCode)
	require.Equal(t, protocol.AuditRefused, refused.Result)
	require.False(t, refused.Intended)
	verified := g.rscctl(viewer, "audit", "verify")
	require.Zero(t, verified.code, verified.text)
}

// hungMutations are asked for at once while the sink hangs, and hungReads one after the other.
const hungMutations, hungReads = 30, 9

// A sink that takes the connection and does not answer is as good as none: what would change
// something is refused in time, the other requests do not wait for it, and what is written
// late closes what it has opened (gateway, Audit; C8).
func TestGatewayWhoseAuditHangsRefusesInTime(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, guardedPlan{
		coordinators: 1, gateways: 1, gatewayFlags: []string{"--api-rate-limit-enabled=false"},
		auditRedis: redisproc.Start(t), coordinatorRedis: redisproc.Start(t),
	})
	ops, viewer := g.login(userOps), g.login(userViewer)
	g.passes(createStream(ops, stream), http.StatusCreated)
	sink, err := os.FindProcess(g.audited.PID())
	require.NoError(t, err)
	freezePID(t, sink.Pid)
	defer func() { _ = sink.Signal(syscall.SIGCONT) }()

	began, refused := time.Now(), make(chan map[int]int, 1)
	go func() { refused <- g.crowdOf(createStream(ops, "payments"), hungMutations) }()
	reads := make([]time.Duration, hungReads)
	for i := range reads {
		read := time.Now()
		g.passes(guardedCall{path: api("/streams/" + stream), token: viewer}, http.StatusOK)
		reads[i] = time.Since(read)
	}
	require.Less(t, slices.Sorted(slices.Values(reads))[hungReads/2], time.Second, "a read does not wait for the audit: %v", reads)
	require.Equal(t, map[int]int{http.StatusServiceUnavailable: hungMutations}, <-refused)
	require.Less(t, time.Since(began), 15*time.Second, "all are refused in time")
	require.Equal(t, http.StatusNotFound, g.askAt(g.coordinators[0], guardedCall{path: api("/streams/payments")}).status)

	require.NoError(t, sink.Signal(syscall.SIGCONT))
	require.Eventually(t, func() bool {
		return g.ask(createStream(ops, "payments")).status == http.StatusCreated
	}, patience, often, "changes go on when the sink does")
	records := g.audit(viewer)
	later := records[len(records)-1] // the audit as it is when nothing can be under way any more
	later.Time.Time = later.Time.Add(time.Hour)
	findings := audit.Verify(append(records[:len(records)-1:len(records)-1], later), nil)
	for _, one := range findings {
		require.Contains(t, []audit.Kind{audit.Changed, audit.EndUnknown}, one.Kind, one.Text)
		require.True(t, one.Kind != audit.Changed || one.Sequence == later.Sequence, one.Text)
	}
	verified := g.rscctl(viewer, "audit", "verify")
	require.Zero(t, verified.code, verified.text)
}
