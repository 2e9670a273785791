package login_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/login"
)

func TestLoginAnswersATokenWithTheRolesOfNow(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	got := g.try(t, "ops", right, "")
	require.Equal(t, http.StatusOK, got.status, got.body)
	var answer protocol.LoginResponse
	require.NoError(t, json.Unmarshal([]byte(got.body), &answer))
	require.Equal(t, "Bearer", answer.TokenType)
	require.Equal(t, []string{"READ", "WRITE"}, answer.Roles)
	require.Equal(t, int64(7*24*3600), answer.ExpiresInSeconds)
	require.Equal(t, g.clock.Now().Add(7*24*time.Hour).UTC(), answer.ExpiresAt.UTC())
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))

	claims, err := auth.NewVerifier(g.ring, g.clock.Now, auth.AudienceAPI).Verify(t.Context(), answer.AccessToken)
	require.NoError(t, err)
	require.Equal(t, "ops", claims.Subject)
	require.Equal(t, []string{auth.AudienceAPI}, claims.Audience)
	require.Len(t, claims.ID, 26, "the id is a ULID")
	used := g.ask(t, asked{route: changeRoute}.bearer(answer.AccessToken))
	require.True(t, used.passed, used.body)
	require.Equal(t, "ops", used.exchange.Principal.Name)
	require.Equal(t, claims.ID, used.exchange.TokenID)
}

func TestTokenOfAMemberIsForCoordinatorsToo(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	_, err := auth.NewVerifier(g.ring, g.clock.Now, auth.AudienceMember).Verify(t.Context(), g.token(t, "pod"))
	require.NoError(t, err)
	_, err = auth.NewVerifier(g.ring, g.clock.Now, auth.AudienceMember).Verify(t.Context(), g.token(t, "ops"))
	require.Error(t, err)
}

// Reliability, Login and tokens: known and unknown user both call the hash exactly once.
func TestLoginHashesOnceForKnownAndUnknownUsers(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	for _, one := range [][2]string{{"ops", right}, {"ops", right}, {"ops", wrong}, {"nobody", right}, {"nobody", wrong}, {strings.Repeat("n", 10_000), wrong}} {
		g.try(t, one[0], one[1], "")
		require.Equal(t, 1, g.hashes(), "%.20s/%s", one[0], one[1])
	}
}

// Reliability, Login and tokens: same text and status.
func TestWrongPasswordAndUnknownUserAreToldApartByNothing(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	known, unknown := g.try(t, "ops", wrong, ""), g.try(t, "nobody", wrong, "")
	require.Equal(t, http.StatusUnauthorized, known.status)
	require.Equal(t, protocol.CodeUnauthorized, known.code(t))
	require.Equal(t, known.status, unknown.status)
	require.Equal(t, known.body, unknown.body)
	require.Equal(t, known.header, unknown.header)
	require.Equal(t, []string{`Basic realm="redis-stream-coordinator"`, `Bearer realm="redis-stream-coordinator"`}, known.header.Values("WWW-Authenticate"))
}

func TestLoginWithAnOddBodyIsRefusedBeforeAnythingIsHashed(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	for name, body := range map[string]string{
		"nothing":           "",
		"no JSON":           "username=ops&password=" + wrong,
		"list":              "[]",
		"null":              "null",
		"no password":       `{"username":"ops"}`,
		"null password":     `{"username":"ops","password":null}`,
		"number":            `{"username":"ops","password":1}`,
		"list of passwords": `{"username":"ops","password":["` + wrong + `","` + right + `"]}`,
		"object":            `{"username":{"$ne":""},"password":"` + wrong + `"}`,
		"twice":             `{"username":"ops","password":"` + wrong + `","password":"` + right + `"}`,
		"other case":        `{"Username":"ops","Password":"` + right + `"}`,
		"something after":   credentials("ops", wrong) + "x",
		"no user":           credentials("", wrong),
		"empty password":    credentials("ops", ""),
		"long password":     credentials("ops", strings.Repeat("p", 1025)),
		"deep":              `{"username":"ops","password":"x","more":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`,
	} {
		got := g.ask(t, asked{route: loginRoute, body: body})
		require.Equal(t, http.StatusBadRequest, got.status, "%s: %s", name, got.body)
		require.Equal(t, protocol.CodeInvalidRequest, got.code(t), name)
		require.NotContains(t, got.body, "canary", name)
		require.Zero(t, g.hashes(), name)
	}
}

