package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// monitor, Prometheus: one port shows what all parts count, each series once.
func TestOnePortShowsTheMetricsOfAllParts(t *testing.T) {
	t.Parallel()
	redis := redisproc.Start(t)
	p := start(t, nil, "--demo=false", "--redis", redis.URL())
	p.says(t, "no demo")
	_, rest, _ := strings.Cut(p.out.String(), "metrics on ")
	url, _, _ := strings.Cut(rest, "\n")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	for _, line := range []string{
		"redis_stream_coord_up{", "redis_stream_coord_audit_waiting 0", `service="monitor"`, `service="gateway"`, `service="coordinator"`,
	} {
		require.Contains(t, string(text), line)
	}
	require.Equal(t, 1, strings.Count(string(text), "\ngo_goroutines "))

	// A port in use is said, and the suite goes on.
	taken := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/metrics")
	second := start(t, nil, "--demo=false", "--redis", redis.URL(), "--metrics-addr", taken)
	second.says(t, "no demo")
	require.Contains(t, second.out.String(), "no metrics, --metrics-addr: listen tcp "+taken)

	third := start(t, nil, "--demo=false", "--redis", redis.URL(), "--metrics-addr=")
	third.says(t, "no demo")
	require.NotContains(t, third.out.String(), "metrics")
}
