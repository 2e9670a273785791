package proxy_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/proxy"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

func monitors(urls ...string) map[route.Service][]string { return upstreams(route.Monitor, urls...) }

// Gateway, Proxy: response streaming for SSE. Pieces come at once, past the time of a read
// and past the server's write deadline.
func TestAnAnswerWithoutAnEndIsPassedOnAsItComes(t *testing.T) {
	t.Parallel()
	pieces, ended := make(chan string), make(chan struct{})
	up := startUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		w.Header().Set("Content-Type", "text/event-stream")
		flusher := http.NewResponseController(w)
		_ = flusher.Flush()
		for {
			select {
			case piece := <-pieces:
				_, _ = io.WriteString(w, piece)
				_ = flusher.Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	g := startGateway(t, setup{
		Config: proxy.Config{Upstreams: monitors(up.URL), Timeouts: proxy.Timeouts{Read: 3 * time.Second}},
		limits: httpx.Limits{Write: 3 * time.Second},
	})
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+g.address+base+"/monitoring/stream", nil)
	require.NoError(t, err)
	answer, err := g.client.Do(r)
	require.NoError(t, err, "the head comes before the first piece")
	defer answer.Body.Close()
	require.Equal(t, "text/event-stream", answer.Header.Get("Content-Type"))
	lines := bufio.NewReader(answer.Body)
	timer := time.NewTicker(200 * time.Millisecond)
	defer timer.Stop()
	for range 20 { // 4 s
		<-timer.C
		pieces <- "data: x\n"
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "data: x\n", line)
	}
	cancel()
	<-ended // the service notices that the caller has gone
}

// A gateway that terminates does not wait for those who follow, and they see a whole answer.
func TestAnAnswerWithoutAnEndEndsWithTheGateway(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{}, 2)
	up := startUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: x\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		ended <- struct{}{}
	})
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: monitors(up.URL)}})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+g.address+base+"/monitoring/stream", nil)
	require.NoError(t, err)
	answer, err := g.client.Do(r)
	require.NoError(t, err)
	defer answer.Body.Close()
	g.proxy.EndStreams()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, "data: x\n", string(body))
	<-ended

	late, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, _ = g.ask(late, "GET", base+"/monitoring/stream", "")
	require.NoError(t, late.Err(), "one that comes later ends too")
}

func TestAStreamHasToBeginInTime(t *testing.T) {
	t.Parallel()
	up, _ := hung(t)
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: monitors(up.URL), Timeouts: proxy.Timeouts{Read: 50 * time.Millisecond}}})
	refusal := requireRefusal(t, protocol.CodeUpstreamUnavailable, g.call(t, "GET", base+"/monitoring/stream", ""))
	require.Equal(t, "the monitor has not answered in time", refusal.Message)
}

// A part of an answer must not be taken for the whole.
func TestAnAnswerThatBreaksOffIsCut(t *testing.T) {
	t.Parallel()
	up := startUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"a":`)
		_ = http.NewResponseController(w).Flush()
		if r.URL.Path == group {
			<-r.Context().Done() // until the gateway's time is over
			return
		}
		panic(http.ErrAbortHandler)
	})
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL), Timeouts: proxy.Timeouts{Read: 3 * time.Second}}})
	for _, target := range []string{base + "/streams", group} {
		_, err := g.ask(t.Context(), "GET", target, "")
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, target)
	}
}
