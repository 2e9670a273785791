package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/httpapi"
)

const routing = billing + "/producer-routing"

// judged is the time that the tests' tokens are judged at.
func judged() time.Time { return time.Unix(1_800_000_000, 0) }

// gateway signs what the coordinator is to believe.
type gateway struct {
	t    *testing.T
	keys *auth.Keyring
}

func newGateway(t *testing.T, secret string) *gateway {
	t.Helper()
	key, err := auth.KeyFromSecret(secret)
	require.NoError(t, err)
	keys, err := auth.NewKeyring(key)
	require.NoError(t, err)
	return &gateway{t, keys}
}

// token signs claims that are right for a change unless change says otherwise, and returns
// the header that carries them.
func (g *gateway) token(change func(*auth.Claims)) string {
	g.t.Helper()
	claims := auth.Claims{
		ID: "j-1", Subject: "ops", Audience: []string{auth.AudienceCoordinator}, Roles: auth.Read | auth.Write,
		IssuedAt: judged().Add(-time.Second), ExpiresAt: judged().Add(time.Minute),
	}
	change(&claims)
	signed, err := g.keys.Sign(claims)
	require.NoError(g.t, err)
	return "Authorization: Bearer " + signed
}

// login returns the header of a login token with roles.
func (g *gateway) login(roles auth.Roles, scopes ...auth.Scope) string {
	return g.token(func(c *auth.Claims) {
		c.Audience, c.Roles, c.Scopes = []string{auth.AudienceAPI, auth.AudienceMember}, roles, scopes
	})
}

func (g *gateway) upstream(roles auth.Roles, scopes ...auth.Scope) string {
	return g.token(func(c *auth.Claims) { c.Roles, c.Scopes = roles, scopes })
}

// guardedAPI serves an API that believes g.
func guardedAPI(t *testing.T, g *gateway, members bool) *api {
	t.Helper()
	return startAPIWith(t, func(deps *httpapi.Deps) {
		deps.Guard = httpapi.NewGuard(httpapi.GuardConfig{Keys: g.keys, Members: members, Now: judged})
	})
}

// Gateway, Authentication: the coordinator accepts mutations only with a token that the
// gateway has made for it.
func TestChangesNeedTheGatewaysToken(t *testing.T) {
	t.Parallel()
	g, other := newGateway(t, "one"), newGateway(t, "two")
	a := guardedAPI(t, g, false)
	refused := map[string]string{
		"no token":        "X-Nothing: 1",
		"basic":           "Authorization: Basic b3BzOm9wcw==",
		"empty":           "Authorization: Bearer ",
		"no JWT":          "Authorization: Bearer abc",
		"twice":           g.upstream(auth.Write) + "\r\n" + g.upstream(auth.Write),
		"login token":     g.login(auth.Read | auth.Write | auth.Member),
		"for the monitor": g.token(func(c *auth.Claims) { c.Audience = []string{auth.AudienceMonitor} }),
		"expired": g.token(func(c *auth.Claims) {
			c.IssuedAt, c.ExpiresAt = judged().Add(-time.Hour), judged().Add(-auth.Leeway-time.Second)
		}),
		"of the future":    g.token(func(c *auth.Claims) { c.IssuedAt = judged().Add(auth.Leeway + time.Second) }),
		"of another key":   other.upstream(auth.Read | auth.Write),
		"surrogate header": "X-Forwarded-Access-Token: " + g.upstream(auth.Write)[len("Authorization: Bearer "):],
	}
	for name, header := range refused {
		for what, change := range mutations() {
			got := a.call(t, change.method, change.target, change.body, header)
			require.Equal(t, 401, got.status, "%s, %s: %s", name, what, got.body)
			requireRefusal(t, got, 401, protocol.CodeUnauthorized, "")
			require.Contains(t, got.header.Get("WWW-Authenticate"), "Bearer")
			require.Contains(t, string(got.body), "gateway")
			require.Contains(t, string(got.body), "--dev")
		}
	}
	for what, change := range mutations() {
		got := a.call(t, change.method, change.target, change.body, g.upstream(auth.Read|auth.Member))
		requireRefusal(t, got, 403, protocol.CodeForbidden, "")
		require.Contains(t, string(got.body), "WRITE", what)
		require.Empty(t, got.header.Get("WWW-Authenticate"))
	}
	require.Empty(t, a.seen(), "nobody below is asked")
	for what, change := range mutations() {
		got := a.call(t, change.method, change.target, change.body, g.upstream(auth.Read|auth.Write))
		require.Less(t, got.status, 300, "%s: %s", what, got.body)
	}
	require.Len(t, a.seen(), len(mutations())+1, "scaling a group looks the group up")
}

