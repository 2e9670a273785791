package pages_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestWhoHasNotLoggedInIsSentToTheLoginAndBack(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	got := c.get(t, user{}, "/console")
	require.Equal(t, http.StatusSeeOther, got.status)
	require.Equal(t, "/console/login", got.header.Get("Location"))
	require.Equal(t, "/console/login?next=%2Fconsole%2Faudit%3Fq%3D1", c.get(t, user{}, "/console/audit?q=1").header.Get("Location"))
	require.Equal(t, "/console/login?next=%2Fconsole%3Fstate%3DSTABLE", c.get(t, user{}, "/console?state=STABLE").header.Get("Location"), "also a filter of the first page")
	require.Empty(t, c.calls("GET"), "nothing is asked for nobody")

	got = c.get(t, user{}, "/console/login?refused=UNAUTHORIZED&next=%2Fconsole%2Faudit")
	require.Equal(t, http.StatusOK, got.status)
	require.Contains(t, got.body, "User name or password is wrong.")
	require.Contains(t, got.body, `name="next" value="/console/audit"`)
	require.Contains(t, c.get(t, user{}, "/console/login?refused=RATE_LIMIT_EXCEEDED&wait=30").body, "Try again in 30 s")
	require.Equal(t, "/console", c.get(t, ops(), "/console/login").header.Get("Location"))
}

// A token of another service, or one that nobody has signed, is none.
func TestOnlyTheGatewaysTokenForTheConsoleCounts(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	for _, change := range []func(*http.Request){
		func(r *http.Request) { r.Header.Del("Authorization") },
		func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") },
		func(r *http.Request) { r.Header.Del(auth.HeaderFormToken) },
	} {
		r := c.request(t, ops(), http.MethodGet, "/console", nil)
		change(r)
		require.Equal(t, "/console/login", send(t, r).header.Get("Location"))
	}
}

// Reliability, Console: clickjacking, nosniff, no-store, no inline script, no other host.
func TestPagesCannotBeMadeToDoSomethingElse(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.answers("GET /monitoring/grafana/groups", []protocol.GrafanaGroupRow{})
	for _, target := range []string{"/console", "/console/login", "/console/nothing"} {
		got := c.get(t, ops(), target)
		require.Contains(t, got.header.Get("Content-Security-Policy"), "default-src 'self'", target)
		require.Contains(t, got.header.Get("Content-Security-Policy"), "frame-ancestors 'none'", target)
		require.NotContains(t, got.header.Get("Content-Security-Policy"), "unsafe", target)
		require.Equal(t, "DENY", got.header.Get("X-Frame-Options"), target)
		require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"), target)
		require.Equal(t, "no-store", got.header.Get("Cache-Control"), target)
		require.NotRegexp(t, `(?i)<script[^>]*>[^<]|<style| style=| on[a-z]+=|(src|href)="(https?:)?//`, got.body, target)
	}
}

func TestStaticFilesAreKeptForEverByTheirHash(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	page := c.get(t, user{}, "/console/login")
	for _, address := range regexp.MustCompile(`/console/static/[a-z]+-[0-9a-f]+\.[a-z]+`).FindAllString(page.body, -1) {
		got := c.get(t, user{}, address)
		require.Equal(t, http.StatusOK, got.status, address)
		require.Contains(t, got.header.Get("Cache-Control"), "immutable")
		require.NotEmpty(t, got.body)
	}
	require.Equal(t, http.StatusNotFound, c.get(t, user{}, "/console/static/console.css").status)
	require.Equal(t, http.StatusNotFound, c.get(t, user{}, "/console/static/..%2fstatic.go").status)
}

func TestWhatTheAPIRefusesIsSaidWithAdvice(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		code   protocol.Code
		status int
		text   string
	}{
		{protocol.CodeForbidden, 403, "Not allowed"},
		{protocol.CodeStoreUnavailable, 503, "Not available at the moment"},
		{protocol.CodeGroupNotFound, 404, "Not found"},
		{protocol.CodeUpstreamUnavailable, 503, "Not available at the moment"},
	} {
		c := newConsole(t)
		c.refuses("GET /monitoring/grafana/groups", want.code, "<b>because</b>")
		got := c.get(t, ops(), "/console")
		require.Equal(t, want.status, got.status, want.code)
		require.Contains(t, got.body, want.text)
		require.Contains(t, got.body, "&lt;b&gt;because&lt;/b&gt;")
	}
	c := newConsole(t)
	c.refuses("GET /monitoring/grafana/groups", protocol.CodeUnauthorized, "over")
	require.Equal(t, "/console/login", c.get(t, ops(), "/console").header.Get("Location"), "the session is over")
	require.Equal(t, 404, c.get(t, ops(), "/console/nothing").status)
}
