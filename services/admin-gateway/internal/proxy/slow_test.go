package proxy_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/proxy"
)

// Reliability section 5, Resources: slowloris. 1,000 connections that send their head or
// body by a byte, or never, hold up nobody, and are cut off.
func TestSlowCallersHoldUpNobody(t *testing.T) {
	t.Parallel()
	const slow, asked = 1000, 200
	up := startUpstream(t, nil)
	g := startGateway(t, setup{
		Config: proxy.Config{Upstreams: coordinators(up.URL)}, cap: 2 * slow,
		limits: httpx.Limits{ReadHeader: 2 * time.Second, Read: 2 * time.Second},
	})
	starts := []string{
		"", "P", "POST " + beat + " HTTP/1.1\r\nHost: g", request("POST "+beat+" HTTP/1.1", "{", host, isJSON, "Content-Length: 1000"),
		request("POST "+beat+" HTTP/1.1", "1\r\n{\r\n", host, isJSON, chunks), request("GET "+base+"/streams HTTP/1.1", "", host, chunks),
	}
	conns := make([]net.Conn, slow)
	for i := range conns {
		conn := g.dial(t)
		_, err := io.WriteString(conn, starts[i%len(starts)])
		require.NoError(t, err)
		conns[i] = conn
	}
	took := make([]time.Duration, asked)
	for i := range took {
		begun := clock.Now()
		require.Equal(t, http.StatusOK, g.call(t, "POST", beat, newBeat).status)
		took[i] = clock.Since(begun)
	}
	slices.Sort(took)
	t.Logf("with %d slow connections: p50 %s, p99 %s", slow, took[asked/2], took[asked*99/100])
	require.Less(t, took[asked*99/100], 5*time.Second)

	var cut sync.WaitGroup
	for _, conn := range conns {
		cut.Go(func() {
			_ = conn.SetReadDeadline(time.Now().Add(patience))
			_, err := io.Copy(io.Discard, conn)
			var failed net.Error
			if errors.As(err, &failed) && failed.Timeout() {
				t.Error("the server has left a slow connection open")
			}
		})
	}
	cut.Wait()
	require.Len(t, up.requests(), asked, "nothing of them was sent on")
}

func TestConnectionsOverTheCapAreClosedAndOthersServed(t *testing.T) {
	t.Parallel()
	up := startUpstream(t, nil)
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}, cap: 2})
	require.Equal(t, 200, g.call(t, "POST", beat, newBeat).status) // its connection stays
	for range 2 {
		g.dial(t)
	}
	require.Equal(t, 200, g.call(t, "POST", beat, newBeat).status)
}
