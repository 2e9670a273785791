package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// pythonLease is how long a silent member lives here; the usual one is 10 s.
const pythonLease = 4 * time.Second

// pythonHouse is the standalone, and a client of the original kind.
type pythonHouse struct {
	client *pythonClient
	http   *http.Client
	admin  string // token
	redis  *redis.Client
}

func startPythonHouse(t *testing.T) *pythonHouse {
	t.Helper()
	t.Cleanup(forgetResult)
	server := redisproc.Start(t)
	settings := filepath.Join(t.TempDir(), "standalone.yaml")
	writeSettings(t, settings, `coordinator:
  coordination:
    heartbeat-interval: 500ms
    member-lease-ttl: `+pythonLease.String()+`
    client-lease: 2400ms
    rebalance-timeout: 8s
    routing-lease: 5s
    event-loop: {reshard-interval: 100ms, reshard-scan: 500ms}
`)
	address := freeAddress(t)
	p := start(t, "standalone", "standalone", "--redis", server.URL(), "--demo=false", "--addr", address, "--config", settings)
	h := &pythonHouse{client: newPythonClient(t, "http://"+address+"//"), redis: pythonRedis(t, server)}
	h.http = h.client.http
	soon(t, "the standalone is ready", func() bool {
		got, err := sendWith(h.http, h.client.base, guardedCall{path: "/readyz"})
		return p.ended() || err == nil && got.status == http.StatusOK
	})
	require.False(t, p.ended(), "%s", p.all.tail())
	h.admin = h.client.login(t, "admin", "password")
	return h
}