// An endpoint that is added and changes something cannot be forgotten.
func TestEveryRouteThatIsNoReadIsGuarded(t *testing.T) {
	t.Parallel()
	below, g := newLayer(), newGateway(t, "one")
	deps := below.deps()
	deps.Guard = httpapi.NewGuard(httpapi.GuardConfig{Keys: g.keys, Members: true, Now: judged})
	handler := httpapi.New(httpapi.Config{}, deps)
	routes, ok := handler.(chi.Routes)
	require.True(t, ok)
	names := strings.NewReplacer("{streamPrefix}", "orders", "{consumerGroup}", "billing", "{memberId}", "m-1", "{reshardingId}", "R1")
	guarded := 0
	require.NoError(t, chi.Walk(routes, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if method == http.MethodGet {
			return nil
		}
		guarded++
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(method, names.Replace(route), strings.NewReader("{")))
		require.Equal(t, http.StatusUnauthorized, recorder.Code, "%s %s", method, route)
		return nil
	}))
	require.Len(t, takers(), guarded)
	require.Empty(t, below.seen())
}

func TestReadsAndHeartbeatsAreOpenUnlessMembersAreAsked(t *testing.T) {
	t.Parallel()
	a := guardedAPI(t, newGateway(t, "one"), false)
	require.Equal(t, 200, a.call(t, "POST", beat, goodBeat).status)
	for _, target := range []string{routing, billing, orders, base + "/streams", billing + "/events", base + "/monitoring/groups", "/healthz"} {
		require.Equal(t, 200, a.call(t, "GET", target, "").status, target)
		require.Equal(t, 200, a.call(t, "GET", target, "", "Authorization: Bearer nonsense").status, target)
	}
}

// Gateway, Authentication: heartbeats and routing take a login token whose audience
// includes member.
func TestMembersLoginWhereTheSettingsAsk(t *testing.T) {
	t.Parallel()
	g := newGateway(t, "one")
	a := guardedAPI(t, g, true)
	expired := g.token(func(c *auth.Claims) {
		c.Audience, c.Roles, c.ExpiresAt = []string{auth.AudienceMember}, auth.Member, judged().Add(-time.Minute)
		c.IssuedAt = judged().Add(-time.Hour)
	})
	onlyGateway := g.token(func(c *auth.Claims) { c.Audience, c.Roles = []string{auth.AudienceAPI}, auth.Member })
	for _, header := range []string{"X-Nothing: 1", expired, onlyGateway} {
		for method, target := range map[string]string{"POST": beat, "GET": routing} {
			got := a.call(t, method, target, goodBeat, header)
			requireRefusal(t, got, 401, protocol.CodeUnauthorized, "")
			require.Contains(t, string(got.body), "log in at the gateway")
		}
	}
	requireRefusal(t, a.call(t, "POST", beat, goodBeat, g.login(auth.Read|auth.Write)), 403, protocol.CodeForbidden, "")
	requireRefusal(t, a.call(t, "GET", routing, "", g.login(0)), 403, protocol.CodeForbidden, "")
	require.Empty(t, a.seen())

	for _, header := range []string{g.login(auth.Member), g.upstream(auth.Member), g.login(auth.Member, "ord*")} {
		for range 2 { // the second time it is remembered
			require.Equal(t, 200, a.call(t, "POST", beat, goodBeat, header).status)
			require.Equal(t, 200, a.call(t, "GET", routing, "", header).status)
		}
	}
	require.Equal(t, 200, a.call(t, "GET", routing, "", g.login(auth.Read)).status)
	require.Equal(t, 200, a.call(t, "GET", billing, "").status, "other reads stay open")
	member := g.login(auth.Read | auth.Write | auth.Member)
	require.Equal(t, 200, a.call(t, "POST", beat, goodBeat, member).status)
	requireRefusal(t, a.call(t, "POST", orders, goodCreate, member), 401, protocol.CodeUnauthorized, "")
}

