package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// The users of a guarded suite. What is secret has the word canary in it, so that it is
// found where it does not belong (C9).
const (
	userOps    = "ops"    // WRITE
	userViewer = "viewer" // READ
	userMember = "worker" // MEMBER
	userScoped = "bound"  // WRITE, for streams that begin with orders

	guardedSecret = "canary-token-secret-of-more-than-32-bytes"
	wrongPassword = "canary-password-that-is-nobodys"
)

func passwordOf(user string) string { return "canary-password-of-" + user }

// guardedHashes makes the hashes of the users once for all tests: each takes 64 MiB.
var guardedHashes = sync.OnceValues(func() (map[string]string, error) {
	hashes := map[string]string{}
	for _, user := range []string{userOps, userViewer, userMember, userScoped} {
		hash, err := auth.HashPassword(passwordOf(user))
		if err != nil {
			return nil, err
		}
		hashes[user] = hash
	}
	return hashes, nil
})

// guardedUser is a line of api.users.
type guardedUser struct {
	name, role, scope, hash string
}

// guardedUsers are all users, as they are at the start of a guarded suite.
func guardedUsers(t *testing.T) []guardedUser {
	t.Helper()
	hashes, err := guardedHashes()
	require.NoError(t, err)
	return []guardedUser{
		{userOps, "WRITE", "", hashes[userOps]},
		{userViewer, "READ", "", hashes[userViewer]},
		{userMember, "MEMBER", "", hashes[userMember]},
		{userScoped, "WRITE", "orders*", hashes[userScoped]},
	}
}

// plan of a guarded suite.
type guardedPlan struct {
	coordinators, gateways       int // at least 1 each
	coordinatorFlags             []string
	gatewayFlags                 []string
	coordinatorRedis, auditRedis *redisproc.Server // nil is one for both
	redisPassword                string
	// elsewhere tells that the flags say where Redis is, in place of the servers.
	elsewhere bool
	logLevel  string // empty is info
}

// guarded is a suite behind gateways: coordinators that take changes with the gateways'
// tokens only, on a Redis, with the audit and all counters in a Redis too.
type guarded struct {
	t            *testing.T
	coordinators []*guardedService
	gateways     []*guardedService
	audited      *redisproc.Server // that of the gateways
	settings     string            // the gateways' file
	redis        string            // what that file says of Redis
	secret       string            // what it says of the tokens' secrets
	previous     string
	http         *http.Client

	mu     sync.Mutex
	tokens []string // all that were given out
}

// guardedService is a process that can be started again on its address.
type guardedService struct {
	*process

	address string
	begin   func() *process
}

func (s *guardedService) url() string { return "http://" + s.address }

// restart starts it again after it has ended. It does not wait until it is ready.
func (s *guardedService) restart() { s.process = s.begin() }

// startGuarded starts a guarded suite and returns when all of it is ready.
func startGuarded(t *testing.T, plan guardedPlan) *guarded {
	t.Helper()
	t.Cleanup(forgetResult)
	transport := &http.Transport{MaxIdleConnsPerHost: 200, MaxConnsPerHost: 200}
	g := &guarded{t: t, secret: guardedSecret, http: &http.Client{Transport: transport, Timeout: patience}}
	t.Cleanup(transport.CloseIdleConnections)
	g.settings = filepath.Join(t.TempDir(), "gateway.yaml")
	behind := filepath.Join(t.TempDir(), "coordinator.yaml") // a coordinator holds no secret of the gateway's
	writeSettings(t, behind, g.stores(&plan))
	g.configure(guardedUsers(t)...)
	if plan.logLevel == "" {
		plan.logLevel = "info"
	}
	doors := make([]string, plan.gateways)
	for i := range doors {
		doors[i] = freeAddress(t)
	}
	upstreams := make([]string, plan.coordinators)
	for i := range upstreams {
		upstreams[i] = freeAddress(t)
	}
	for i, address := range doors {
		g.gateways = append(g.gateways, g.service(address, fmt.Sprintf("gateway-%d", i), "admin-gateway", append([]string{
			"--config", g.settings, "--gateway-listen", address, "--log-level", plan.logLevel,
			"--gateway-coordinators", "http://" + strings.Join(upstreams, ",http://"), "--audit-sink", "redis",
		}, plan.gatewayFlags...)))
	}
	g.ready(g.gateways[0]) // a coordinator that does not find the keys asks for them again after 2 s
	for i, address := range upstreams {
		g.coordinators = append(g.coordinators, g.service(address, fmt.Sprintf("coordinator-%d", i), "coordinator", append([]string{
			"--config", behind, "--listen", address, "--log-level", plan.logLevel,
			"--api-jwks-url", g.gateways[0].url() + "/.well-known/jwks.json",
		}, plan.coordinatorFlags...)))
	}
	for _, one := range g.services() {
		g.ready(one)
	}
	return g
}