// pythonRedis returns a client that speaks version 2 of Redis' protocol, as redis-py does.
func pythonRedis(t *testing.T, server *redisproc.Server) *redis.Client {
	t.Helper()
	rdb := redis.NewClient(&redis.Options{
		Addr: server.Addr(), Protocol: 2,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

// create creates a stream with a group.
func (h *pythonHouse) create(t *testing.T, stream string, shards int) {
	t.Helper()
	h.ask(t, http.MethodPost, "/streams/"+stream, fmt.Sprintf(
		`{"initialShardCount": %d, "consumerGroups": [%q], "requestedBy": "e2e"}`, shards, group), http.StatusCreated)
}

// ask asks as the administrator.
func (h *pythonHouse) ask(t *testing.T, method, path, body string, status int) {
	t.Helper()
	got, err := sendWith(h.http, h.client.base, guardedCall{method: method, path: api(path), body: body, token: h.admin})
	require.NoError(t, err)
	require.Equal(t, status, got.status, "%s", got.body)
}

// TestGatewayServesTheOriginalPythonClientsRequests: what applications with the original
// client send is answered so that they go on (wire contract; the checklist of what that
// client relies on).
func TestGatewayServesTheOriginalPythonClientsRequests(t *testing.T) {
	t.Parallel()
	h := startPythonHouse(t)
	t.Run("requests", func(t *testing.T) {
		t.Parallel()
		for _, one := range []struct {
			claim string
			check func(*testing.T, *pythonHouse)
		}{
			{"a login gives a token, and goes without an Authorization header", pythonLogin},
			{"path values come percent-encoded: %3A is taken, %2F is a bad name", pythonPaths},
			{"heartbeats need no token, and take one", pythonTokens},
			{"OK has every field", pythonFields},
			{"a refusal has every field and an epoch that can be sent next", pythonRefusals},
			{"a group that there is not is UNKNOWN_MEMBER_ID for a member, 404 for a producer", pythonNoGroup},
			{"a shard is released by its absence, and the others go on", pythonRelease},
			{"a restart with the same id comes in when the old lease is over", pythonRestart},
			{"a member whose handler outlasts its lease joins again", pythonOutlasted},
			{"a member that stops in silence lives for its lease", pythonSilence},
			{"after numbers of another history a member is synchronised, and reads on after a lease", pythonSync},
			{"routing lists every shard, with the keys and slots of the vectors", pythonRouted},
			{"its commands work on every shard from the first OK on", pythonCommands},
			{"a stale producer fails on a removed shard and finds the new count", pythonScaledIn},
		} {
			t.Run(one.claim, func(t *testing.T) {
				t.Parallel()
				one.check(t, h)
			})
		}
	})
	t.Cleanup(func() {
		slowest := time.Duration(h.client.slowest.Load())
		t.Logf("the slowest answer took %s", slowest)
		require.Less(t, slowest, pythonLimit)
	})
}

func pythonLogin(t *testing.T, h *pythonHouse) {
	t.Helper()
	require.NotEmpty(t, h.client.login(t, "admin", "password"))
	wrong := h.client.send(t, pythonPath("auth", "login"), `{"username": "admin", "password": "guess"}`, "")
	require.Equal(t, http.StatusUnauthorized, wrong.status)
}

func pythonPaths(t *testing.T, h *pythonHouse) {
	t.Helper()
	h.create(t, "py:paths:eu", 2)
	for _, id := range []string{"fe80::1:2-m0", "worker@host", "a+b"} {
		member := h.client.member("py:paths:eu", group, id)
		require.Equal(t, protocol.StatusOK, member.beat(t).status)
	}
	require.Contains(t, h.client.member("py:paths:eu", group, "fe80::1").path(), "py%3Apaths%3Aeu")
	require.Equal(t, "py:paths:eu:0", h.client.routing(t, "py:paths:eu").keys[0])
	for _, id := range []string{"a/b", "../x", "a b", "zoë", "a%2Fb"} {
		member := h.client.member("py:paths:eu", group, id)
		got := h.client.send(t, member.path(), member.body(), "")
		require.Equal(t, http.StatusBadRequest, got.status, "%s: %s", member.path(), got.body)
	}
	got := h.client.send(t, pythonPath("streams", "py/paths", "groups", group, "producer-routing"), "", "")
	require.Equal(t, http.StatusBadRequest, got.status, "%s", got.body)
}

func pythonTokens(t *testing.T, h *pythonHouse) {
	t.Helper()
	h.create(t, "py-tokens", 2)
	member, token := h.client.member("py-tokens", group, "plain"), h.client.login(t, "admin", "password")
	require.Equal(t, protocol.StatusOK, member.beat(t).status)
	member.token = token
	require.Equal(t, protocol.StatusOK, member.beat(t).status)
	member.token = "long.since.over" // it never logs in again, nor does the server ask it to here
	require.Equal(t, protocol.StatusOK, member.beat(t).status)
}

func pythonFields(t *testing.T, h *pythonHouse) {
	t.Helper()
	h.create(t, "py-fields", 3)
	member := h.client.member("py-fields", group, "one").beat(t)
	require.Equal(t, []int64{0, 1, 2}, member.shards)
	require.Positive(t, member.epoch)
	require.Positive(t, member.version)
	require.Positive(t, whole(t, member.said, "groupEpoch"))
	require.Positive(t, whole(t, member.said, "assignmentEpoch"))
	epoch := member.epoch
	for range 5 {
		require.Equal(t, protocol.StatusOK, member.beat(t).status)
		require.Equal(t, []int64{0, 1, 2}, member.shards)
		require.Equal(t, epoch, member.epoch)
	}
	// memberName may be null for requests that are built by hand.
	unnamed := strings.Replace(member.body(), `"memberName": "one"`, `"memberName": null`, 1)
	require.NotEqual(t, member.body(), unnamed)
	require.Equal(t, "OK", h.client.object(t, member.path(), unnamed, "")["status"])
}

func pythonRefusals(t *testing.T, h *pythonHouse) {
	t.Helper()
	h.create(t, "py-refusals", 2)
	stranger := h.client.member("py-refusals", group, "stranger")
	stranger.epoch, stranger.version = 7, 0
	require.Equal(t, protocol.StatusUnknownMemberID, stranger.beat(t).status)
	require.Equal(t, protocol.StatusOK, stranger.beat(t).status, "it joins with 0")

	second := h.client.member("py-refusals", group, "second")
	second.until(t, "has a shard", func() bool { stranger.beat(t); return len(second.shards) == 1 })
	thief := *second
	thief.shards = []int64{0, 1} // it reads one that it does not hold (R1)
	require.Equal(t, protocol.StatusFencedMemberEpoch, thief.beat(t).status)
	require.Zero(t, thief.epoch)
	require.Empty(t, thief.shards)

	twin := h.client.member("py-refusals", group, "stranger")
	require.Equal(t, protocol.StatusRetry, twin.beat(t).status, "another process of the same id")
	require.Zero(t, whole(t, twin.said, "memberEpoch"), "the epoch that was sent")
	require.Empty(t, assignedIn(t, twin.said))

	newer := h.client.member("py-refusals", group, "newer")
	newer.protocol, newer.epoch = 2, 3
	require.Equal(t, protocol.StatusUnsupportedProtocol, newer.beat(t).status)
	require.Equal(t, int64(3), newer.epoch, "the epoch that was sent")
}

func pythonNoGroup(t *testing.T, h *pythonHouse) {
	t.Helper()
	h.create(t, "py-half", 1)
	for _, stream := range []string{"py-nowhere", "py-half"} {
		member := h.client.member(stream, "nobodys", "lonely")
		for range 3 {
			require.Equal(t, protocol.StatusUnknownMemberID, member.beat(t).status)
			require.Zero(t, member.epoch)
		}
		got := h.client.send(t, pythonPath("streams", stream, "groups", "nobodys", "producer-routing"), "", "")
		require.Equal(t, http.StatusNotFound, got.status, "%s", got.body)
	}
	member := h.client.member("py-half", "later", "patient").beat(t)
	require.Equal(t, protocol.StatusUnknownMemberID, member.status)
	h.ask(t, http.MethodPost, "/streams/py-half/groups/later", `{"requestedBy": "e2e"}`, http.StatusCreated)
	member.until(t, "is let in once there is the group", func() bool { return len(member.shards) == 1 })
}

func pythonRouted(t *testing.T, h *pythonHouse) {
	t.Helper()
	var slots struct {
		Slots []struct {
			Key  string
			Slot int64
		}
	}
	readContract(t, "slot-vectors.json", &slots)
	slotOf := map[string]int64{}
	for _, one := range slots.Slots {
		slotOf[one.Key] = one.Slot
	}
	h.create(t, stream, 4)
	routing := h.client.routing(t, stream)
	require.Equal(t, int64(4), routing.count)
	for index, key := range routing.keys {
		require.Equal(t, fmt.Sprintf("%s:%d", stream, index), key)
		require.Contains(t, slotOf, key)
		require.Equal(t, slotOf[key], routing.slots[index])
	}
}

// readContract reads a file of the contract.
func readContract(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "contract", name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, into))
}
