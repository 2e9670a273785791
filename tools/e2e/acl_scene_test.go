package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

const (
	// rolePassword is that of every role, rootPassword that of the test.
	rolePassword, rootPassword = "canary-password-of-a-role", "canary-password-of-root"

	roleCoordinator, roleGateway, roleMonitor = "rsc-coordinator", "rsc-gateway", "rsc-monitor"
	roleProducer, roleConsumer                = "orders-producer", "orders-consumer"
)

// shippedACL returns the lines of deploy/redis by user.
func shippedACL(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "deploy", "redis", "*.acl"))
	require.NoError(t, err)
	lines := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		line := strings.TrimSpace(string(text))
		require.NotContains(t, line, "\n", file)
		words := strings.Fields(line)
		require.Equal(t, "user", words[0], file)
		lines[words[1]] = line
	}
	require.Len(t, lines, 5)
	return lines
}

// guardedRedis is a Redis of which each role has a user of its own, and the default one is off.
type guardedRedis struct {
	t     *testing.T
	lines map[string]string // by user
	file  string            // of all nodes
	roots []*redis.Client   // by node
	flags []string          // where it is, for services
	place string            // and for URLs
}

// startGuardedRedis starts one server, or a cluster of three, with the shipped lines.
func startGuardedRedis(t *testing.T, clustered bool) *guardedRedis {
	t.Helper()
	r := &guardedRedis{t: t, lines: shippedACL(t), file: filepath.Join(t.TempDir(), "users.acl")}
	root := "user root on >" + rootPassword + " ~* &* +@all\n"
	require.NoError(t, os.WriteFile(r.file, []byte("user default on nopass ~* &* +@all\n"+root), 0o600))
	var nodes []string
	if clustered {
		nodes = redisproc.StartCluster(t, 3, redisproc.WithArgs("--aclfile", r.file)).Addrs()
		r.flags = []string{"--redis-cluster=true", "--redis-addresses", strings.Join(nodes, ",")}
		r.place = "redis+cluster://%s:%s@" + strings.Join(nodes, ",")
	} else {
		nodes = []string{redisproc.Start(t, redisproc.WithArgs("--aclfile", r.file)).Addr()}
		host, port, err := net.SplitHostPort(nodes[0])
		require.NoError(t, err)
		r.flags = []string{"--redis-host", host, "--redis-port", port}
		r.place = "redis://%s:%s@" + nodes[0] + "/0"
	}
	for _, node := range nodes {
		client, err := redisx.New(redisx.Options{Addrs: []string{node}, Username: "root", Password: rootPassword})
		require.NoError(t, err)
		t.Cleanup(func() { _ = client.Close() })
		single, is := client.(*redis.Client)
		require.True(t, is)
		r.roots = append(r.roots, single)
	}
	r.load()
	return r
}

// load has the servers read the lines as they are now. It ends the connections of users that
// have changed.
func (r *guardedRedis) load() {
	r.t.Helper()
	text := "user default off\nuser root on >" + rootPassword + " ~* &* +@all\n"
	for _, line := range r.lines {
		text += line + " >" + rolePassword + "\n"
	}
	require.NoError(r.t, os.WriteFile(r.file, []byte(text), 0o600))
	for _, root := range r.roots {
		require.NoError(r.t, root.Do(r.t.Context(), "ACL", "LOAD").Err())
	}
}

// without takes permissions from a role, each as a rule such as -xadd, and gives them back at
// the end of the function that it returns.
func (r *guardedRedis) without(role string, rules ...string) (back func()) {
	r.t.Helper()
	before := r.lines[role]
	r.lines[role] += " " + strings.Join(rules, " ")
	r.load()
	return func() {
		r.t.Helper()
		r.lines[role] = before
		r.load()
	}
}

// url is how a role reaches it.
func (r *guardedRedis) url(role string) string { return fmt.Sprintf(r.place, role, rolePassword) }

// connect returns a client with the rights of a role.
func (r *guardedRedis) connect(role string) redis.UniversalClient {
	r.t.Helper()
	rdb, err := redisx.New(redisx.Options{URL: r.url(role), ClientName: role})
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// denials returns what the servers have refused to roles.
func (r *guardedRedis) denials() []string {
	r.t.Helper()
	found := []string{}
	for _, root := range r.roots {
		entries, err := root.ACLLog(r.t.Context(), 100).Result()
		require.NoError(r.t, err)
		for _, one := range entries {
			found = append(found, fmt.Sprintf("%s: %s %s, %s", one.Username, one.Reason, one.Object, one.Context))
		}
	}
	return found
}

// roles is a guarded suite with a monitor, whose services have users of their own in Redis.
type roles struct {
	*guarded

	redis   *guardedRedis
	monitor *guardedService
	ops     string // a token
}

// startRoles starts it.
func startRoles(t *testing.T, on *guardedRedis) *roles {
	t.Helper()
	require.NoError(t, monitorBuilt())
	watched := freeAddress(t)
	as := func(role string, more ...string) []string {
		return append(append([]string{"--redis-username", role}, on.flags...), more...)
	}
	s := &roles{redis: on, guarded: startGuarded(t, guardedPlan{
		coordinators: 1, gateways: 1, redisPassword: rolePassword, elsewhere: true,
		coordinatorFlags: as(roleCoordinator, quickly()...),
		gatewayFlags:     as(roleGateway, "--gateway-monitor", "http://"+watched, "--api-rate-limit-store", "redis"),
	})}
	file := filepath.Join(t.TempDir(), "monitor.yaml")
	writeSettings(t, file, "coordinator:\n  redis:\n    password: "+rolePassword+"\n")
	s.monitor = s.service(watched, "monitor", "monitor", as(
		roleMonitor, "--config", file, "--monitor-listen", watched, "--monitor-metrics-listen=", "--observe-interval", "300ms",
		"--observe-memory-every", "1", "--observe-consumers-every", "1",
		"--monitor-coordinator", s.coordinators[0].url(), "--api-jwks-url", s.gateways[0].url()+"/.well-known/jwks.json",
	))
	s.ready(s.monitor)
	s.ops = s.login(userOps)
	return s
}

// health returns what the coordinator says of itself.
func (s *roles) health() protocol.HealthResponse {
	s.t.Helper()
	var said protocol.HealthResponse
	s.passes(guardedCall{path: api("/monitoring/health"), token: s.ops}, http.StatusOK).decode(s.t, &said)
	return said
}
