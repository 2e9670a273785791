package httpx_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
)

// start serves handler on a free port and returns its address; the server is shut
// down at the end of the test, and Serve must then have ended well.
func start(t *testing.T, handler http.Handler, limits httpx.Limits) (*httpx.Server, string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := httpx.NewServer(handler, nil, limits)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Shutdown(context.WithoutCancel(t.Context()))
		assert.NoError(t, <-served)
	})
	return server, listener.Addr().String()
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	return conn
}

func TestShutdownFinishesRequestsUnderWay(t *testing.T) {
	t.Parallel()
	entered, goOn := make(chan struct{}), make(chan struct{})
	server, address := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-goOn
		w.WriteHeader(http.StatusNoContent)
	}), httpx.Limits{})
	conn := dial(t, address)
	_, err := fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	<-entered
	down := make(chan error)
	go func() { down <- server.Shutdown(t.Context()) }()
	require.Eventually(t, func() bool {
		probe, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = probe.Close()
		}
		return err != nil
	}, time.Minute, time.Millisecond, "no new connections")
	close(goOn)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusNoContent, answer.StatusCode)
	require.NoError(t, <-down)
}

func TestShutdownIsBoundedByItsContext(t *testing.T) {
	t.Parallel()
	entered := make(chan struct{})
	server, address := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done() // ends when the connection is cut
	}), httpx.Limits{})
	conn := dial(t, address)
	_, err := fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	require.NoError(t, err)
	<-entered
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, server.Shutdown(ended), context.Canceled)
}

func TestLimitsCutSlowAndBigHeads(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	_, hasty := start(t, handler, httpx.Limits{ReadHeader: 50 * time.Millisecond})
	slow := dial(t, hasty)
	_, err := fmt.Fprint(slow, "GET / HT")
	require.NoError(t, err)
	said, err := io.ReadAll(slow)
	require.NoError(t, err, "a head that does not come is cut off by the server")
	require.NotContains(t, string(said), "204")

	_, patient := start(t, handler, httpx.Limits{ReadHeader: time.Minute})
	big := dial(t, patient)
	go func() {
		_, _ = fmt.Fprintf(big, "GET / HTTP/1.1\r\nHost: x\r\nBig: %s\r\n\r\n", strings.Repeat("b", 1<<20))
	}()
	answer, err := http.ReadResponse(bufio.NewReader(big), nil)
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, answer.StatusCode)
}

func TestServeSaysWhyItCannot(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	require.ErrorContains(t, httpx.NewServer(http.NotFoundHandler(), nil, httpx.Limits{}).Serve(listener), "serve HTTP")
}

// reliability, Rate limit and proxy: CL.TE. net/http hides the length of a chunked request.
func TestChunkedRequestIsTheLastOneOfItsConnection(t *testing.T) {
	t.Parallel()
	_, address := start(t, http.NotFoundHandler(), httpx.Limits{})
	for head, last := range map[string]bool{
		"Content-Length: 2\r\n\r\n{}":                                                 false,
		"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n":                      true,
		"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n": true,
	} {
		conn := dial(t, address)
		_, err := fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: x\r\n"+head)
		require.NoError(t, err)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		require.Equal(t, last, answer.Close, head)
		require.NoError(t, answer.Body.Close())
	}
}
