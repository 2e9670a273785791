package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/monitor/app"
)

const (
	patience = 30 * time.Second
	interval = 10 * time.Millisecond
	billing  = "/coord/v1/monitoring/streams/orders/groups/billing"
)

// coordinator answers as one that has the group billing on two shards; away it answers 503.
type coordinator struct {
	server *httptest.Server
	away   atomic.Bool
}

func startCoordinator(t *testing.T) *coordinator {
	t.Helper()
	c := &coordinator{}
	view := protocol.GroupResponse{
		StreamPrefix: "orders", ConsumerGroup: "billing", State: protocol.GroupEmpty, ShardCount: 2,
		TargetAssignmentSummary: map[string]int{}, CurrentAssignmentSummary: map[string]int{},
	}
	c.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, body := http.StatusNotFound, any(protocol.ErrorResponse{ErrorCode: protocol.CodeGroupNotFound})
		switch {
		case c.away.Load():
			status, body = http.StatusServiceUnavailable, protocol.ErrorResponse{ErrorCode: protocol.CodeStoreUnavailable}
		case strings.HasSuffix(r.URL.Path, "/internal/groups"):
			status, body = http.StatusOK, protocol.GroupSnapshotsResponse{Groups: []protocol.GroupSnapshot{{Group: view, ReadCount: 2}}}
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}))
	t.Cleanup(c.server.Close)
	return c
}

// settings are those of a monitor of a coordinator and a Redis.
func settings(c *coordinator, server *redisproc.Server) app.Config {
	cfg := app.DefaultConfig()
	cfg.Monitor.Coordinator = c.server.URL
	cfg.Redis.URL = config.Secret(server.URL())
	cfg.Observe.Interval = 100 * time.Millisecond
	cfg.API.Dev = true
	return cfg
}

// serve runs a monitor until the test ends, or until stop.
func serve(t *testing.T, cfg app.Config) (url string, stop func() error) {
	t.Helper()
	a, err := app.New(t.Context(), cfg, app.Deps{})
	require.NoError(t, err)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Serve(ctx, listener) }()
	var outcome error
	done := false
	stop = func() error {
		if !done {
			cancel()
			outcome, done = <-ended, true
		}
		return outcome
	}
	t.Cleanup(func() { _ = stop() })
	return "http://" + listener.Addr().String(), stop
}

func get(t *testing.T, url string, header ...string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(body)
}

// eventually waits until an answer has a status and a part.
func eventually(t *testing.T, status int, part, url string) {
	t.Helper()
	var last int
	var body string
	require.Eventuallyf(t, func() bool {
		last, body = get(t, url)
		return last == status && strings.Contains(body, part)
	}, patience, interval, "%s: want %d %s", url, status, part)
}

// F35, F13: what is missing says so; a coordinator that is away leaves what was known.
func TestAMonitorShowsWhatIsAndKeepsShowingIt(t *testing.T) {
	t.Parallel()
	c, server := startCoordinator(t), redisproc.Start(t)
	rdb := server.Client(t)
	require.NoError(t, rdb.XGroupCreateMkStream(t.Context(), "orders:0", "billing", "0").Err())
	url, stop := serve(t, settings(c, server))
	eventually(t, 200, `"problem":"STREAM_MISSING"`, url+billing+"/offsets")
	require.NoError(t, rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: "orders:0", ID: "5-1", Values: []string{"a", "b"}}).Err())
	eventually(t, 200, `"lastRecordId":"5-1"`, url+billing+"/offsets")
	eventually(t, 200, `"recordId":"5-1"`, url+billing+"/shards/0/messages")
	eventually(t, 200, `"status":"UP"`, url+"/readyz")

	c.away.Store(true)
	eventually(t, 200, `STRUCTURE_OLD`, url+billing)
	require.NoError(t, rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: "orders:0", ID: "5-2", Values: []string{"a", "b"}}).Err())
	eventually(t, 200, `"lastRecordId":"5-2"`, url+billing+"/offsets")
	server.Kill()
	eventually(t, 200, `"problem":"UNREACHABLE"`, url+billing+"/offsets")
	eventually(t, 503, "STORE_UNAVAILABLE", url+billing+"/shards/0/messages")
	server.Restart() // and has nothing any more
	eventually(t, 200, `"problem":"STREAM_MISSING"`, url+billing+"/offsets")
	require.NoError(t, stop())
}

