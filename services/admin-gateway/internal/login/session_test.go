package login_test

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/login"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

func TestSessionIsReadByEveryGatewayWithTheSecret(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	claims := g.Claims(auth.Principal{Name: "ops", Roles: auth.Write})
	value, err := g.session.Seal(claims)
	require.NoError(t, err)
	replica, err := login.NewSession(secret)
	require.NoError(t, err)
	got, err := replica.Open(value)
	require.NoError(t, err)
	want := claims
	want.Roles, want.Scopes = 0, nil // rights are those of the table
	require.Equal(t, want, got)

	rotated, err := login.NewSession(strings.Repeat("n", 32), secret)
	require.NoError(t, err)
	_, err = rotated.Open(value)
	require.NoError(t, err, "of the secret before")
	stranger, err := login.NewSession(strings.Repeat("n", 32))
	require.NoError(t, err)
	_, err = stranger.Open(value)
	require.Error(t, err)
}

func TestSessionTellsNothingAndIsNeverTheSame(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	claims := g.Claims(auth.Principal{Name: "somebody-with-a-name"})
	one, err := g.session.Seal(claims)
	require.NoError(t, err)
	other, err := g.session.Seal(claims)
	require.NoError(t, err)
	require.NotEqual(t, one, other)
	data, err := base64.RawURLEncoding.DecodeString(one)
	require.NoError(t, err)
	require.NotContains(t, string(data), "somebody")
	require.NotContains(t, string(data), claims.ID)
}

func TestChangedSessionIsNotTaken(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	value, _ := g.cookieOf(t, "ops")
	_, err := g.session.Open(value)
	require.NoError(t, err)
	for i := range len(value) {
		changed := []byte(value)
		changed[i] = map[bool]byte{true: 'B', false: 'A'}[changed[i] == 'A']
		_, err := g.session.Open(string(changed))
		require.Error(t, err, "byte %d", i)
		_, err = g.session.Open(value[:i])
		require.Error(t, err, "cut at %d", i)
	}
	for _, odd := range []string{"", "=", value + "=", value + value, value + "A", "\x00", strings.Repeat("A", 1<<20)} {
		_, err := g.session.Open(odd)
		require.Error(t, err)
	}
}

func TestCookieIsKeptFromScriptsOtherSitesAndPlainConnections(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{true, false} {
		g := newGate(t, func(c *login.Config) { c.Secure = secure })
		recorder := httptest.NewRecorder()
		require.NoError(t, g.SetSession(recorder, g.Claims(auth.Principal{Name: "ops"})))
		g.ClearSession(recorder)
		cookies := recorder.Result().Cookies()
		require.Len(t, cookies, 2)
		for _, cookie := range cookies {
			require.Equal(t, map[bool]string{true: cookieName, false: "rsc_session"}[secure], cookie.Name)
			require.True(t, cookie.HttpOnly)
			require.Equal(t, secure, cookie.Secure)
			require.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
			require.Equal(t, "/", cookie.Path)
			require.Empty(t, cookie.Domain)
		}
		require.Equal(t, 7*24*3600, cookies[0].MaxAge)
		require.Negative(t, cookies[1].MaxAge)
		require.Empty(t, cookies[1].Value)
		require.True(t, g.ask(t, asked{route: readRoute}.with("Cookie", cookies[0].Name+"="+cookies[0].Value)).passed)
	}
}

// Reliability, Console, CSRF.
func TestChangeBySessionNeedsTheHeaderOfItsSession(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	cookie, id := g.cookieOf(t, "ops")
	_, otherID := g.cookieOf(t, "ops")
	ask := asked{route: changeRoute}.cookie(cookie)
	own := g.session.CSRF(id)
	for name, ask := range map[string]asked{
		"none":             ask,
		"empty":            ask.with(login.HeaderCSRF, ""),
		"of another":       ask.with(login.HeaderCSRF, g.session.CSRF(otherID)),
		"the id":           ask.with(login.HeaderCSRF, id),
		"twice":            ask.with(login.HeaderCSRF, own).with(login.HeaderCSRF, own),
		"other origin":     ask.with(login.HeaderCSRF, own).with("Origin", "https://evil.example"),
		"other port":       ask.with(login.HeaderCSRF, own).with("Origin", "http://gateway.example:8443"),
		"null origin":      ask.with(login.HeaderCSRF, own).with("Origin", "null"),
		"sibling":          ask.with(login.HeaderCSRF, own).with("Origin", "http://evil.gateway.example"),
		"other site":       ask.with(login.HeaderCSRF, own).with("Sec-Fetch-Site", "cross-site"),
		"same site":        ask.with(login.HeaderCSRF, own).with("Sec-Fetch-Site", "same-site"),
		"logout":           asked{route: logoutRoute}.cookie(cookie),
		"basic, by a page": asked{route: changeRoute}.basic("ops", right).with("Origin", "https://evil.example"),
	} {
		got := g.ask(t, ask)
		require.False(t, got.passed, name)
		require.Equal(t, http.StatusForbidden, got.status, "%s: %s", name, got.body)
		require.Equal(t, protocol.CodeForbidden, got.code(t), name)
	}
	for name, ask := range map[string]asked{
		"header":          ask.with(login.HeaderCSRF, own),
		"own origin":      ask.with(login.HeaderCSRF, own).with("Origin", "http://gateway.example"),
		"own site":        ask.with(login.HeaderCSRF, own).with("Sec-Fetch-Site", "same-origin"),
		"read":            asked{route: readRoute}.cookie(cookie),
		"token, any page": asked{route: changeRoute}.bearer(g.token(t, "ops")).with("Origin", "https://grafana.example"),
		"basic, no page":  asked{route: changeRoute}.basic("ops", right),
	} {
		require.True(t, g.ask(t, ask).passed, name)
	}
}

