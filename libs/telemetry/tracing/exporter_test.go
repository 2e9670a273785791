package tracing_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
)

// begin returns a Tracing that sends to an endpoint.
func begin(t *testing.T, endpoint string, log *lines) *tracing.Tracing {
	t.Helper()
	made, err := tracing.New(settings.Telemetry{TracesEndpoint: endpoint, TracesRatio: 1}, tracing.Service{Name: "x"}, textLog(log))
	require.NoError(t, err)
	t.Cleanup(func() { made.Close(t.Context()) })
	return made
}

func TestTroubleIsToldOnceAndSoIsItsEnd(t *testing.T) {
	t.Parallel()
	s := start(t, plan{ratio: 1, headers: "X-Token=canary-token, X-Other=a=b"})
	s.receiver.status.Store(http.StatusUnauthorized)
	tried := func(more int) {
		s.receiver.mu.Lock()
		before := len(s.receiver.headers)
		s.receiver.mu.Unlock()
		s.ask(tracing.Requests{}, well)
		require.Eventually(t, func() bool {
			s.receiver.mu.Lock()
			defer s.receiver.mu.Unlock()
			return len(s.receiver.headers) >= before+more
		}, patience, often)
	}
	tried(1)
	tried(1)
	require.Eventually(t, func() bool { return strings.Contains(s.log.String(), "cannot be delivered") }, patience, often)
	s.receiver.status.Store(http.StatusOK)
	s.ask(tracing.Requests{}, well)
	require.Eventually(t, func() bool { return strings.Contains(s.log.String(), "delivered again") }, patience, often)
	s.Close(t.Context())
	said := s.log.String()
	require.Equal(t, 1, strings.Count(said, "cannot be delivered"), said)
	require.Equal(t, 2, strings.Count(said, "\n"), said)
	require.Contains(t, said, "401")
	require.NotContains(t, said, "canary", "a receiver that repeats a token")
	require.Less(t, len(said), 1000, "a receiver that says a lot")
	for _, header := range s.receiver.headers {
		require.Equal(t, "canary-token", header.Get("X-Token"))
		require.Equal(t, "a=b", header.Get("X-Other"))
	}
}

// A receiver that hangs, one that is not there, and one that cuts connections off: the end
// comes in time, and leaves no goroutine behind (see TestMain).
func TestTheEndDoesNotWaitForAReceiverInTrouble(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-gate:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(hangs.Close)
	t.Cleanup(func() { close(gate) })
	nobody, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	absent := "http://" + nobody.Addr().String()
	require.NoError(t, nobody.Close())
	for name, late := range map[string]bool{"in time": false, "no time left": true} {
		for _, endpoint := range []string{hangs.URL, absent} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := &scene{t: t}
				s.Tracing = begin(t, endpoint, &s.log)
				for range 5000 { // more than wait
					s.ask(tracing.Requests{}, well)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if late {
					cancel()
				}
				begun := clock.Now()
				s.Close(ctx)
				s.Close(ctx)
				require.Less(t, clock.Since(begun), 40*time.Second, "a hung receiver would take more, batch by batch")
				require.Contains(t, s.log.String(), "traces were lost at the end")
				s.ask(tracing.Requests{}, well)
			})
		}
	}
}

// The headers are for the receiver only.
func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := startReceiver(t)
	var log lines
	points := httptest.NewServer(http.RedirectHandler(elsewhere.server.URL+"/v1/traces", http.StatusTemporaryRedirect))
	t.Cleanup(points.Close)
	s := &scene{t: t, Tracing: begin(t, points.URL, &log)}
	s.ask(tracing.Requests{}, well)
	s.Close(t.Context())
	require.Empty(t, elsewhere.all())
	require.Contains(t, log.String(), "307")
}

func TestManyRequestsRecordTogetherWhileItEnds(t *testing.T) {
	t.Parallel()
	s := start(t, plan{ratio: 1})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				s.handedOn("Traceparent", parent("01"))
			}
		})
	}
	all.Go(func() { s.Close(t.Context()) })
	all.Wait()
}

func TestWrongSettingsMakeNothing(t *testing.T) {
	t.Parallel()
	_, err := tracing.New(settings.Telemetry{TracesEndpoint: "ftp://x"}, tracing.Service{}, nil)
	require.ErrorContains(t, err, "telemetry.traces-endpoint")
	_, err = tracing.New(settings.Telemetry{TracesEndpoint: "http://x", TracesHeaders: config.Secret("canary")}, tracing.Service{}, nil)
	require.ErrorContains(t, err, "telemetry.traces-headers")
	require.NotContains(t, err.Error(), "canary")
}
