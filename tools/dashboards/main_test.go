package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/tools/dashboards/query"
)

// committed is where the dashboards lie that Grafana reads.
var committed = filepath.Join("..", "..", "grafana", "dashboards")

func TestTheCommittedDashboardsAreTheOnesThatAreWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.Zero(t, run([]string{"-out", dir}, io.Discard))
	written, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, written, 5)
	for _, file := range written {
		want, err := os.ReadFile(filepath.Join(dir, file.Name()))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(committed, file.Name()))
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "%s: run make generate", file.Name())
	}
	there, err := os.ReadDir(committed)
	require.NoError(t, err)
	require.Len(t, there, len(written), "a dashboard is there that nothing writes")
}

// Credentials and addresses of the data sources come from the environment, the password as a
// secret and in no address (monitoring, Grafana). The suite refuses to start with variables
// that begin with RSC_ and that it does not know, so that these have another name.
func TestTheProvisioningHasAllFromTheEnvironment(t *testing.T) {
	t.Parallel()
	grafana := filepath.Join("..", "..", "grafana")
	readme, err := os.ReadFile(filepath.Join(grafana, "README.md"))
	require.NoError(t, err)
	of := regexp.MustCompile(`(?m)^ *(?:- )?(?:(url|basicAuthUser|basicAuthPassword|path): )?(.*\$\{.*)$`)
	found := map[string]int{}
	var whole strings.Builder
	for _, name := range []string{"datasources", "dashboards"} {
		text, err := os.ReadFile(filepath.Join(grafana, "provisioning", name, "rsc.yaml"))
		require.NoError(t, err)
		whole.Write(text)
		for _, line := range of.FindAllStringSubmatch(string(text), -1) {
			require.Regexp(t, `^\$\{GRAFANA_[A-Z_]+\}$`, line[2])
			require.Contains(t, string(readme), "`"+strings.Trim(line[2], "${}")+"`")
			found[line[1]]++
		}
	}
	require.Equal(t, map[string]int{"url": 2, "": 1, "basicAuthUser": 1, "basicAuthPassword": 1, "path": 1}, found)
	require.NotRegexp(t, `(?m)^[^#]*://`, whole.String())
	require.Regexp(t, `secureJsonData:\n *basicAuthPassword: `, whole.String())
	for _, uid := range []string{"rsc-prometheus", "rsc-coordinator-api"} {
		require.Contains(t, whole.String(), "uid: "+uid+"\n", "the dashboards are preset to it")
	}
}

// documented are the names of docs/metrics.md with the series that their type gives.
func documented(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "metrics.md"))
	require.NoError(t, err)
	of := map[string][]string{
		"gauge": {""}, "counter": {""}, "timer": {"", "_count", "_sum", "_max"}, "histogram": {"_bucket", "_count", "_sum"},
	}
	names := map[string]bool{}
	for _, line := range regexp.MustCompile("(?m)^\\| `(redis_stream_coord_\\w+)` \\| (\\w+) \\|").FindAllStringSubmatch(string(text), -1) {
		require.Contains(t, of, line[2], line[1])
		for _, suffix := range of[line[2]] {
			names[line[1]+suffix] = true
		}
	}
	require.Greater(t, len(names), 50)
	return names
}

// A panel that reads a name nobody exports is empty for ever (monitoring, Grafana).
func TestTheDashboardsReadDocumentedMetricsOnly(t *testing.T) {
	t.Parallel()
	names := documented(t)
	for _, name := range []string{"process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds", "go_goroutines"} {
		names[name] = true // of every Go process, by the Prometheus library
	}
	expressions, err := query.Expressions(committed)
	require.NoError(t, err)
	require.Greater(t, len(expressions), 80)
	for _, expression := range expressions {
		read := query.Metrics(expression.Text)
		require.NotEmpty(t, read, expression.Text)
		for _, name := range read {
			require.True(t, names[name], "%s, %s: %s is not documented", expression.Dashboard, expression.Panel, name)
		}
	}
}

func TestAWrongCommandLineAndAMissingDirectoryAreTold(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	require.Equal(t, 2, run([]string{"-nonsense"}, &said))
	require.Contains(t, said.String(), "nonsense")
	require.Equal(t, 1, run([]string{"-out", filepath.Join(t.TempDir(), "gone")}, &said))
	require.Contains(t, said.String(), "write dashboard: ")
}
