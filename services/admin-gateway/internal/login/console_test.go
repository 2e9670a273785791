package login_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/login"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// consoleRoute returns a route that a form of the console posts to.
func consoleRoute(operation string, by route.Service) route.Route {
	return route.Route{
		Operation: operation, Method: http.MethodPost, Service: by, Form: true,
		Access: route.Access{Public: true, Login: operation == "CONSOLE_LOGIN"},
	}
}

func (g *gate) submit(t *testing.T, name, password, next string) said {
	t.Helper()
	form := url.Values{"username": {name}, "password": {password}, "next": {next}}
	return g.ask(t, asked{route: consoleRoute("CONSOLE_LOGIN", route.Gateway), body: form.Encode()})
}

func TestConsoleLoginBeginsASessionAndLeadsOn(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	got := g.submit(t, "ops", right, "/console/streams/orders%3Aeu?sort=lag")
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	require.Equal(t, "/console/streams/orders%3Aeu?sort=lag", got.header.Get("Location"))
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))
	require.Empty(t, got.body)
	cookies := (&http.Response{Header: got.header}).Cookies()
	require.Len(t, cookies, 1)
	require.Equal(t, cookieName, cookies[0].Name)
	require.True(t, cookies[0].HttpOnly && cookies[0].Secure)
	require.Equal(t, http.SameSiteStrictMode, cookies[0].SameSite)
	seen := g.ask(t, asked{route: readRoute}.cookie(cookies[0].Value))
	require.True(t, seen.passed)
	require.Equal(t, "ops", seen.exchange.Principal.Name)
	require.NotEmpty(t, seen.exchange.FormToken)
}

func TestConsoleLoginThatIsRefusedLeadsBackWithTheReason(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	for _, test := range []struct{ name, password, next, want string }{
		{"ops", wrong, "", "/console/login?refused=UNAUTHORIZED"},
		{"nobody", right, "/console/audit", "/console/login?next=%2Fconsole%2Faudit&refused=UNAUTHORIZED"},
		{"", right, "", "/console/login?refused=INVALID_REQUEST"},
		{"ops", "", "", "/console/login?refused=INVALID_REQUEST"},
	} {
		got := g.submit(t, test.name, test.password, test.next)
		require.Equal(t, http.StatusSeeOther, got.status)
		require.Equal(t, test.want, got.header.Get("Location"))
		require.Empty(t, got.header.Get("Set-Cookie"))
		require.NotEmpty(t, got.exchange.Code, "logs and metrics tell of the refusal")
	}
	for range 20 {
		g.submit(t, "ops", wrong, "")
	}
	at, err := url.Parse(g.submit(t, "ops", right, "").header.Get("Location"))
	require.NoError(t, err)
	require.Equal(t, string(protocol.CodeRateLimitExceeded), at.Query().Get("refused"))
	require.NotEmpty(t, at.Query().Get("wait"))
	require.NotContains(t, g.log.String(), "canary")
}

// Reliability, Console: login CSRF, open redirects.
func TestConsoleLoginOfAnotherSiteIsRefusedAndLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	form := url.Values{"username": {"ops"}, "password": {right}}
	ask := asked{route: consoleRoute("CONSOLE_LOGIN", route.Gateway), body: form.Encode()}
	for _, header := range [][2]string{{"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}} {
		got := g.ask(t, ask.with(header[0], header[1]))
		require.Equal(t, protocol.CodeForbidden, got.code(t))
		require.Empty(t, got.header.Get("Set-Cookie"))
	}
	for _, next := range []string{
		"https://evil.example/console", "//evil.example/console", "/\\evil.example", "/console/../coord/v1/auth/logout", "/consoleevil",
		"/coord/v1/streams", "javascript:alert(1)", "/console//evil", "/console/\r\nSet-Cookie: a=b", "console", "/console/login", "/console/logout",
		"/console/live", "https://gateway.example@evil.example/console", "/console/%2e%2e/x", string(make([]byte, 4000)), "%zz",
	} {
		require.Equal(t, "/console", g.submit(t, "ops", right, next).header.Get("Location"), next)
	}
}

