package main

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	gateway "github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
	coordinator "github.com/redis-stream-coordinator/rsc/services/coordinator/app"
	monitor "github.com/redis-stream-coordinator/rsc/services/monitor/app"
	web "github.com/redis-stream-coordinator/rsc/web/app"
)

// environ returns the environment of a service with the defaults of the stack's variables,
// and paths of this machine for what is mounted.
func environ(s service) []string {
	var list []string
	for name, value := range s.Environment {
		value = expand(value)
		for _, volume := range s.Volumes {
			parts := strings.Split(volume, ":")
			if len(parts) > 1 && value == parts[1] {
				value = filepath.Join(root, filepath.FromSlash(parts[0]))
			}
		}
		list = append(list, name+"="+value)
	}
	return list
}

// printConfig starts the program of a service with its environment, to print its settings.
func printConfig(t *testing.T, s service, more ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(binaries, s.Build.Args["BINARY"]), "--print-config")
	cmd.Env = append(environ(s), more...)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

func TestEveryProgramTakesItsEnvironment(t *testing.T) {
	t.Parallel()
	for name, s := range compose(t).Services {
		if !s.own() {
			continue
		}
		text, err := printConfig(t, s)
		require.NoErrorf(t, err, "%s: %s", name, text)
		text, err = printConfig(t, s, "RSC_NO_SUCH_THING=1")
		require.Errorf(t, err, "%s would not notice a wrong name", name)
		require.Contains(t, text, "RSC_NO_SUCH_THING")
	}
}

func TestTheStackOfEveryProfileIsTakenToo(t *testing.T) {
	t.Parallel()
	assignment := regexp.MustCompile(`(?m)^([A-Z_]+)=(.*)$`)
	for _, file := range []string{"deploy/compose/cluster.env", "deploy/compose/postgres.env"} {
		set := map[string]string{}
		for _, found := range assignment.FindAllStringSubmatch(read(t, file), -1) {
			set[found[1]] = found[2]
		}
		s := compose(t)
		require.True(t, slices.ContainsFunc(values(s.Services), func(one service) bool {
			return slices.Contains(one.Profiles, set["COMPOSE_PROFILES"])
		}), "no service has the profile of %s", file)
		for name, one := range s.Services {
			if !one.own() {
				continue
			}
			for key, value := range one.Environment {
				for variable, put := range set {
					value = regexp.MustCompile(`\$\{`+variable+`(:-[^}]*)?\}`).ReplaceAllLiteralString(value, put)
				}
				one.Environment[key] = value
			}
			text, err := printConfig(t, one)
			require.NoErrorf(t, err, "%s with %s: %s", name, file, text)
		}
	}
}

func values[K comparable, V any](of map[K]V) []V {
	list := make([]V, 0, len(of))
	for _, one := range of {
		list = append(list, one)
	}
	return list
}

func TestWhatAnswersForItsHealthIsAskedForIt(t *testing.T) {
	t.Parallel()
	for name, s := range compose(t).Services {
		if !s.own() {
			continue
		}
		help, err := exec.CommandContext(t.Context(), filepath.Join(binaries, s.Build.Args["BINARY"]), "--help").CombinedOutput()
		require.NoError(t, err, name)
		require.Equal(t, strings.Contains(string(help), "--health"), s.Build.Target != "program", "%s: target program has no health check", name)
	}
}

// listening returns the ports on which the services of the suite listen, and their metrics.
func listening() map[string][]string {
	g, c, m, w := gateway.DefaultConfig().Gateway, coordinator.DefaultConfig(), monitor.DefaultConfig().Monitor, web.DefaultConfig().Web
	port := func(addresses ...string) (ports []string) {
		for _, address := range addresses {
			ports = append(ports, address[strings.LastIndexByte(address, ':')+1:])
		}
		return ports
	}
	return map[string][]string{
		"admin-gateway": port(g.Listen, g.MetricsListen), "monitor": port(m.Listen, m.MetricsListen), "web": port(w.Listen, w.MetricsListen),
		"coordinator-1": port(c.Listen, c.MetricsListen), "coordinator-2": port(c.Listen, c.MetricsListen),
		"redis": {"6379"}, "prometheus": {"9090"}, "grafana": {"3000"}, "postgres": {"5432"},
		"redis-cluster-1": {"6379"}, "redis-cluster-2": {"6379"}, "redis-cluster-3": {"6379"},
	}
}

