package runtest_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"

	"github.com/redis-stream-coordinator/rsc/deploy/firstuser"
	"github.com/redis-stream-coordinator/rsc/deploy/helm/charttest"
	"github.com/redis-stream-coordinator/rsc/libs/process"
	gateway "github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
	coordinator "github.com/redis-stream-coordinator/rsc/services/coordinator/app"
	monitor "github.com/redis-stream-coordinator/rsc/services/monitor/app"
	web "github.com/redis-stream-coordinator/rsc/web/app"
)

// makeFirstUser does what the container before a gateway does, where there is one.
func makeFirstUser(t *testing.T, p pod) {
	t.Helper()
	for _, before := range p.spec.InitContainers {
		var args []string
		for _, arg := range before.Args {
			args = append(args, p.inside(arg))
		}
		var said strings.Builder
		p.write(t, "/run/rsc/users.yaml", "")
		require.Zero(t, process.Run(t.Context(), firstuser.Command, args, process.Streams{Out: &said, Err: &said}), said.String())
	}
}

func ports(of core.Container) []string {
	var found []string
	for _, port := range of.Ports {
		found = append(found, ":"+strconv.Itoa(int(port.ContainerPort)))
	}
	return found
}

// Architecture, Configuration: one file serves all services, keys nobody knows refuse start.
// Each service's loader takes the file, the variables and the secrets of its pod, and listens
// where the pod says.
func TestEveryServiceTakesWhatItsPodGets(t *testing.T) {
	t.Parallel()
	outside := outsiders(t)
	for name, values := range charttest.Sets(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := charttest.Render(t, values, nil)

			at := schedule(t, objects, "coordinator", outside)
			coordinators := load(t, at, coordinator.DefaultConfig(), coordinator.OtherSections())
			require.Equal(t, []string{coordinators.Listen, coordinators.MetricsListen}, ports(at.spec.Containers[0]))
			require.True(t, coordinators.API.AuthenticateMemberAPI, "members need a token (gateway, Roles)")
			require.False(t, coordinators.API.Dev)

			at = schedule(t, objects, "gateway", outside)
			makeFirstUser(t, at)
			gateways := load(t, at, gateway.DefaultConfig(), gateway.OtherSections())
			require.Equal(t, []string{gateways.Gateway.Listen, gateways.Gateway.MetricsListen}, ports(at.spec.Containers[0]))
			require.True(t, gateways.API.AuthenticateMemberAPI)
			require.NotEmpty(t, gateways.API.Users)
			require.False(t, gateways.API.Dev)

			at = schedule(t, objects, "monitor", outside)
			monitors := load(t, at, monitor.DefaultConfig(), monitor.OtherSections())
			require.Equal(t, []string{monitors.Monitor.Listen, monitors.Monitor.MetricsListen}, ports(at.spec.Containers[0]))

			services := map[string]string{}
			for _, service := range charttest.All[*core.Service](objects) {
				services[service.Labels["app.kubernetes.io/component"]] = "http://" + strings.TrimSuffix(service.Name, "-metrics") + ":"
			}
			require.Equal(t, []string{services["coordinator"] + "8081"}, gateways.Gateway.Coordinators)
			require.Equal(t, services["coordinator"]+"8081", monitors.Monitor.Coordinator)
			require.Equal(t, services["monitor"]+"8082", gateways.Gateway.Monitor)
			keys := services["gateway"] + "8080/.well-known/jwks.json"
			require.Equal(t, []string{keys, keys}, []string{coordinators.API.JWKSURL, monitors.API.JWKSURL})
			require.Equal(t, coordinators.Store.KeyPrefix, gateways.Store.KeyPrefix)
			require.Equal(t, coordinators.Store.KeyPrefix, monitors.Store.KeyPrefix)

			if !slices.Contains(slices.Collect(maps.Keys(services)), "web") {
				require.Empty(t, gateways.Gateway.Web)
				return
			}
			at = schedule(t, objects, "web", outside)
			consoles := load(t, at, web.DefaultConfig(), web.OtherSections())
			require.Equal(t, []string{consoles.Web.Listen, consoles.Web.MetricsListen}, ports(at.spec.Containers[0]))
			require.Equal(t, services["web"]+"8083", gateways.Gateway.Web)
			require.Equal(t, services["gateway"]+"8080", consoles.Web.Gateway)
			require.Equal(t, keys, consoles.API.JWKSURL)
			require.Empty(t, at.environ, "the console has no secret")
		})
	}
}

// What the values say of Redis and PostgreSQL arrives, with its secrets.
func TestWhereTheDataIsArrives(t *testing.T) {
	t.Parallel()
	outside, sets := outsiders(t), charttest.Sets(t)
	read := func(set string) coordinator.Config {
		return load(t, schedule(t, charttest.Render(t, sets[set], nil), "coordinator", outside), coordinator.DefaultConfig(), coordinator.OtherSections())
	}
	cluster := read("redis-cluster").Redis
	require.True(t, cluster.Cluster)
	require.Len(t, cluster.Addresses, 3)
	require.Equal(t, "rsc-coordinator", cluster.Username)
	require.Equal(t, "secret of Redis", cluster.Password.Reveal())
	require.Equal(t, 20, cluster.PoolSize)

	sentinel := read("sentinel-tls").Redis
	require.Equal(t, "orders", sentinel.MasterName)
	require.Equal(t, "suite", sentinel.Username)
	require.Equal(t, "watcher", sentinel.SentinelUsername)
	require.Equal(t, "secret of sentinels", sentinel.SentinelPassword.Reveal())
	require.True(t, sentinel.TLS)
	require.FileExists(t, sentinel.TLSCAFile)

	require.Equal(t, "rediss://suite:canary-redis-url@redis.example.com:6390/2", read("redis-url").Redis.URL.Reveal())

	require.Equal(t, outside["redis/url"], read("existing-secrets").Redis.URL.Reveal())

	users := schedule(t, charttest.Render(t, sets["users"], nil), "gateway", outside)
	gateways := load(t, users, gateway.DefaultConfig(), gateway.OtherSections())
	require.Len(t, gateways.API.Users, 2)
	require.Equal(t, []string{"orders*"}, gateways.API.Users[0].Scopes)
	require.Len(t, gateways.API.PreviousTokenSecret.Reveal(), 48)
	require.NotEqual(t, gateways.API.TokenSecret.Reveal(), gateways.API.PreviousTokenSecret.Reveal())

	collector := schedule(t, charttest.Render(t, sets["monitoring"], nil), "monitor", outside)
	monitors := load(t, collector, monitor.DefaultConfig(), monitor.OtherSections())
	require.Equal(t, "https://collector.monitoring:4318", monitors.Telemetry.TracesEndpoint)
	require.Equal(t, outside["traces-headers"], monitors.Telemetry.TracesHeaders.Reveal())
	require.False(t, monitors.Monitor.MemberSeries)
}
