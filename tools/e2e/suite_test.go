package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/freeport"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

const (
	stream = "orders"
	group  = "readers"
	shards = 8
)

// suite is a Redis with a coordinator, and the ledgers of one replay.
type suite struct {
	t           *testing.T
	redis       string // URL
	address     string // of the coordinator
	front       string // URL that consumers know of the coordinator
	flags       []string
	coordinator *process
	admin       *client.Admin
	ledgers     string
	books       map[string]*growing // by path
}

// startSuite starts a coordinator, with settings as flags, on a Redis of its own.
func startSuite(t *testing.T, settings ...string) *suite {
	t.Helper()
	server := redisproc.Start(t)
	host, port, err := net.SplitHostPort(server.Addr())
	require.NoError(t, err)
	return newSuite(t, server.URL(), append(settings, "--redis-host", host, "--redis-port", port))
}

// startClusterSuite does the same on a Redis Cluster of three nodes.
func startClusterSuite(t *testing.T) *suite {
	t.Helper()
	addresses := strings.Join(redisproc.StartCluster(t, 3).Addrs(), ",")
	return newSuite(t, "redis+cluster://"+addresses,
		[]string{"--redis-cluster=true", "--redis-addresses", addresses})
}

func newSuite(t *testing.T, redis string, flags []string) *suite {
	t.Helper()
	s := &suite{t: t, redis: redis, address: freeAddress(t), ledgers: t.TempDir(), books: map[string]*growing{}}
	s.flags = slices.Concat(flags, []string{"--dev", "--listen", s.address, "--log-level", "warn"})
	s.front = s.url()
	c, err := client.New(client.Options{CoordinatorURL: s.url()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	t.Cleanup(forgetResult)
	s.admin = c.Admin()
	s.startCoordinator()
	return s
}

func (s *suite) url() string { return "http://" + s.address }

// startCoordinator starts it on the address it always has, and waits until it is ready.
func (s *suite) startCoordinator() {
	s.t.Helper()
	s.coordinator = start(s.t, "coordinator", "coordinator", s.flags...)
	s.eventually(func() bool {
		if s.coordinator.ended() {
			return true
		}
		request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url()+"/readyz", http.NoBody)
		require.NoError(s.t, err)
		transport := &http.Transport{DisableKeepAlives: true}
		answer, err := (&http.Client{Transport: transport, Timeout: time.Second}).Do(request)
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	}, "the coordinator is ready")
	require.False(s.t, s.coordinator.ended(), "the coordinator has ended:\n%s", s.coordinator.all.tail())
}

// createStream creates the stream that the tests use.
func (s *suite) createStream() {
	s.t.Helper()
	count := shards
	_, err := s.admin.CreateStream(s.t.Context(), stream, protocol.CreateStreamRequest{
		InitialShardCount: &count, ConsumerGroups: []string{group}, RequestedBy: "e2e",
	})
	require.NoError(s.t, err)
}

// consume starts a consumer process that acts under the given name.
func (s *suite) consume(name string, flags ...string) *process {
	s.t.Helper()
	return start(s.t, name, "replay", append([]string{
		"consume", "--attached", "--stream", stream, "--group", group, "--member", name,
		"--ledger", filepath.Join(s.ledgers, name+".ledger"), "--coordinator", s.front, "--redis", s.redis, "--verbose",
	}, flags...)...)
}

// publish starts the publisher.
func (s *suite) publish(records int, flags ...string) *process {
	s.t.Helper()
	return start(s.t, "publisher", "replay", append([]string{
		"publish", "--stream", stream, "--group", group, "--generate", strconv.Itoa(records),
		"--ledgers", s.ledgers, "--coordinator", s.url(), "--redis", s.redis, "--verbose",
	}, flags...)...)
}

// stable waits until the group is STABLE with so many live members, and returns them.
func (s *suite) stable(members int) map[string]protocol.MemberMetadata {
	s.t.Helper()
	live := map[string]protocol.MemberMetadata{}
	s.eventually(func() bool {
		view, err := s.admin.Group(s.t.Context(), stream, group)
		if err != nil || view.State != protocol.GroupStable {
			return false
		}
		list, err := s.admin.Members(s.t.Context(), stream, group)
		if err != nil {
			return false
		}
		clear(live)
		for _, one := range list {
			if one.State == protocol.MemberActive {
				live[one.MemberID] = one
			}
		}
		return len(live) == members
	}, fmt.Sprintf("the group is stable with %d members", members))
	return live
}

// owners returns the member that holds each shard.
func (s *suite) owners() map[int]string {
	s.t.Helper()
	view, err := s.admin.Assignments(s.t.Context(), stream, group)
	require.NoError(s.t, err)
	require.Empty(s.t, view.InvariantViolations)
	owners := map[int]string{}
	for member, list := range view.CurrentAssignments {
		for _, shard := range list {
			require.NotContains(s.t, owners, shard.ShardIndex, "a shard has one owner")
			owners[shard.ShardIndex] = member
		}
	}
	return owners
}

func (s *suite) eventually(condition func() bool, what string) {
	s.t.Helper()
	require.Eventually(s.t, condition, patience, often, what)
}

// finally is eventually for what is much to look at: doing that all the time would take the
// processors from those who are waited for.
func (s *suite) finally(condition func() bool, what string) {
	s.t.Helper()
	require.Eventually(s.t, condition, patience, seldom, what)
}

// freeAddress returns a loopback address that is the test's until it ends: a coordinator
// that was killed must find it free.
func freeAddress(t *testing.T) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", freeport.Take(t))
}

// forgetResult keeps the go command from remembering the result of this run for the next:
// it does not see that the tests depend on the programs they build. It remembers nothing
// of tests that have read a file which has just changed.
func forgetResult() {
	path := filepath.Join("testdata", "last-run")
	if err := os.WriteFile(path, []byte(time.Now().String()), 0o600); err == nil {
		_, _ = os.ReadFile(path)
	}
}