func TestPasswordOfAKilobyteIsCompared(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	require.Equal(t, http.StatusUnauthorized, g.try(t, "ops", strings.Repeat("p", 1024), "").status)
	require.Equal(t, 1, g.hashes())
}

func TestLoginDoesNotLookAtOtherCredentials(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	ask := asked{route: loginRoute, body: credentials("ops", right)}
	for name, ask := range map[string]asked{
		"old token":       ask.bearer("over"),
		"wrong password":  ask.basic("ops", wrong),
		"other scheme":    ask.with("Authorization", "Digest x"),
		"several headers": ask.bearer("a").bearer("b"),
		"old cookie":      ask.cookie("over"),
	} {
		require.Equal(t, http.StatusOK, g.ask(t, ask).status, name)
		require.Equal(t, 1, g.hashes(), name)
	}
}

// Reliability, Login and tokens: logout.
func TestLogoutEndsTheTokenAndNoOther(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	ended, other := g.token(t, "ops"), g.token(t, "ops")
	got := g.ask(t, asked{route: logoutRoute}.bearer(ended))
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.JSONEq(t, `{"loggedOut":true}`, got.body)

	got = g.ask(t, asked{route: readRoute}.bearer(ended))
	require.Equal(t, http.StatusUnauthorized, got.status)
	require.Equal(t, protocol.CodeUnauthorized, got.code(t))
	require.Equal(t, http.StatusUnauthorized, g.ask(t, asked{route: logoutRoute}.bearer(ended)).status, "once is enough")
	require.True(t, g.ask(t, asked{route: readRoute}.bearer(other)).passed)
}

func TestRevokedTokenStaysOverUntilItsLastMoment(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	token := g.token(t, "ops")
	g.ask(t, asked{route: logoutRoute}.bearer(token))
	g.clock.pass(7*24*time.Hour + auth.Leeway - time.Second)
	_, err := auth.NewVerifier(g.ring, g.clock.Now, auth.AudienceAPI).Verify(t.Context(), token)
	require.NoError(t, err, "within the leeway the token itself is taken")
	require.Equal(t, http.StatusUnauthorized, g.ask(t, asked{route: readRoute}.bearer(token)).status)
}

func TestOnlyATokenOrSessionCanBeLoggedOut(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	got := g.ask(t, asked{route: logoutRoute}.basic("ops", right))
	require.Equal(t, http.StatusBadRequest, got.status)
	require.Equal(t, protocol.CodeInvalidRequest, got.code(t))
	require.Equal(t, http.StatusUnauthorized, g.ask(t, asked{route: logoutRoute}).status)
}

func TestSessionTellsWhoAsks(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	cookie, id := g.cookieOf(t, "scoped")
	for name, one := range map[string]struct {
		ask  asked
		want string
	}{
		"nobody": {asked{route: sessionRoute}, `{"authenticated":false,"username":null,"roles":[],"scopes":[]}`},
		"token":  {asked{route: sessionRoute}.bearer(g.token(t, "ops")), `{"authenticated":true,"username":"ops","roles":["READ","WRITE"],"scopes":[]}`},
		"basic":  {asked{route: sessionRoute}.basic("reader", right), `{"authenticated":true,"username":"reader","roles":["READ"],"scopes":[]}`},
		"cookie": {asked{route: sessionRoute}.cookie(cookie), `{"authenticated":true,"username":"scoped","roles":["READ","WRITE"],"scopes":["orders*"]}`},
		"old":    {asked{route: sessionRoute}.cookie("over"), `{"authenticated":false,"username":null,"roles":[],"scopes":[]}`},
	} {
		got := g.ask(t, one.ask)
		require.Equal(t, http.StatusOK, got.status, name)
		require.JSONEq(t, one.want, got.body, name)
		require.Equal(t, name == "cookie", got.header.Get(login.HeaderCSRF) != "", name)
	}
	require.Equal(t, g.session.CSRF(id), g.ask(t, asked{route: sessionRoute}.cookie(cookie)).header.Get(login.HeaderCSRF))
	require.Equal(t, http.StatusUnauthorized, g.ask(t, asked{route: sessionRoute}.bearer("wrong")).status)
}
