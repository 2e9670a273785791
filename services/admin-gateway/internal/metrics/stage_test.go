package metrics

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

const (
	base         = "/coord/v1"
	groupPattern = base + "/streams/{streamPrefix}/groups/{consumerGroup}"
)

// measured is a stage with its registry and a clock that the test moves.
type measured struct {
	t        *testing.T
	metrics  *Metrics
	registry *prometheus.Registry
	now      time.Time
}

func measure(t *testing.T) *measured {
	t.Helper()
	m := &measured{t: t, registry: prometheus.NewPedanticRegistry(), now: time.Unix(1000, 0)}
	m.metrics = New(m.registry, base, func() time.Time { return m.now })
	return m
}

// answer serves one request that the stages inside understand as e and answer with status; 0
// does not answer.
func (m *measured) answer(method, path string, e exchange.Exchange, status int) {
	m.t.Helper()
	handler := m.metrics.Stage(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*exchange.Of(r.Context()) = e
		if status != 0 {
			w.WriteHeader(status)
		}
	}))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(m.t.Context(), method, path, nil))
}

func (m *measured) group(method, stream, group string, status int) {
	m.t.Helper()
	m.answer(method, base+"/streams/"+stream+"/groups/"+group, exchange.Exchange{Route: route.Route{
		Pattern: groupPattern, Method: method, Service: route.Coordinator, Stream: stream, Group: group,
	}}, status)
}

func (m *measured) count(labels ...string) float64 {
	m.t.Helper()
	return testutil.ToFloat64(m.metrics.requests.WithLabelValues(labels...))
}

func (m *measured) shows(text string) bool {
	m.t.Helper()
	families, err := m.registry.Gather()
	require.NoError(m.t, err)
	return strings.Contains(fmt.Sprint(families), text)
}

// Contract, metric names: outcome goes by the status; ERROR is left over.
func TestRequestsAreCountedByRouteStatusAndOutcome(t *testing.T) {
	t.Parallel()
	m := measure(t)
	for status, outcome := range map[int]string{200: "SUCCESS", 304: "SUCCESS", 404: "CLIENT_ERROR", 429: "CLIENT_ERROR", 503: "SERVER_ERROR", 0: "ERROR"} {
		e := exchange.Exchange{Route: route.Route{Pattern: base + "/streams", Method: http.MethodGet}}
		m.answer(http.MethodGet, base+"/streams", e, status)
		require.InDelta(t, 1, m.count("GET", base+"/streams", fmt.Sprint(status), outcome, "none", "none"), 0)
	}
	require.Equal(t, 6, testutil.CollectAndCount(m.metrics.requests))
	m.answer(http.MethodGet, "/healthz", exchange.Exchange{Route: route.Route{Pattern: "/healthz"}}, 200)
	require.Equal(t, 6, testutil.CollectAndCount(m.metrics.requests), "only the API")
}

func TestNothingThatACallerMakesUpBecomesALabel(t *testing.T) {
	t.Parallel()
	m := measure(t)
	for i := range 50 {
		m.group(http.MethodGet, fmt.Sprintf("made%d", i), "up", http.StatusNotFound)
		m.group(http.MethodPost, fmt.Sprintf("made%d", i), "up", http.StatusUnauthorized)
		m.answer(fmt.Sprintf("BREW%d", i), fmt.Sprintf("%s/nowhere/%d", base, i), exchange.Exchange{}, http.StatusNotFound)
	}
	require.Equal(t, 3, testutil.CollectAndCount(m.metrics.requests))
	require.InDelta(t, 50, m.count("OTHER", "none", "404", "CLIENT_ERROR", "none", "none"), 0)
	require.False(t, m.shows("made1"))
}

func TestNumberOfGroupsIsBounded(t *testing.T) {
	t.Parallel()
	m := measure(t)
	for i := range MaxGroups + 10 {
		m.group(http.MethodGet, "orders", fmt.Sprint(i), http.StatusOK)
	}
	require.InDelta(t, 10, m.count("GET", groupPattern, "200", "SUCCESS", "none", "none"), 0)
	m.group(http.MethodGet, "orders", "7", http.StatusOK)
	require.InDelta(t, 2, m.count("GET", groupPattern, "200", "SUCCESS", "orders", "7"), 0, "who is known stays")
}

func TestGroupThatIsDeletedLosesItsSeries(t *testing.T) {
	t.Parallel()
	m := measure(t)
	for _, group := range []string{"billing", "shipping"} {
		m.group(http.MethodGet, "orders", group, http.StatusOK)
		m.group(http.MethodPost, "orders", group, http.StatusTooManyRequests)
	}
	m.group(http.MethodGet, "audits", "archive", http.StatusOK)
	m.group(http.MethodDelete, "orders", "billing", http.StatusConflict)
	require.True(t, m.shows("billing"), "a deletion that was refused")
	m.group(http.MethodDelete, "orders", "billing", http.StatusOK)
	require.False(t, m.shows("billing"))
	require.True(t, m.shows("shipping"))

	m.answer(http.MethodDelete, base+"/streams/orders", exchange.Exchange{Route: route.Route{
		Pattern: base + "/streams/{streamPrefix}", Method: http.MethodDelete, Stream: "orders", DryRun: true,
	}}, http.StatusOK)
	require.True(t, m.shows("shipping"), "a plan deletes nothing")
	m.answer(http.MethodDelete, base+"/streams/orders", exchange.Exchange{Route: route.Route{
		Pattern: base + "/streams/{streamPrefix}", Method: http.MethodDelete, Stream: "orders",
	}}, http.StatusOK)
	require.False(t, m.shows("shipping"))
	require.True(t, m.shows("archive"))

	m.now = m.now.Add(idleFor)
	m.group(http.MethodGet, "orders", "new", http.StatusOK)
	require.False(t, m.shows("archive"), "nobody asks for it any longer")
	require.True(t, m.shows("new"))
}