// stores starts what Redis the plan leaves open, notes where the gateways' is, and returns the
// settings that say where the coordinators' is.
func (g *guarded) stores(plan *guardedPlan) string {
	g.t.Helper()
	if plan.elsewhere {
		g.redis = "coordinator:\n  redis:\n    password: " + plan.redisPassword + "\n"
		return g.redis
	}
	if plan.auditRedis == nil {
		plan.auditRedis = redisproc.Start(g.t)
	}
	if plan.coordinatorRedis == nil {
		plan.coordinatorRedis = plan.auditRedis
	}
	g.audited = plan.auditRedis
	g.redis = redisSettings(g.t, plan.auditRedis, plan.redisPassword)
	return redisSettings(g.t, plan.coordinatorRedis, plan.redisPassword)
}

func (g *guarded) services() []*guardedService { return slices.Concat(g.gateways, g.coordinators) }

func (g *guarded) service(address, name, program string, flags []string) *guardedService {
	one := &guardedService{address: address, begin: func() *process { return start(g.t, name, program, flags...) }}
	one.restart()
	return one
}

// ready waits until a service says so.
func (g *guarded) ready(one *guardedService) {
	g.t.Helper()
	require.Eventually(g.t, func() bool {
		if one.ended() {
			return true
		}
		got, err := g.send(one, guardedCall{path: "/readyz"})
		return err == nil && got.status == http.StatusOK
	}, patience, often, "%s is ready", one.name)
	require.False(g.t, one.ended(), "%s has ended:\n%s", one.name, one.all.tail())
}

// configure writes the gateways' file with these users.
func (g *guarded) configure(users ...guardedUser) {
	g.t.Helper()
	var text strings.Builder
	text.WriteString(g.redis + "  api:\n    token-secret: " + g.secret + "\n")
	if g.previous != "" {
		text.WriteString("    previous-token-secret: " + g.previous + "\n")
	}
	text.WriteString("    users:\n")
	for _, one := range users {
		fmt.Fprintf(&text, "      - {username: %s, password-hash: %q, roles: [%s]", one.name, one.hash, one.role)
		if one.scope != "" {
			fmt.Fprintf(&text, ", scopes: [%q]", one.scope)
		}
		text.WriteString("}\n")
	}
	writeSettings(g.t, g.settings, text.String())
}

// reload has every gateway read its file again, and waits until each has said so in its log.
func (g *guarded) reload(says string) {
	g.t.Helper()
	for _, one := range g.gateways {
		before := strings.Count(string(one.all.bytes()), says)
		require.NoError(g.t, one.cmd.Process.Signal(syscall.SIGHUP))
		require.Eventually(g.t, func() bool {
			return strings.Count(string(one.all.bytes()), says) > before
		}, patience, often, "%s says %q", one.name, says)
	}
}

// login returns a new token of a user, from the first gateway.
func (g *guarded) login(user string) string {
	g.t.Helper()
	got := g.ask(guardedCall{
		method: http.MethodPost, path: api("/auth/login"),
		body: fmt.Sprintf(`{"username": %q, "password": %q}`, user, passwordOf(user)),
	})
	require.Equal(g.t, http.StatusOK, got.status, "login of %s: %s", user, got.body)
	var answer protocol.LoginResponse
	got.decode(g.t, &answer)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tokens = append(g.tokens, answer.AccessToken)
	return answer.AccessToken
}

// everythingWritten is what all processes wrote, the ones that were killed excepted.
func (g *guarded) everythingWritten() map[string]string {
	said := map[string]string{}
	for _, one := range g.services() {
		said["output of "+one.name] += string(one.all.bytes())
	}
	return said
}

// api returns the path of an endpoint.
func api(path string) string { return protocol.BasePath + path }

// redisSettings returns the part of a file that says where Redis is, as the first of it.
func redisSettings(t *testing.T, server *redisproc.Server, password string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(server.Addr())
	require.NoError(t, err)
	text := "coordinator:\n  redis:\n    host: " + host + "\n    port: " + port + "\n"
	if password != "" {
		text += "    password: " + password + "\n"
	}
	return text
}

func writeSettings(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// enoughOfWindow waits until at least so much is left of the window of time now() is in.
func enoughOfWindow(t *testing.T, window, left time.Duration, now func() time.Time) {
	t.Helper()
	require.Eventually(t, func() bool {
		at := now()
		return at.Truncate(window).Add(window).Sub(at) >= left
	}, left+patience, often, "the next window begins")
}
