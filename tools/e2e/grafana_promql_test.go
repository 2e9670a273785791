package e2e_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/tools/dashboards/query"
)

// chosenInPromQL is what the variables of the dashboards stand for in PromQL.
var chosenInPromQL = map[string]string{
	"streamPrefix": demoStream, "consumerGroup": demoGroup, "shardIndex": ".*", "coordinator": ".*", "apiRoute": ".*",
	"__rate_interval": "1m",
}

// Every PromQL expression parses (monitoring, Grafana): promtool takes each for a rule.
func TestEveryExpressionOfTheDashboardsParses(t *testing.T) {
	t.Parallel()
	expressions, err := query.Expressions(dashboardsDir)
	require.NoError(t, err)
	var rules strings.Builder
	rules.WriteString("groups:\n  - name: dashboards\n    rules:\n")
	for i, expression := range expressions {
		text, missing := query.Fill(expression.Text, chosenInPromQL)
		require.Empty(t, missing, expression.Text)
		fmt.Fprintf(&rules, "      - {record: expression_%d, expr: %q}\n", i, text)
	}
	file := filepath.Join(t.TempDir(), "dashboards.yml")
	writeSettings(t, file, rules.String())
	said, err := exec.CommandContext(t.Context(), "promtool", "check", "rules", file).CombinedOutput()
	require.NoError(t, err, "promtool (scripts/with-test-tools brings it):\n%s", said)
	require.Contains(t, string(said), fmt.Sprintf("%d rules found", len(expressions)))
}

// Every metric that the original's dashboards read is exported, with the labels that they
// select, group by or show (metric names, Dashboards).
func theOriginalFindsItsSeries(p *pictured) {
	for name, labels := range readOriginal(p.t).metrics {
		line := regexp.MustCompile(`(?m)^` + name + `\{(.*)\} `)
		require.Eventually(p.t, func() bool {
			got, err := sendWith(p.http, p.metrics, guardedCall{path: "/actuator/prometheus"})
			if err != nil || got.status != http.StatusOK {
				return false
			}
			for _, series := range line.FindAllStringSubmatch(string(got.body), -1) {
				if hasLabels(series[1], labels) {
					return true
				}
			}
			return len(labels) == 0 && regexp.MustCompile(`(?m)^`+name+`[ {]`).Match(got.body)
		}, patience, often, "there is a series of %s with %v", name, labels)
	}
}

func hasLabels(series string, labels []string) bool {
	for _, label := range labels {
		if !strings.Contains(","+series, ","+label+`="`) {
			return false
		}
	}
	return true
}