// Reliability, Console, CSRF: a form brings its token as a field.
func TestFormsOfTheConsoleProveTheirPage(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	cookie, id := g.cookieOf(t, "ops")
	own := g.session.CSRF(id)
	_, otherID := g.cookieOf(t, "ops")
	action := asked{route: consoleRoute("CONSOLE_ACTION", route.Web)}.cookie(cookie)
	post := func(body string) said { action.body = body; return g.ask(t, action) }
	for _, body := range []string{"", "csrf=", "csrf=x", "csrf=" + g.session.CSRF(otherID), "csrf=" + own + "&csrf=" + own, "csrf=%zz", "%zz;csrf=" + own} {
		require.Equal(t, protocol.CodeForbidden, post(body).code(t), body)
	}
	require.True(t, post("name=orders&csrf="+own).passed)
	require.Equal(t, own, post("csrf="+own).exchange.FormToken)

	action.body = "csrf=" + own
	require.Equal(t, protocol.CodeForbidden, g.ask(t, action.with(login.HeaderCSRF, "x")).code(t), "a header goes before the field")
	action.route.Form = false
	require.Equal(t, protocol.CodeForbidden, g.ask(t, action).code(t), "JSON is no form")
}

func TestConsoleLogoutEndsTheSession(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	cookie, id := g.cookieOf(t, "ops")
	out := asked{route: consoleRoute("CONSOLE_LOGOUT", route.Gateway)}
	require.Equal(t, protocol.CodeForbidden, g.ask(t, out.cookie(cookie)).code(t))
	require.True(t, g.ask(t, asked{route: readRoute}.cookie(cookie)).passed)
	out.body = "csrf=" + g.session.CSRF(id)
	for range 2 { // once more, as another tab does
		got := g.ask(t, out.cookie(cookie))
		require.Equal(t, http.StatusSeeOther, got.status, got.body)
		require.Equal(t, "/console/login", got.header.Get("Location"))
		require.Contains(t, got.header.Get("Set-Cookie"), cookieName+"=; Path=/; Max-Age=0")
	}
	require.Equal(t, http.StatusUnauthorized, g.ask(t, asked{route: readRoute}.cookie(cookie)).status)
}

// The console asks in the name of who uses it, by the token that it was asked with; rights and
// address are that one's.
func TestConsoleTokenStandsForItsUser(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	now := g.clock.Now().UTC().Truncate(time.Second)
	claims := auth.Claims{
		ID: "w1", Subject: "reader", Audience: []string{auth.AudienceWeb}, IssuedAt: now, ExpiresAt: now.Add(time.Minute),
		Roles: auth.Read | auth.Write, Client: "198.51.100.7",
	}
	token, err := g.ring.Sign(claims)
	require.NoError(t, err)
	got := g.ask(t, asked{route: readRoute}.bearer(token))
	require.True(t, got.passed)
	require.Equal(t, "198.51.100.7", got.exchange.Client.Address.String())
	require.Equal(t, protocol.CodeForbidden, g.ask(t, asked{route: changeRoute}.bearer(token)).code(t), "rights are those of the user table")
	g.clock.pass(2 * time.Minute)
	require.Equal(t, http.StatusUnauthorized, g.ask(t, asked{route: readRoute}.bearer(token)).status)

	for _, audience := range []string{auth.AudienceCoordinator, auth.AudienceMonitor, auth.AudienceMember} {
		claims.Audience, claims.IssuedAt, claims.ExpiresAt = []string{audience}, g.clock.Now(), g.clock.Now().Add(time.Minute)
		token, err := g.ring.Sign(claims)
		require.NoError(t, err)
		require.Equal(t, http.StatusUnauthorized, g.ask(t, asked{route: readRoute}.bearer(token)).status, audience)
	}
}
