package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
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
	url := p.metrics()
	var text string
	for _, line := range []string{
		"redis_stream_coord_up{", "redis_stream_coord_audit_waiting 0", `service="monitor"`, `service="gateway"`, `service="coordinator"`,
	} {
		require.Eventually(t, func() bool {
			text = scrape(t, url)
			return strings.Contains(text, line)
		}, patience, 5*interval, "%s", line)
	}
	require.Equal(t, 1, strings.Count(text, "\ngo_goroutines "))

	// A port in use is said, and the suite goes on.
	taken := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/metrics")
	second := start(t, nil, "--demo=false", "--redis", redis.URL(), "--metrics-addr", taken)
	second.says(t, "no demo")
	require.Contains(t, second.out.String(), "no metrics, --metrics-addr: listen tcp "+taken)

	third := start(t, nil, "--demo=false", "--redis", redis.URL(), "--metrics-addr=")
	third.says(t, "no demo")
	require.NotContains(t, third.out.String(), "metrics")
}

// metrics is where the process says that they are.
func (p *process) metrics() string {
	_, rest, _ := strings.Cut(p.out.String(), "metrics on ")
	url, _, _ := strings.Cut(rest, "\n")
	return url
}

func scrape(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return string(text)
}

// told are the metrics of docs/metrics.md with their types.
func told(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "metrics.md"))
	require.NoError(t, err)
	types := map[string]string{}
	for _, line := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([a-z]+) \\|").FindAllStringSubmatch(string(page), -1) {
		if types[line[1]] = line[2]; line[2] == "timer" {
			types[line[1]], types[line[1]+"_max"] = "summary", "gauge"
		}
	}
	return types
}

// monitor, Prometheus: what a running suite shows is documented, with its type; and what is
// documented is shown, but for what needs trouble to come about.
func TestARunningSuiteShowsTheMetricsThatAreDocumented(t *testing.T) {
	t.Parallel()
	documented := told(t)
	p := start(t, nil)
	p.says(t, "5s produced")
	rare := regexp.MustCompile("_(failed|stale|ahead|correction_round|conflict|refused|scale_request|state_mutex_busy|expired|unknown|group_problem|problem_shards|drain|violation|progress_age|lag_unknown)")
	shown, absent := map[string]string{}, []string(nil)
	require.Eventually(t, func() bool { // some come with the second look of the monitor
		for _, line := range regexp.MustCompile(`(?m)^# TYPE (redis_stream_coord_[a-z_]+) ([a-z]+)$`).FindAllStringSubmatch(scrape(t, p.metrics()), -1) {
			shown[line[1]] = line[2]
		}
		absent = nil
		for name := range documented {
			if shown[name] == "" && !rare.MatchString(name) {
				absent = append(absent, name)
			}
		}
		return len(absent) == 0
	}, patience, 10*interval, "documented, and absent: %v", &absent)
	for name, kind := range shown {
		require.Equalf(t, documented[name], kind, "%s in docs/metrics.md", name)
	}
}