// Of several coordinators one is enough, whichever it is.
func TestAMonitorOfTwoCoordinatorsNeedsOne(t *testing.T) {
	t.Parallel()
	one, two, server := startCoordinator(t), startCoordinator(t), redisproc.Start(t)
	cfg := settings(one, server)
	cfg.Monitor.Coordinator = one.server.URL + "," + two.server.URL
	url, stop := serve(t, cfg)
	eventually(t, 200, `"state":"EMPTY"`, url+billing)
	one.server.Close()
	two.away.Store(true)
	eventually(t, 200, `STRUCTURE_OLD`, url+billing)
	two.away.Store(false)
	require.Eventually(t, func() bool {
		status, body := get(t, url+billing)
		return status == http.StatusOK && !strings.Contains(body, "STRUCTURE_OLD")
	}, patience, interval)
	require.NoError(t, stop())
}

// Nothing that follows keeps a monitor from ending.
func TestAMonitorEndsThoughSomebodyFollows(t *testing.T) {
	t.Parallel()
	cfg := settings(startCoordinator(t), redisproc.Start(t))
	url, stop := serve(t, cfg)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/coord/v1/monitoring/stream", http.NoBody)
	require.NoError(t, err)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	require.True(t, lines.Scan())
	begun := time.Now()
	require.NoError(t, stop())
	require.Less(t, time.Since(begun), cfg.Monitor.ShutdownTimeout)
	for lines.Scan() { // ends
		continue
	}
	require.NoError(t, lines.Err(), "the answer is whole")
}

// Gateway, Authentication: keys come from the gateway, also from one that starts later.
func TestKeysComeFromTheGateway(t *testing.T) {
	t.Parallel()
	key, err := auth.KeyFromSecret("one")
	require.NoError(t, err)
	ring, err := auth.NewKeyring(key)
	require.NoError(t, err)
	var starts atomic.Bool
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !starts.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write(ring.JWKS())
	}))
	t.Cleanup(gateway.Close)
	cfg := settings(startCoordinator(t), redisproc.Start(t))
	cfg.API.JWKSURL = gateway.URL + "/.well-known/jwks.json"
	url, stop := serve(t, cfg)
	now := time.Now()
	token, err := ring.Sign(auth.Claims{
		ID: "j", Subject: "ops", Audience: []string{auth.AudienceMonitor}, Roles: auth.Read, IssuedAt: now, ExpiresAt: now.Add(time.Minute),
	})
	require.NoError(t, err)
	status, _ := get(t, url+billing)
	require.Equal(t, http.StatusUnauthorized, status, "api.dev opens nothing where there are keys")
	status, _ = get(t, url+billing, "Authorization", "Bearer "+token)
	require.Equal(t, http.StatusUnauthorized, status)
	starts.Store(true)
	require.Eventually(t, func() bool {
		status, _ := get(t, url+billing, "Authorization", "Bearer "+token)
		return status == http.StatusOK
	}, patience, interval)
	require.NoError(t, stop())
}

func TestAMonitorThatWasNotStartedIsClosedAtOnce(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	given := server.Client(t)
	a, err := app.New(t.Context(), settings(startCoordinator(t), server), app.Deps{Redis: given})
	require.NoError(t, err)
	require.NoError(t, a.Close(t.Context()))
	require.NoError(t, a.Close(t.Context()))
	require.NoError(t, given.Ping(t.Context()).Err(), "it is the caller's to close")
}