func TestAddressesOfTheStackAreThoseOfItsServices(t *testing.T) {
	t.Parallel()
	ports := listening()
	seen := 0
	for name, s := range compose(t).Services {
		for key, value := range s.Environment {
			for address := range strings.SplitSeq(expand(value), ",") {
				at, err := url.Parse(address)
				if err != nil || at.Host == "" {
					continue
				}
				seen++
				require.Contains(t, ports, at.Hostname(), "%s of %s", key, name)
				require.Equal(t, ports[at.Hostname()][0], at.Port(), "%s of %s is %s", key, name, address)
			}
		}
		for _, published := range s.Ports {
			require.Contains(t, ports[name], published[strings.LastIndexByte(published, ':')+1:], "%s publishes %s", name, published)
		}
	}
	require.Greater(t, seen, 20)
}

func TestUsersOfTheStackHaveThePasswordsOfItsEnvironment(t *testing.T) {
	t.Parallel()
	env := compose(t).Services["admin-gateway"].Environment
	for _, found := range regexp.MustCompile(`\$\{([A-Z_]+)\}`).FindAllStringSubmatch(read(t, "deploy/compose/users.yml"), -1) {
		require.Contains(t, env, found[1])
	}
	require.NotContains(t, read(t, "deploy/compose/users.yml"), "password: \"a")
}

// scraping is what of a file of Prometheus is looked at.
type scraping struct {
	ScrapeConfigs []struct {
		Job           string `yaml:"job_name"`
		StaticConfigs []struct {
			Targets []string `yaml:"targets"`
		} `yaml:"static_configs"`
	} `yaml:"scrape_configs"`
}

// jobs returns the targets by job.
func (s scraping) jobs() map[string][]string {
	found := map[string][]string{}
	for _, config := range s.ScrapeConfigs {
		for _, static := range config.StaticConfigs {
			found[config.Job] = append(found[config.Job], static.Targets...)
		}
	}
	return found
}

func TestPrometheusScrapesEveryServiceOfTheStack(t *testing.T) {
	t.Parallel()
	var stock, here scraping
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "prometheus/prometheus.yml")), &stock))
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "deploy/compose/prometheus.yml")), &here))
	require.ElementsMatch(t, defaults().Smoke.Jobs, keys(here.jobs()), "the smoke test waits for these")
	require.ElementsMatch(t, keys(stock.jobs()), keys(here.jobs()), "rules name jobs")
	ports := listening()
	scraped := map[string]bool{}
	for job, targets := range here.jobs() {
		for _, target := range targets {
			host, port, _ := strings.Cut(target, ":")
			require.Contains(t, ports, host, job)
			require.Equal(t, ports[host][1], port, target)
			scraped[host] = true
		}
	}
	for name, s := range compose(t).Services {
		if s.own() && s.Build.Target != "program" {
			require.True(t, scraped[name], "%s is not scraped", name)
		}
	}
	promtool(t)
}

// promtool has the tool of Prometheus read the file with the rules beside it, as mounted.
func promtool(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(read(t, "deploy/compose/prometheus.yml")), 0o600))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "rules"), os.DirFS(filepath.Join(root, "prometheus", "rules"))))
	text, err := exec.CommandContext(t.Context(), "promtool", "check", "config", filepath.Join(dir, "prometheus.yml")).CombinedOutput()
	require.NoErrorf(t, err, "%s", text)
	require.Contains(t, string(text), "SUCCESS")
	require.Contains(t, string(text), "rule files found")
}

func keys[K comparable, V any](of map[K]V) []K {
	list := make([]K, 0, len(of))
	for key := range of {
		list = append(list, key)
	}
	return list
}

func TestGrafanaGetsEveryVariableOfItsProvisioning(t *testing.T) {
	t.Parallel()
	env := compose(t).Services["grafana"].Environment
	used := map[string]bool{}
	for _, path := range []string{"grafana/provisioning/datasources/rsc.yaml", "grafana/provisioning/dashboards/rsc.yaml"} {
		for _, found := range regexp.MustCompile(`\$\{(GRAFANA_[A-Z_]+)\}`).FindAllStringSubmatch(read(t, path), -1) {
			used[found[1]] = true
			require.Contains(t, env, found[1], path)
		}
	}
	for name := range env {
		require.True(t, used[name] || strings.HasPrefix(name, "GF_"), "Grafana does not use %s", name)
	}
	mounted := false
	for _, volume := range compose(t).Services["grafana"].Volumes {
		mounted = mounted || strings.HasSuffix(volume, ":"+env["GRAFANA_DASHBOARDS"]+":ro")
	}
	require.True(t, mounted, "the dashboards are where GRAFANA_DASHBOARDS says")
}
