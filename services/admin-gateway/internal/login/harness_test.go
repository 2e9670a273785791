package login_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/argon2"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/login"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/users"
)

// The names of users and their password, which nothing but a login may show.
const (
	right  = "right-canary-password"
	wrong  = "wrong-canary-password"
	secret = "0123456789abcdef0123456789abcdef"
	home   = "192.0.2.1"
	// cookieName is that of cookies that are for TLS only.
	cookieName = "__Host-rsc_session"
)

// routes that tests ask for.
var (
	loginRoute   = route.Route{Operation: "LOGIN", Method: http.MethodPost, Service: route.Gateway, Access: route.Access{Public: true, Login: true}}
	logoutRoute  = route.Route{Operation: "LOGOUT", Method: http.MethodPost, Service: route.Gateway}
	sessionRoute = route.Route{Operation: "GET_SESSION", Method: http.MethodGet, Service: route.Gateway, Access: route.Access{Public: true}}
	readRoute    = route.Route{Operation: "GET_STREAM", Method: http.MethodGet, Service: route.Coordinator, Access: route.Access{Roles: auth.Read}, Stream: "orders"}
	changeRoute  = route.Route{Operation: "SCALE_STREAM", Method: http.MethodPost, Service: route.Coordinator, Access: route.Access{Roles: auth.Write}, Stream: "orders", Mutation: true}
	beatRoute    = route.Route{Operation: "HEARTBEAT", Method: http.MethodPost, Service: route.Coordinator, Access: route.Access{Roles: auth.Member, MemberAPI: true}, Stream: "orders"}
)

// hand is a clock that is moved by hand.
type hand struct {
	mu  sync.Mutex
	now time.Time
}

func newHand() *hand { return &hand{now: time.Unix(1_800_000_000, 0)} }

func (h *hand) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hand) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

// cheap returns a hash of right with the weakest parameters that are taken.
func cheap() string {
	salt, base := []byte("0123456789abcdef"), base64.RawStdEncoding
	sum := argon2.IDKey([]byte(right), salt, 1, 7168, 1, 32)
	return fmt.Sprintf("$argon2id$v=19$m=7168,t=1,p=1$%s$%s", base.EncodeToString(salt), base.EncodeToString(sum))
}

// gate is a service with the stages in the order of the pipeline, and what it logs.
type gate struct {
	*login.Service

	clock   *hand
	users   *users.Directory
	revoked login.Revocations
	ring    *auth.Keyring
	session *login.Session
	log     *bytes.Buffer

	mu     sync.Mutex
	hashed int
	// hold, when set, is called by every hash.
	hold func()
}