// Grafana's endpoints have names in their query, which are no labels (contract, metric names).
func TestNamesOfAQueryAreNoLabels(t *testing.T) {
	t.Parallel()
	m := measure(t)
	pattern := base + "/monitoring/grafana/shards"
	m.answer(http.MethodGet, pattern+"?streamPrefix=orders", exchange.Exchange{Route: route.Route{
		Pattern: pattern, Method: http.MethodGet, Service: route.Monitor, Stream: "orders", Group: "billing",
	}}, http.StatusOK)
	require.InDelta(t, 1, m.count("GET", pattern, "200", "SUCCESS", "none", "none"), 0)
}

func TestRefusalsAreCountedByCodeAndChangesOverTheLimitAlone(t *testing.T) {
	t.Parallel()
	m := measure(t)
	known := auth.Principal{Name: "ops"}
	m.answer(http.MethodPost, base+"/x", exchange.Exchange{Code: protocol.CodeRateLimitExceeded, Principal: known}, 429)
	m.answer(http.MethodPost, base+"/auth/login", exchange.Exchange{Code: protocol.CodeRateLimitExceeded}, 429)
	m.answer(http.MethodPost, base+"/x", exchange.Exchange{Code: protocol.CodeAuditUnavailable, Principal: known}, 503)
	m.metrics.LoginRefused(true)
	m.metrics.LoginRefused(false)
	m.metrics.UpstreamFailed(route.Coordinator, "a:8081")
	require.InDelta(t, 1, testutil.ToFloat64(m.metrics.limited), 0)
	require.InDelta(t, 2, testutil.ToFloat64(m.metrics.refusals.WithLabelValues("RATE_LIMIT_EXCEEDED")), 0)
	require.InDelta(t, 1, testutil.ToFloat64(m.metrics.refusals.WithLabelValues("AUDIT_UNAVAILABLE")), 0)
	require.InDelta(t, 1, testutil.ToFloat64(m.metrics.logins.WithLabelValues(loginLocked)), 0)
	require.InDelta(t, 1, testutil.ToFloat64(m.metrics.upstreams.WithLabelValues("coordinator", "a:8081")), 0)
}

// One that panics with what ends a connection is counted too.
func TestAnswerThatBreaksOffIsCounted(t *testing.T) {
	t.Parallel()
	m := measure(t)
	handler := m.metrics.Stage(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*exchange.Of(r.Context()) = exchange.Exchange{Route: route.Route{Pattern: base + "/streams"}}
		_, _ = w.Write([]byte("half"))
		panic(http.ErrAbortHandler)
	}))
	require.Panics(t, func() {
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, base+"/streams", nil))
	})
	require.InDelta(t, 1, m.count("GET", base+"/streams", "200", "SUCCESS", "none", "none"), 0)
}

func TestNamesAndLabelsAreWhatPrometheusAsksFor(t *testing.T) {
	t.Parallel()
	m := measure(t)
	Watch(m.registry, Sources{
		Audit:    func() Audit { return Audit{Waiting: 3, Failures: 2, Lost: 1, Failing: true} },
		InFlight: func() map[string]int64 { return map[string]int64{"members": 4} },
	})
	m.group(http.MethodGet, "orders", "billing", http.StatusOK)
	m.answer(http.MethodPost, base+"/x", exchange.Exchange{Code: protocol.CodeOverloaded}, 503)
	problems, err := testutil.GatherAndLint(m.registry)
	require.NoError(t, err)
	require.Empty(t, problems)
	require.NoError(t, testutil.GatherAndCompare(m.registry, strings.NewReader(`
# HELP redis_stream_coord_audit_waiting Records of the audit that wait for its sink.
# TYPE redis_stream_coord_audit_waiting gauge
redis_stream_coord_audit_waiting 3
# HELP redis_stream_coord_audit_sink_up 1 when the last record of the audit was written, 0 when that failed.
# TYPE redis_stream_coord_audit_sink_up gauge
redis_stream_coord_audit_sink_up 0
# HELP redis_stream_coord_gateway_in_flight Requests under way by the budget that they count for.
# TYPE redis_stream_coord_gateway_in_flight gauge
redis_stream_coord_gateway_in_flight{kind="members"} 4
`), "redis_stream_coord_audit_waiting", "redis_stream_coord_audit_sink_up", "redis_stream_coord_gateway_in_flight"))
}
