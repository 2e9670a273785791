package proxy_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/proxy"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

const described = base + "/internal/system"

// tells answers as a service that tells what it is.
func tells(service, instance string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(protocol.SystemProcess{Service: service, Instance: instance})
	}
}

// survey asks in the name of a reader.
func survey(t *testing.T, g *gateway) []protocol.SystemPart {
	t.Helper()
	asking := &exchange.Exchange{Principal: auth.Principal{Name: "ops", Roles: auth.Read}, Route: route.Route{Service: route.Gateway}}
	return g.proxy.Survey(exchange.With(httpx.WithRequestID(t.Context(), "r-1"), asking), described)
}

// monitoring, Console: System. Every instance is asked, not one of each service.
func TestASurveyAsksEveryInstance(t *testing.T) {
	t.Parallel()
	one, two := startUpstream(t, tells("coordinator", "c-1")), startUpstream(t, tells("coordinator", "c-2"))
	monitor, console := startUpstream(t, tells("monitor", "m-1")), startUpstream(t, tells("console", "w-1"))
	all := coordinators(one.URL, two.URL)
	all[route.Monitor], all[route.Web] = []string{monitor.URL}, []string{console.URL}
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: all}})
	for range 2 {
		var found []string
		for _, part := range survey(t, g) {
			require.Nil(t, part.Problem, "%v", part)
			found = append(found, part.Service+" "+*part.Address+" "+part.Process.Instance)
			require.NotNil(t, part.Process.Configuration)
		}
		require.Equal(t, []string{
			"coordinator " + one.URL + " c-1", "coordinator " + two.URL + " c-2", "monitor " + monitor.URL + " m-1", "console " + console.URL + " w-1",
		}, found)
	}
	for audience, asked := range map[string]*upstream{auth.AudienceCoordinator: two, auth.AudienceMonitor: monitor, auth.AudienceWeb: console} {
		request := asked.requests()[0]
		require.Equal(t, "GET "+described, request.method+" "+request.target)
		require.Equal(t, "r-1", request.header.Get(httpx.HeaderRequestID))
		claims := g.claims(t, request, audience)
		require.Equal(t, "ops", claims.Subject)
		require.Equal(t, auth.Read, claims.Roles)
		require.Empty(t, claims.Client)
	}
}

func TestASurveyWithoutServicesIsEmpty(t *testing.T) {
	t.Parallel()
	require.Empty(t, survey(t, startGateway(t, setup{})))
}

// What a part lacks is said of that part, and keeps no other from being told.
func TestASurveySaysWhyAnInstanceTellsNothing(t *testing.T) {
	t.Parallel()
	writes := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	wanted := []struct {
		answer http.HandlerFunc
		why    string
	}{
		{refuseWith(protocol.CodeUnauthorized), "api.jwks-url"},
		{refuseWith(protocol.CodeForbidden), "status 403"},
		{refuseWith(protocol.CodeNotFound), "its version is older"},
		{refuseWith(protocol.CodeTerminating), "is terminating"},
		{refuseWith(protocol.CodeStoreUnavailable), "status 503"},
		{writes(500, "a stack\nof hunter2"), "status 500"},
		{writes(302, ""), "status 302"},
		{writes(200, "<html>"), "has not answered as a coordinator does"},
		{writes(200, "{}"), "has not answered as a coordinator does"},
		{writes(200, `{"service":"coordinator","configuration":"hunter2"}`), "has not answered as a coordinator does"},
		{tells("monitor", "m"), "says that it is a monitor"},
		{tells("coordinator", strings.Repeat("x", 1<<20)), "more than 1048576 bytes"},
		{func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "has broken off"},
		{tells("coordinator", "c-1"), ""},
	}
	var urls []string
	for _, one := range wanted {
		urls = append(urls, startUpstream(t, one.answer).URL)
	}
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(append(urls, free(t))...), Timeouts: proxy.Timeouts{Survey: patience}}})
	parts := survey(t, g)
	for i, one := range wanted {
		if one.why == "" {
			require.Nil(t, parts[i].Problem)
			require.Equal(t, "c-1", parts[i].Process.Instance)
			continue
		}
		require.Nil(t, parts[i].Process, one.why)
		require.Contains(t, *parts[i].Problem, one.why)
		require.NotContains(t, *parts[i].Problem, "hunter2")
	}
	require.Contains(t, *parts[len(wanted)].Problem, "cannot be reached (connect: connection refused)")
}

// An instance that hangs is given up, and does not count as failed for what others ask of it.
func TestASurveyDoesNotWaitForWhatHangs(t *testing.T) {
	t.Parallel()
	hung := make(chan struct{})
	slow := startUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/internal/system") {
			<-hung
			return
		}
		_, _ = io.WriteString(w, "{}")
	})
	t.Cleanup(func() { close(hung) })
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(slow.URL), Timeouts: proxy.Timeouts{Survey: 50 * time.Millisecond}}})
	parts := survey(t, g)
	require.Len(t, parts, 1)
	require.Contains(t, *parts[0].Problem, "has not answered within 50ms")
	require.Equal(t, 200, g.call(t, http.MethodGet, base+"/streams", "").status)
}

func TestASurveyKeepsToTheBoundOfAnInstance(t *testing.T) {
	t.Parallel()
	hung, begun := make(chan struct{}), make(chan struct{}, 1)
	busy := startUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-hung
		_, _ = io.WriteString(w, "{}")
	})
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(busy.URL), MaxInFlight: 1}})
	done := make(chan said, 1)
	go func() { answer, _ := g.ask(t.Context(), http.MethodGet, base+"/streams", ""); done <- answer }()
	<-begun
	require.Contains(t, *survey(t, g)[0].Problem, "too many requests")
	close(hung)
	<-done
}
