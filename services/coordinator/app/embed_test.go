package app_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

// lines is a log that tests read.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func (l *lines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(data)
}

// take returns what was logged since the last call.
func (l *lines) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.text.String()
	l.text.Reset()
	return text
}

func TestRedisOfTheSurroundingProgramStaysOpen(t *testing.T) {
	t.Parallel()
	redis := redisproc.Start(t)
	rdb := redis.Client(t)
	cfg := settings(redis)
	cfg.Redis.URL = "redis://127.0.0.1:1" // is not asked
	c := start(t, cfg, app.Deps{Redis: rdb})
	c.createOrders("billing")
	c.close()
	require.NoError(t, rdb.Ping(t.Context()).Err())
	require.Equal(t, protocol.CodeTerminating, c.refused("GET", ordersURL, nil, http.StatusServiceUnavailable))
	require.Equal(t, protocol.HealthDegraded, c.health().Status)
	require.Equal(t, "STOPPED", c.health().Loop)
}

func TestTwoCoordinatorsServeOneGroup(t *testing.T) {
	t.Parallel()
	redis := redisproc.Start(t)
	one, two := start(t, settings(redis), app.Deps{}), start(t, settings(redis), app.Deps{})
	require.NotEqual(t, one.app.ID(), two.app.ID())
	one.createOrders("billing")
	a, b := newMember("ma", ordersURL), newMember("mb", ordersURL)
	settle(one, a)
	require.Eventually(t, func() bool { // each member asks both in turns
		for _, c := range []*coordinator{one, two} {
			a.beat(c)
			b.beat(c)
		}
		return len(a.owned) == 2 && len(b.owned) == 2
	}, patience, interval)
	held := map[int]bool{}
	for _, shard := range append(a.owned, b.owned...) {
		held[shard.ShardIndex] = true
	}
	require.Len(t, held, 4)
}

// Storage design, Failure: while work that has entered finishes, the listener answers new
// work with 503; then it closes.
func TestServeFinishesWhatEnteredBeforeItCloses(t *testing.T) {
	t.Parallel()
	redis := redisproc.Start(t)
	embedded, err := app.New(t.Context(), settings(redis), app.Deps{})
	require.NoError(t, err)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	c := &coordinator{t: t, app: embedded, url: "http://" + address}
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- embedded.Serve(ctx, listener) }()
	c.createOrders("billing")

	slow := enter(t, address)
	end()
	require.Eventually(t, func() bool {
		return c.health().Status == protocol.HealthDegraded
	}, patience, time.Millisecond)
	require.Equal(t, protocol.CodeTerminating, c.refused("GET", ordersURL, nil, http.StatusServiceUnavailable))
	_, err = io.WriteString(slow, lateBody)
	require.NoError(t, err)
	answer, err := io.ReadAll(slow)
	require.NoError(t, err)
	require.Truef(t, strings.HasPrefix(string(answer), "HTTP/1.1 201 "), "%s", answer)
	require.NoError(t, <-ended)
	_, err = new(net.Dialer).DialContext(t.Context(), "tcp", address)
	require.Error(t, err)
}

// What hangs is cut off in the end, and the caller of Serve is told.
func TestServeIsBounded(t *testing.T) {
	t.Parallel()
	cfg := settings(redisproc.Start(t))
	cfg.ShutdownTimeout = 50 * time.Millisecond
	embedded, err := app.New(t.Context(), cfg, app.Deps{})
	require.NoError(t, err)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- embedded.Serve(ctx, listener) }()
	enter(t, listener.Addr().String())
	end()
	require.ErrorIs(t, <-ended, context.DeadlineExceeded)
}

// lateBody is what the request of enter still owes.
const lateBody = `{"requestedBy":"test"}`

// enter sends a request that has passed the gate, as the server asks for its body.
func enter(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST /coord/v1/streams/late HTTP/1.1\r\nHost: c\r\nContent-Type: application/json\r\n"+
		"Connection: close\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(lateBody))
	require.NoError(t, err)
	asked := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))
	_, err = io.ReadFull(conn, asked)
	require.NoError(t, err)
	require.Contains(t, string(asked), "100 Continue")
	return conn
}
