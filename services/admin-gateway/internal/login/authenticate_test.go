package login_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/login"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/users"
)

var openRoute = route.Route{Operation: "VERSION", Method: http.MethodGet, Service: route.Gateway, Access: route.Access{Public: true}}

func TestCredentialOfEveryKindIsTaken(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	token := g.token(t, "ops")
	cookie, _ := g.cookieOf(t, "ops")
	for name, ask := range map[string]asked{
		"token":                asked{route: readRoute}.bearer(token),
		"token, other case":    asked{route: readRoute}.with("Authorization", "bEARER "+token),
		"basic":                asked{route: readRoute}.basic("ops", right),
		"basic, other case":    asked{route: readRoute}.with("Authorization", "BASIC "+base64.StdEncoding.EncodeToString([]byte("ops:"+right))),
		"cookie":               asked{route: readRoute}.cookie(cookie),
		"token and old cookie": asked{route: readRoute}.bearer(token).cookie("over"),
	} {
		got := g.ask(t, ask)
		require.True(t, got.passed, "%s: %s", name, got.body)
		require.Equal(t, "ops", got.exchange.Principal.Name, name)
		require.Equal(t, !strings.HasPrefix(name, "basic"), got.exchange.TokenID != "", name)
	}
}

func TestWrongCredentialIsRefusedOnPublicRoutesToo(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	token := g.token(t, "ops")
	basic := base64.StdEncoding.EncodeToString([]byte("ops:" + right))
	upstream, err := g.ring.Sign(auth.Claims{
		ID: "id", Subject: "ops", Audience: []string{auth.AudienceCoordinator}, IssuedAt: g.clock.Now(), ExpiresAt: g.clock.Now().Add(time.Minute), Roles: auth.Read,
	})
	require.NoError(t, err)
	for name, values := range map[string][]string{
		"nothing":              {""},
		"blank":                {" "},
		"scheme alone":         {"Bearer"},
		"token alone":          {token},
		"unknown scheme":       {"Digest " + token},
		"no token":             {"Bearer "},
		"cut token":            {"Bearer " + token[:len(token)-2]},
		"token with a blank":   {"Bearer  " + token},
		"two tokens":           {"Bearer " + token + " " + token},
		"listed tokens":        {"Bearer " + token + ", Bearer " + token},
		"long token":           {"Bearer " + strings.Repeat("a", 1<<16)},
		"token of a service":   {"Bearer " + upstream},
		"several headers":      {"Bearer " + token, "Bearer " + token},
		"right one and wrong":  {"Bearer " + token, "Basic x"},
		"no base64":            {"Basic ops:" + right},
		"no colon":             {"Basic " + base64.StdEncoding.EncodeToString([]byte("ops"))},
		"nobody":               {"Basic " + base64.StdEncoding.EncodeToString([]byte(":"))},
		"wrong password":       {"Basic " + base64.StdEncoding.EncodeToString([]byte("ops:"+wrong))},
		"long password":        {"Basic " + base64.StdEncoding.EncodeToString([]byte("ops:"+strings.Repeat("p", 1025)))},
		"something after":      {"Basic " + basic + "!"},
		"session as token":     {"Bearer " + firstOf(g.cookieOf(t, "ops"))},
		"password as a bearer": {"Bearer " + basic},
	} {
		for _, asks := range []route.Route{readRoute, openRoute, sessionRoute, changeRoute, beatRoute} {
			ask := asked{route: asks, header: http.Header{"Authorization": values}}
			got := g.ask(t, ask)
			require.False(t, got.passed, name)
			require.Equal(t, http.StatusUnauthorized, got.status, name)
			require.Equal(t, protocol.CodeUnauthorized, got.code(t), name)
			require.Len(t, got.header.Values("WWW-Authenticate"), 2, name)
			require.Zero(t, got.exchange.Principal, name)
		}
		g.clock.pass(15 * time.Minute) // failures are not what this is about
	}
}

func firstOf(first, _ string) string { return first }

func TestRequestWithoutACredentialGoesOnAsNobody(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	got := g.ask(t, asked{route: openRoute})
	require.True(t, got.passed)
	require.Zero(t, got.exchange.Principal)
	require.Empty(t, got.exchange.TokenID)
	got = g.ask(t, asked{route: readRoute})
	require.Equal(t, http.StatusUnauthorized, got.status)
	require.Equal(t, protocol.CodeUnauthorized, got.code(t))
	require.Equal(t, `Basic realm="redis-stream-coordinator"`, got.header.Get("WWW-Authenticate"))
}