// While a secret is rotated, a page of one replica asks another.
func TestHeaderOfThePreviousSecretIsTakenDuringARotation(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	page, err := login.NewSession("the secret that was there before")
	require.NoError(t, err)
	claims := g.Claims(auth.Principal{Name: "ops"})
	value, err := page.Seal(claims)
	require.NoError(t, err)
	ask := asked{route: changeRoute}.cookie(value).with(login.HeaderCSRF, page.CSRF(claims.ID))
	require.Equal(t, http.StatusUnauthorized, g.ask(t, ask).status)
	g.session, err = login.NewSession(secret, "the secret that was there before")
	require.NoError(t, err)
	g.Service = login.New(login.Config{TokenTTL: time.Hour, Secure: true}, login.Deps{
		Ring: g.ring, Users: g.users, Revoked: g.revoked, Session: g.session, Now: g.clock.Now,
	})
	require.True(t, g.ask(t, ask).passed)
	current, err := g.session.Seal(claims)
	require.NoError(t, err)
	require.True(t, g.ask(t, asked{route: changeRoute}.cookie(current).with(login.HeaderCSRF, page.CSRF(claims.ID))).passed)
}

// Reliability, Console: login CSRF.
func TestPageOfAnotherSiteCannotPostWhereNoCredentialIsNeeded(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	action := route.Route{Operation: "CONSOLE_ACTION", Method: http.MethodPost, Service: route.Web, Access: route.Access{Public: true}}
	expired, _ := g.cookieOf(t, "ops")
	g.clock.pass(8 * 24 * time.Hour)
	for name, ask := range map[string]asked{"nobody": {route: action}, "old cookie": asked{route: action}.cookie(expired)} {
		require.True(t, g.ask(t, ask).passed, name)
		require.True(t, g.ask(t, ask.with("Origin", "http://gateway.example")).passed, name)
		require.Equal(t, http.StatusForbidden, g.ask(t, ask.with("Origin", "https://evil.example")).status, name)
		require.Equal(t, http.StatusForbidden, g.ask(t, ask.with("Sec-Fetch-Site", "cross-site")).status, name)
	}
}

// A sibling sub-domain can set rsc_session for all of the domain, but not what begins with
// __Host-.
func TestCookieThatASiblingHasPlantedIsNotLookedAt(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	planted, _ := g.cookieOf(t, "reader")
	own, _ := g.cookieOf(t, "ops")
	ask := asked{route: readRoute}.with("Cookie", "rsc_session="+planted)
	require.Equal(t, http.StatusUnauthorized, g.ask(t, ask).status)
	got := g.ask(t, ask.cookie(own))
	require.True(t, got.passed)
	require.Equal(t, "ops", got.exchange.Principal.Name)
}

func TestSessionEndsWithItsLogout(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	cookie, id := g.cookieOf(t, "ops")
	got := g.ask(t, asked{route: logoutRoute}.cookie(cookie).with(login.HeaderCSRF, g.session.CSRF(id)))
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Contains(t, got.header.Get("Set-Cookie"), cookieName+"=; Path=/; Max-Age=0")
	got = g.ask(t, asked{route: readRoute}.cookie(cookie))
	require.Equal(t, http.StatusUnauthorized, got.status)
	require.Contains(t, got.header.Get("Set-Cookie"), cookieName+"=; Path=/; Max-Age=0", "the browser shall forget it")
}

// A browser sends an old cookie by itself, and must get to the page where one logs in.
func TestOldCookieIsDroppedOnPublicRoutesAndRefusedOnOthers(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	expired, _ := g.cookieOf(t, "ops")
	g.clock.pass(8 * 24 * time.Hour)
	gone, err := g.session.Seal(g.Claims(auth.Principal{Name: "gone"}))
	require.NoError(t, err)
	fine, _ := g.cookieOf(t, "ops")
	for name, ask := range map[string]asked{
		"nonsense":    asked{}.cookie("x"),
		"empty":       asked{}.cookie(""),
		"expired":     asked{}.cookie(expired),
		"user gone":   asked{}.cookie(gone),
		"two":         asked{}.with("Cookie", cookieName+"="+fine+"; "+cookieName+"="+gone),
		"two fine":    asked{}.cookie(fine).cookie(fine),
		"login token": asked{}.cookie(g.token(t, "ops")),
	} {
		ask.route = openRoute
		got := g.ask(t, ask)
		require.True(t, got.passed, name)
		require.Zero(t, got.exchange.Principal, name)
		require.Contains(t, got.header.Get("Set-Cookie"), "Max-Age=0", name)
		ask.route = readRoute
		require.Equal(t, http.StatusUnauthorized, g.ask(t, ask).status, name)
	}
}
