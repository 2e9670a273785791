package proxy_test

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/proxy"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// A page is told what its forms have to bring along, and for whom it asks; a caller cannot say
// either.
func TestTheConsoleIsToldOfTheSessionAndTheBrowser(t *testing.T) {
	t.Parallel()
	up := startUpstream(t, nil)
	g := startGateway(t, setup{
		Config: proxy.Config{Upstreams: upstreams(route.Web, up.URL)}, principal: auth.Principal{Name: "ops", Roles: auth.Read},
		formToken: "form-1", client: netip.MustParseAddr("198.51.100.7"),
	})
	g.call(t, "GET", "/console/streams", "", "X-Form-Token: forged")
	seen := up.requests()[0]
	require.Equal(t, []string{"form-1"}, seen.header["X-Form-Token"])
	require.Equal(t, "198.51.100.7", g.claims(t, seen, auth.AudienceWeb).Client)

	g.call(t, "POST", "/console/streams/orders/scale", "to=4&csrf=form-1", "Content-Type: application/x-www-form-urlencoded")
	seen = up.requests()[1]
	require.Equal(t, "application/x-www-form-urlencoded", seen.header.Get("Content-Type"))
	require.Equal(t, "to=4&csrf=form-1", seen.body)

	up = startUpstream(t, nil)
	g = startGateway(t, setup{
		Config: proxy.Config{Upstreams: coordinators(up.URL)}, principal: auth.Principal{Name: "ops", Roles: auth.Read},
		formToken: "form-1", client: netip.MustParseAddr("198.51.100.7"),
	})
	g.call(t, "GET", base+"/streams", "", "X-Form-Token: forged")
	require.Empty(t, up.requests()[0].header["X-Form-Token"])
	require.Empty(t, g.claims(t, up.requests()[0], auth.AudienceCoordinator).Client)
}

// After what a form posts, the console sends the browser on to one of its own pages.
func TestTheConsoleLeadsToItsOwnPagesOnly(t *testing.T) {
	t.Parallel()
	var to string
	status := http.StatusSeeOther
	up := startUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(status)
	})
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: upstreams(route.Web, up.URL)}})
	for _, to = range []string{"/console", "/console/streams/orders%3Aeu?done=1"} {
		answer := g.call(t, "GET", "/console/a", "")
		require.Equal(t, 303, answer.status)
		require.Equal(t, to, answer.header.Get("Location"))
	}
	for _, to = range []string{"https://evil.example", "//evil.example/console", "/coord/v1/auth/logout", "/console/../coord", "", "%zz"} {
		answer := g.call(t, "GET", "/console/a", "")
		require.Equal(t, 303, answer.status)
		require.Empty(t, answer.header.Get("Location"), to)
	}
	to, status = "/console", http.StatusMovedPermanently
	requireRefusal(t, protocol.CodeUpstreamFailed, g.call(t, "GET", "/console/a", ""))

	status = http.StatusSeeOther
	g = startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}})
	answer := g.call(t, "GET", base+"/streams", "")
	requireRefusal(t, protocol.CodeUpstreamFailed, answer)
	require.Empty(t, answer.header.Get("Location"))
}

// What the console offers as a file is saved as one. No other service's answer is.
func TestOnlyTheConsolesAnswersAreFiles(t *testing.T) {
	t.Parallel()
	const file = `attachment; filename="audit.csv"`
	up := startUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", file)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	})
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: upstreams(route.Web, up.URL)}})
	require.Equal(t, file, g.call(t, "GET", "/console/audit.csv", "").header.Get("Content-Disposition"))
	g = startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}})
	require.Empty(t, g.call(t, "GET", base+"/streams", "").header.Values("Content-Disposition"))
}

// A page that says what is wrong reaches who looks, whatever its status.
func TestPagesAboutTroubleArePassedOn(t *testing.T) {
	t.Parallel()
	up := startUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("<h1>Not available at the moment</h1>"))
	})
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: upstreams(route.Web, up.URL)}})
	for range 5 { // it does not count as broken
		answer := g.call(t, "GET", "/console/audit", "")
		require.Equal(t, http.StatusServiceUnavailable, answer.status)
		require.Equal(t, "<h1>Not available at the moment</h1>", answer.body)
	}
}