func TestExpiredTokenIsOver(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	token := g.token(t, "ops")
	cookie, _ := g.cookieOf(t, "ops")
	g.clock.pass(7*24*time.Hour - time.Second)
	require.True(t, g.ask(t, asked{route: readRoute}.bearer(token)).passed)
	require.True(t, g.ask(t, asked{route: readRoute}.cookie(cookie)).passed)
	g.clock.pass(auth.Leeway + time.Second)
	require.Equal(t, http.StatusUnauthorized, g.ask(t, asked{route: readRoute}.bearer(token)).status)
	require.Equal(t, http.StatusUnauthorized, g.ask(t, asked{route: readRoute}.cookie(cookie)).status)
}

// Reliability, Login and tokens: rights come from current user table, so removing a user or
// role works at once.
func TestRightsAreThoseOfTheTableOfNow(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	cookie, id := g.cookieOf(t, "ops")
	asks := map[string]asked{
		"token":        asked{route: changeRoute}.bearer(g.token(t, "ops")),
		"cookie":       asked{route: changeRoute}.cookie(cookie).with(login.HeaderCSRF, g.session.CSRF(id)),
		"cached basic": asked{route: changeRoute}.basic("ops", right),
	}
	expect := func(status int, scopes ...auth.Scope) {
		t.Helper()
		for name, ask := range asks {
			got := g.ask(t, ask)
			require.Equal(t, status, got.status, "%s: %s", name, got.body)
			if got.passed {
				require.Equal(t, scopes, got.exchange.Principal.Scopes, name)
			}
		}
	}
	expect(http.StatusOK)
	g.users.Replace(g.table(t, users.User{Name: "ops", Hash: cheap(), Roles: auth.Read}))
	expect(http.StatusForbidden)
	g.users.Replace(g.table(t, users.User{Name: "ops", Hash: cheap(), Roles: auth.Write, Scopes: []auth.Scope{"other"}}))
	expect(http.StatusForbidden)
	g.users.Replace(g.table(t, users.User{Name: "ops", Hash: cheap(), Roles: auth.Write, Scopes: []auth.Scope{"orders"}}))
	expect(http.StatusOK, "orders")
	g.users.Replace(g.table(t))
	expect(http.StatusUnauthorized)
	g.users.Replace(g.table(t, usual()...))
	expect(http.StatusOK)
}

// Reliability, Login and tokens: unknown role gives no rights.
func TestRolesOfATokenGiveNothing(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	said := auth.Claims{
		ID: "id", Subject: "nothing", Audience: []string{auth.AudienceAPI}, IssuedAt: g.clock.Now(), ExpiresAt: g.clock.Now().Add(time.Hour),
		Roles: auth.Read | auth.Write | auth.Member,
	}
	token, err := g.ring.Sign(said)
	require.NoError(t, err)
	for _, asks := range []route.Route{readRoute, changeRoute, beatRoute} {
		got := g.ask(t, asked{route: asks}.bearer(token))
		require.Equal(t, http.StatusForbidden, got.status)
	}
	said.Subject = "who never was"
	token, err = g.ring.Sign(said)
	require.NoError(t, err)
	require.Equal(t, http.StatusUnauthorized, g.ask(t, asked{route: readRoute}.bearer(token)).status)
}

func TestMembersThatNeedNoCredentialAreNotAskedForOne(t *testing.T) {
	t.Parallel()
	g := newGate(t, func(c *login.Config) { c.AuthenticateMembers = false })
	expired := g.token(t, "pod")
	g.hashes()
	g.clock.pass(30 * 24 * time.Hour)
	for name, ask := range map[string]asked{
		"none":           {route: beatRoute},
		"expired token":  asked{route: beatRoute}.bearer(expired),
		"wrong password": asked{route: beatRoute}.basic("ops", wrong),
		"several":        asked{route: beatRoute}.bearer("x").bearer("y"),
		"no rights":      asked{route: beatRoute}.basic("reader", right),
	} {
		got := g.ask(t, ask)
		require.True(t, got.passed, name)
		require.Zero(t, got.exchange.Principal, name)
	}
	require.Zero(t, g.hashes())
}

func TestMembersThatNeedACredentialNeedTheRole(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	require.Equal(t, http.StatusUnauthorized, g.ask(t, asked{route: beatRoute}).status)
	require.Equal(t, http.StatusForbidden, g.ask(t, asked{route: beatRoute}.basic("reader", right)).status)
	require.True(t, g.ask(t, asked{route: beatRoute}.basic("pod", right)).passed)
}

// A browser that hears of basic authentication asks its user for a password by itself.
func TestScriptsOfThePageHearNothingOfBasicAuthentication(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	for name, ask := range map[string]asked{
		"script":     asked{route: readRoute}.with("Sec-Fetch-Dest", "empty"),
		"old cookie": asked{route: readRoute}.cookie("over"),
	} {
		got := g.ask(t, ask)
		require.Equal(t, http.StatusUnauthorized, got.status, name)
		require.Equal(t, []string{`Bearer realm="redis-stream-coordinator"`}, got.header.Values("WWW-Authenticate"), name)
	}
}