func TestScopesBoundTheStreamsOfAToken(t *testing.T) {
	t.Parallel()
	g := newGateway(t, "one")
	a := guardedAPI(t, g, true)
	inside, outside := auth.Scope("ord*"), auth.Scope("order")
	requireRefusal(t, a.call(t, "POST", beat, goodBeat, g.login(auth.Member, outside)), 403, protocol.CodeForbidden, "")
	requireRefusal(t, a.call(t, "GET", routing, "", g.login(auth.Member, outside)), 403, protocol.CodeForbidden, "")
	for what, change := range mutations() {
		got := a.call(t, change.method, change.target, change.body, g.upstream(auth.Write, outside))
		requireRefusal(t, got, 403, protocol.CodeForbidden, "")
		got = a.call(t, change.method, change.target, change.body, g.upstream(auth.Write, outside, inside))
		if what == "repair index" {
			requireRefusal(t, got, 403, protocol.CodeForbidden, "")
			continue
		}
		require.Less(t, got.status, 300, "%s: %s", what, got.body)
	}
	// A path that two readers could understand differently stays a fault of the path.
	encoded := a.call(t, "POST", base+"/streams/%6Frders", goodCreate, g.upstream(auth.Write, "orders"))
	require.Equal(t, 201, encoded.status, "%s", encoded.body)
	requireRefusal(t, a.call(t, "POST", base+"/streams/or%20ders", goodCreate, g.upstream(auth.Write, "orders")),
		400, protocol.CodeInvalidRequest, "")
}

func TestWithoutKeysChangesAreForNobodyOrForEverybody(t *testing.T) {
	t.Parallel()
	g := newGateway(t, "one")
	for _, guard := range []*httpapi.Guard{nil, {}, httpapi.NewGuard(httpapi.GuardConfig{})} {
		a := startAPIWith(t, func(deps *httpapi.Deps) { deps.Guard = guard })
		for _, change := range mutations() {
			got := a.call(t, change.method, change.target, change.body, g.upstream(auth.Read|auth.Write))
			requireRefusal(t, got, 401, protocol.CodeUnauthorized, "")
			require.Contains(t, string(got.body), "api.jwks-url")
		}
		require.Equal(t, 200, a.call(t, "POST", beat, goodBeat).status)
		require.Equal(t, 200, a.call(t, "GET", routing, "").status)
	}
	a := startAPIWith(t, func(deps *httpapi.Deps) {
		deps.Guard = httpapi.NewGuard(httpapi.GuardConfig{Members: true, Dev: true})
	})
	require.Equal(t, 201, a.call(t, "POST", orders, goodCreate).status)
	requireRefusal(t, a.call(t, "POST", beat, goodBeat), 401, protocol.CodeUnauthorized, "")
	a = startAPIWith(t, func(deps *httpapi.Deps) {
		deps.Guard = httpapi.NewGuard(httpapi.GuardConfig{Keys: g.keys, Dev: true, Now: judged})
	})
	requireRefusal(t, a.call(t, "POST", orders, goodCreate), 401, protocol.CodeUnauthorized, "")
}

// Who is not let in does not make the coordinator take a body.
func TestNothingOfABodyIsReadBeforeTheCallerIsKnown(t *testing.T) {
	t.Parallel()
	a := guardedAPI(t, newGateway(t, "one"), true)
	for _, target := range []string{"POST " + orders, "POST " + beat} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", a.address)
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
		_, err = fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: c\r\nContent-Type: application/json\r\n"+
			"Content-Length: 20\r\nExpect: 100-continue\r\n\r\n", target)
		require.NoError(t, err)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, 401, answer.StatusCode, "no 100 Continue comes first")
		require.NoError(t, conn.Close())
	}
}
