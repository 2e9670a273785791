package pipeline

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// oneRoute knows /there, which takes a POST.
type oneRoute struct{}

func (oneRoute) Match(method, path, _ string) (route.Route, error) {
	switch {
	case path != "/there":
		return route.Route{}, protocol.Errorf(protocol.CodeNotFound, "there is no such endpoint")
	case method != http.MethodPost:
		return route.Route{}, protocol.Errorf(protocol.CodeMethodNotAllowed, "not with this method")
	}
	return route.Route{Operation: "THERE", Pattern: "/there", Mutation: true, Service: route.Coordinator}, nil
}

func (oneRoute) Allowed(string) []string { return []string{http.MethodPost} }

type fromHere struct{}

func (fromHere) Client(*http.Request) exchange.Client {
	return exchange.Client{Address: netip.MustParseAddr("192.0.2.1")}
}

// recorded returns parts whose stages note that they were reached.
func recorded(into *[]string) Parts {
	note := func(name string) Wrap {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				*into = append(*into, name)
				next.ServeHTTP(w, r)
			})
		}
	}
	return Parts{
		Routes: oneRoute{}, Clients: fromHere{}, Gate: httpx.NewGate(),
		Now:     func() time.Time { return time.Unix(1_800_000_000, 0) },
		Measure: note("metrics"), Trace: note("trace"), Audit: note("audit"), Body: note("body"), Legacy: note("legacy"), InFlight: note("in flight"),
		Authenticate: note("authenticate"), Authorise: note("authorise"), RateLimit: note("rate limit"),
		Idempotency: note("idempotency"), Intend: note("intent"),
		Serve: note("serve")(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })),
	}
}

// gateway, Admin gateway: the order is the promise. Audit surrounds whatever refuses; the
// intent comes when nothing but the service can refuse.
func TestStagesComeInTheirOrder(t *testing.T) {
	t.Parallel()
	var reached []string
	answer := httptest.NewRecorder()
	New(recorded(&reached)).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/there", nil))
	require.Equal(t, http.StatusNoContent, answer.Code)
	require.NotEmpty(t, answer.Header().Get(httpx.HeaderRequestID))
	require.Equal(t, []string{
		"metrics", "trace", "audit", "body", "legacy", "in flight", "authenticate", "authorise", "rate limit", "idempotency", "intent", "serve",
	}, reached)

	var names []string
	for _, s := range recorded(&reached).stages() {
		names = append(names, s.name)
	}
	require.Equal(t, []string{
		"request id", "metrics", "access log", "recover", "route", "trace", "audit", "body", "legacy", "terminating", "in flight",
		"authenticate", "authorise", "rate limit", "idempotency", "intent",
	}, names)
}

func TestWhatIsNoEndpointReachesNoStage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		method, path, allow string
		status              int
	}{
		{http.MethodPost, "/nowhere", "", http.StatusNotFound},
		{http.MethodGet, "/there", "POST", http.StatusMethodNotAllowed},
	} {
		var reached []string
		answer := httptest.NewRecorder()
		New(recorded(&reached)).ServeHTTP(answer, httptest.NewRequest(test.method, test.path, nil))
		require.Equal(t, test.status, answer.Code)
		require.Equal(t, test.allow, answer.Header().Get("Allow"))
		require.Equal(t, []string{"metrics"}, reached)
	}
}

// storage, Failure: what terminates refuses, and audits that it has.
func TestTerminatingGatewayRefusesInsideOfTheAudit(t *testing.T) {
	t.Parallel()
	var reached []string
	var code protocol.Code
	parts := recorded(&reached)
	parts.Audit = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			code = exchange.Of(r.Context()).Code
		})
	}
	require.NoError(t, parts.Gate.Close(t.Context()))
	answer := httptest.NewRecorder()
	New(parts).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/there", nil))
	require.Equal(t, http.StatusServiceUnavailable, answer.Code)
	require.Equal(t, protocol.CodeTerminating, code)
	require.Equal(t, []string{"metrics", "trace", "body", "legacy"}, reached)
}

func TestPanicOfAStageIsAnInternalErrorThatTheAuditSees(t *testing.T) {
	t.Parallel()
	var reached []string
	parts := recorded(&reached)
	parts.RateLimit = func(http.Handler) http.Handler {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { _ = []int{}[len(reached)] })
	}
	answer := httptest.NewRecorder()
	New(parts).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/there", nil))
	require.Equal(t, http.StatusInternalServerError, answer.Code)
	require.Contains(t, answer.Body.String(), protocol.CodeInternal)
	require.NotContains(t, reached, "serve")
}
