package proxy_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/limits"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/proxy"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// cpu returns the processor time that the process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkHeartbeatThroughProxy tells the processor time of a heartbeat that goes through
// the proxy and what it stands on, beside that of a bare httputil.ReverseProxy. Caller and
// service run in the same process; "direct" is what they take by themselves, so that the
// share of what stands between is the difference to it (gateway, performance).
func BenchmarkHeartbeatThroughProxy(b *testing.B) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, retry)
	}))
	b.Cleanup(service.Close)
	target, err := url.Parse(service.URL)
	require.NoError(b, err)
	bare := httputil.NewSingleHostReverseProxy(target)
	idle := &http.Transport{MaxIdleConnsPerHost: 512}
	b.Cleanup(idle.CloseIdleConnections)
	bare.Transport = idle

	key, err := auth.KeyFromSecret(strings.Repeat("s", auth.MinSecret))
	require.NoError(b, err)
	ring, err := auth.NewKeyring(key)
	require.NoError(b, err)
	answers := httpx.NewAnswers(nil)
	through, err := proxy.New(proxy.Config{Upstreams: coordinators(service.URL), LegacyRetry: true}, proxy.Deps{Ring: ring, Now: clock.Now, Answers: answers})
	require.NoError(b, err)
	b.Cleanup(through.Close)
	table := route.New(route.Config{})
	guarded := limits.NewBody(answers).Stage(through.Legacy(through))
	entry := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found, err := table.Match(r.Method, r.URL.EscapedPath(), r.URL.RawQuery)
		if err != nil {
			answers.Error(w, r, err)
			return
		}
		guarded.ServeHTTP(w, r.WithContext(exchange.With(r.Context(), &exchange.Exchange{Route: found})))
	})
	ours := httpx.Identify(httpx.AccessLog(slog.New(slog.DiscardHandler), nil)(answers.Recover(entry)))

	for _, way := range []struct {
		name    string
		handler http.Handler
	}{{"direct", nil}, {"bare", bare}, {"proxy", ours}} {
		b.Run(way.name, func(b *testing.B) {
			at := service.URL
			if way.handler != nil {
				front := httptest.NewServer(way.handler)
				b.Cleanup(front.Close)
				at = front.URL
			}
			beatAll(b, at+beat)
		})
	}
}

func beatAll(b *testing.B, target string) {
	b.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	before := cpu(b)
	b.ReportAllocs()
	for b.Loop() {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, target, strings.NewReader(newBeat))
		require.NoError(b, err)
		r.Header.Set("Content-Type", "application/json")
		answer, err := client.Do(r)
		require.NoError(b, err)
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		require.Equal(b, http.StatusOK, answer.StatusCode)
	}
	b.ReportMetric(float64(cpu(b)-before)/float64(b.N)/1e3, "cpu-us/op")
}
