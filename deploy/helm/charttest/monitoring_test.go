package charttest_test

import (
	"path/filepath"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/redis-stream-coordinator/rsc/deploy/helm/charttest"
)

// Monitoring, Prometheus: the operator gets each rule of the repository, word by word.
func TestTheOperatorGetsEveryRuleOfTheRepository(t *testing.T) {
	t.Parallel()
	objects := charttest.Render(t, charttest.Sets(t)["monitoring"], nil)
	paths, err := filepath.Glob(filepath.Join(charttest.Root(), "prometheus", "rules", "*.yml"))
	require.NoError(t, err)
	rules := charttest.All[*monitoring.PrometheusRule](objects)
	require.Len(t, rules, len(paths))
	for _, path := range paths {
		var want monitoring.PrometheusRuleSpec
		require.NoError(t, yaml.UnmarshalStrict([]byte(charttest.Read(t, "prometheus", "rules", filepath.Base(path))), &want))
		got := charttest.Named[*monitoring.PrometheusRule](t, objects, "rel-rsc-"+strings.TrimSuffix(filepath.Base(path), ".yml"))
		require.Equal(t, want, got.Spec)
		require.Equal(t, "prometheus", got.Labels["release"])
	}
}

func TestGrafanaGetsEveryDashboardOfTheRepository(t *testing.T) {
	t.Parallel()
	objects := charttest.Render(t, charttest.Sets(t)["monitoring"], nil)
	paths, err := filepath.Glob(filepath.Join(charttest.Root(), "grafana", "dashboards", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		name := strings.TrimPrefix(strings.TrimSuffix(filepath.Base(path), ".json"), "rsc-")
		got := charttest.Named[*core.ConfigMap](t, objects, "rel-rsc-"+name+"-dashboard")
		require.Equal(t, map[string]string{filepath.Base(path): charttest.Read(t, "grafana", "dashboards", filepath.Base(path))}, got.Data)
		require.Equal(t, "1", got.Labels["grafana_dashboard"])
		require.Equal(t, "monitoring", got.Namespace)
	}
}

// The jobs are those of prometheus/prometheus.yml, which rules name; the services that are
// scraped are no others' (a gateway may be open to the outside, its metrics may not).
func TestEveryPartIsScrapedUnderTheNameThatRulesKnow(t *testing.T) {
	t.Parallel()
	objects := charttest.Render(t, charttest.Sets(t)["monitoring"], nil)
	monitors := charttest.All[*monitoring.ServiceMonitor](objects)
	require.Len(t, monitors, 4)
	configured := charttest.Read(t, "prometheus", "prometheus.yml")
	for _, found := range monitors {
		require.Equal(t, []string{charttest.Namespace}, found.Spec.NamespaceSelector.MatchNames)
		require.Len(t, found.Spec.Endpoints, 1)
		endpoint := found.Spec.Endpoints[0]
		require.Equal(t, "/metrics", endpoint.Path)
		require.Equal(t, "job", endpoint.RelabelConfigs[0].TargetLabel)
		require.Contains(t, configured, "job_name: "+*endpoint.RelabelConfigs[0].Replacement+"\n")

		var scraped []string
		for _, service := range charttest.All[*core.Service](objects) {
			if selects(t, &found.Spec.Selector).Matches(labels.Set(service.Labels)) {
				scraped = append(scraped, service.Name)
				require.Equal(t, core.ServiceTypeClusterIP, service.Spec.Type)
				require.Equal(t, endpoint.Port, service.Spec.Ports[0].Name)
			}
		}
		require.Equal(t, []string{found.Name + "-metrics"}, scraped)
	}
	for _, service := range charttest.All[*core.Service](charttest.Render(t, charttest.Sets(t)["networkpolicy"], nil)) {
		for _, port := range service.Spec.Ports {
			require.Equal(t, "http", port.Name, "what is open to the outside has no metrics")
		}
	}
}