func newGate(t testing.TB, change ...func(*login.Config)) *gate {
	t.Helper()
	cfg := login.Config{TokenTTL: 7 * 24 * time.Hour, Secure: true, AuthenticateMembers: true}
	for _, apply := range change {
		apply(&cfg)
	}
	g := &gate{clock: newHand(), log: &bytes.Buffer{}}
	key, err := auth.KeyFromSecret(secret)
	require.NoError(t, err)
	g.ring, err = auth.NewKeyring(key)
	require.NoError(t, err)
	g.session, err = login.NewSession(secret)
	require.NoError(t, err)
	g.revoked = login.NewLocalRevocations(g.clock.Now)
	g.users = users.NewDirectory(g.table(t, usual()...))
	lines := slog.New(slog.NewJSONHandler(&locked{to: g.log}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	g.Service = login.New(cfg, login.Deps{Ring: g.ring, Users: g.users, Revoked: g.revoked, Session: g.session, Now: g.clock.Now, Log: lines})
	return g
}

// usual are the users of most tests.
func usual() []users.User {
	hash := cheap()
	return []users.User{
		{Name: "ops", Hash: hash, Roles: auth.Read | auth.Write},
		{Name: "reader", Hash: hash, Roles: auth.Read},
		{Name: "pod", Hash: hash, Roles: auth.Member},
		{Name: "scoped", Hash: hash, Roles: auth.Read | auth.Write, Scopes: []auth.Scope{"orders*"}},
		{Name: "nothing", Hash: hash},
	}
}

// table returns a table whose comparisons are counted, and only the right ones of which cost
// something.
func (g *gate) table(t testing.TB, list ...users.User) *users.Table {
	t.Helper()
	made, err := users.NewTable(list, users.WithCompare(func(hash auth.PasswordHash, password string) bool {
		g.mu.Lock()
		g.hashed++
		hold := g.hold
		g.mu.Unlock()
		if hold != nil {
			hold()
		}
		return password == right && hash.Matches(password)
	}))
	require.NoError(t, err)
	return made
}

// hashes returns how many passwords were compared since it was asked the last time.
func (g *gate) hashes() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	count := g.hashed
	g.hashed = 0
	return count
}

// asked is a request to the gate.
type asked struct {
	route  route.Route
	body   string
	from   string
	header http.Header
	ctx    context.Context
}

func (a asked) with(name, value string) asked {
	a.header = a.header.Clone()
	if a.header == nil {
		a.header = http.Header{}
	}
	a.header.Add(name, value)
	return a
}

func (a asked) bearer(token string) asked { return a.with("Authorization", "Bearer "+token) }

func (a asked) basic(name, password string) asked {
	return a.with("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(name+":"+password)))
}

func (a asked) cookie(value string) asked { return a.with("Cookie", cookieName+"="+value) }

// said is an answer, with the exchange that led to it.
type said struct {
	status   int
	header   http.Header
	body     string
	exchange *exchange.Exchange
	// passed tells that the stages let the request by.
	passed bool
}

func (s said) code(t testing.TB) protocol.Code {
	t.Helper()
	var refusal protocol.ErrorResponse
	require.NoError(t, json.Unmarshal([]byte(s.body), &refusal), s.body)
	require.Equal(t, refusal.ErrorCode, s.exchange.Code, "the exchange says what was answered")
	return refusal.ErrorCode
}

// ask sends a request through the stages; what they let by is answered by the service's own
// handlers, or with 200.
func (g *gate) ask(t testing.TB, a asked) said {
	t.Helper()
	ctx := a.ctx
	if ctx == nil {
		ctx = t.Context()
	}
	from := a.from
	if from == "" {
		from = home
	}
	e := &exchange.Exchange{Began: g.clock.Now(), Route: a.route, Body: []byte(a.body)}
	e.Client.Address = netip.MustParseAddr(from)
	r := httptest.NewRequestWithContext(exchange.With(ctx, e), a.route.Method, "http://gateway.example/coord/v1", strings.NewReader(a.body))
	maps.Copy(r.Header, a.header)
	got := said{exchange: e}
	inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.passed = true
		switch a.route.Operation {
		case "LOGIN":
			g.Login(w, r)
		case "LOGOUT":
			g.Logout(w, r)
		case "GET_SESSION":
			g.Session(w, r)
		case "CONSOLE_LOGIN":
			g.ConsoleLogin(w, r)
		case "CONSOLE_LOGOUT":
			g.ConsoleLogout(w, r)
		}
	})
	recorder := httptest.NewRecorder()
	g.Stage(g.Authorise(inner)).ServeHTTP(recorder, r)
	got.status, got.header, got.body = recorder.Code, recorder.Header(), recorder.Body.String()
	return got
}

func credentials(name, password string) string {
	text, _ := json.Marshal(protocol.LoginRequest{Username: name, Password: password})
	return string(text)
}

// try logs in, or tries to.
func (g *gate) try(t testing.TB, name, password, from string) said {
	t.Helper()
	return g.ask(t, asked{route: loginRoute, body: credentials(name, password), from: from})
}

// token logs in and returns the token.
func (g *gate) token(t testing.TB, name string) string {
	t.Helper()
	got := g.try(t, name, right, "")
	require.Equal(t, http.StatusOK, got.status, got.body)
	var answer protocol.LoginResponse
	require.NoError(t, json.Unmarshal([]byte(got.body), &answer))
	return answer.AccessToken
}

// cookieOf returns the value of a session of a user.
func (g *gate) cookieOf(t testing.TB, name string) (value, id string) {
	t.Helper()
	claims := g.Claims(auth.Principal{Name: name})
	value, err := g.session.Seal(claims)
	require.NoError(t, err)
	return value, claims.ID
}

// locked lets several goroutines log.
type locked struct {
	mu sync.Mutex
	to *bytes.Buffer
}

func (l *locked) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(line)
}

// canceled returns a context that the caller ends.
func canceled(t testing.TB) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}
