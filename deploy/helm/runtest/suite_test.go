package runtest_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"

	"github.com/redis-stream-coordinator/rsc/deploy/helm/charttest"
	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/freeport"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	gateway "github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
	coordinator "github.com/redis-stream-coordinator/rsc/services/coordinator/app"
	monitor "github.com/redis-stream-coordinator/rsc/services/monitor/app"
	web "github.com/redis-stream-coordinator/rsc/web/app"
)

// patience is how long the suite may take for anything.
const patience = 2 * time.Minute

// runner is a service that listens until its context ends.
type runner interface {
	Run(ctx context.Context) error
}

// start runs a service until the test ends, which fails when something was cut off.
func start(t *testing.T, service runner) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
}

// addresses gives each port of the pods a free one on this machine, and returns the
// replacements for the configuration.
func addresses(t *testing.T) (free map[string]string, replace []string) {
	t.Helper()
	free = map[string]string{}
	for part, port := range map[string]string{"gateway": "8080", "coordinator": "8081", "monitor": "8082", "web": "8083"} {
		metrics := "9" + port[1:]
		free[port], free[metrics] = freeport.Take(t), freeport.Take(t)
		replace = append(replace,
			"rel-rsc-"+part+":"+port, "127.0.0.1:"+free[port],
			"listen: :"+port, "listen: 127.0.0.1:"+free[port],
			"listen: :"+metrics, "listen: 127.0.0.1:"+free[metrics],
		)
	}
	return free, replace
}

// get asks; a status of 0 comes with the error.
func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	asked, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(asked)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(text)
}

// An installation with nothing but the address of a Redis: all parts become ready at the
// probes of their pods, the generated password logs in, a stream is made through the gateway,
// members without a token are refused, the console and the metrics answer.
func TestTheMinimalInstallationRuns(t *testing.T) {
	t.Parallel()
	redis := redisproc.Start(t)
	host, port, err := net.SplitHostPort(redis.Addr())
	require.NoError(t, err)
	objects := charttest.Render(t, charttest.Values(t, fmt.Sprintf(`
redis: {host: %q, port: %s}
monitoring: {serviceMonitor: {enabled: true}}
`, host, port)), nil)
	free, replace := addresses(t)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)

	at := schedule(t, objects, "gateway", nil, replace...)
	makeFirstUser(t, at)
	gateways, err := gateway.New(t.Context(), load(t, at, gateway.DefaultConfig(), gateway.OtherSections()), gateway.Deps{})
	require.NoError(t, err)
	start(t, gateways)
	pods := map[string]pod{"gateway": at}

	pods["coordinator"] = schedule(t, objects, "coordinator", nil, replace...)
	coordinators, err := coordinator.New(t.Context(), load(t, pods["coordinator"], coordinator.DefaultConfig(), coordinator.OtherSections()), coordinator.Deps{})
	require.NoError(t, err)
	start(t, coordinators)

	pods["monitor"] = schedule(t, objects, "monitor", nil, replace...)
	monitors, err := monitor.New(t.Context(), load(t, pods["monitor"], monitor.DefaultConfig(), monitor.OtherSections()), monitor.Deps{})
	require.NoError(t, err)
	start(t, monitors)

	pods["web"] = schedule(t, objects, "web", nil, replace...)
	consoles, err := web.New(t.Context(), load(t, pods["web"], web.DefaultConfig(), web.OtherSections()), web.Deps{})
	require.NoError(t, err)
	start(t, consoles)

	for part, p := range pods {
		container := p.spec.Containers[0]
		number := map[string]string{}
		for _, named := range container.Ports {
			number[named.Name] = free[fmt.Sprint(named.ContainerPort)]
		}
		for _, probe := range []*core.Probe{container.StartupProbe, container.LivenessProbe, container.ReadinessProbe} {
			url := "http://127.0.0.1:" + number[probe.HTTPGet.Port.String()] + probe.HTTPGet.Path
			require.Eventually(t, func() bool { status, _ := get(t, url); return status == http.StatusOK }, patience, 20*time.Millisecond, "%s %s", part, probe.HTTPGet.Path)
		}
		status, body := get(t, "http://127.0.0.1:"+number["metrics"]+"/metrics")
		require.Equal(t, http.StatusOK, status, part)
		require.Contains(t, body, "redis_stream_coord_", part)
	}

	secret := charttest.Named[*core.Secret](t, objects, "rel-rsc-gateway")
	base := "http://127.0.0.1:" + free["8080"]
	made, err := client.New(client.Options{
		CoordinatorURL: base, Login: &client.Login{Username: "admin", Password: string(secret.Data["admin-password"])},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, made.Close()) })
	require.Eventually(t, func() bool {
		// The coordinator fetches the gateway's keys when it needs them.
		_, err := made.Admin().CreateStream(t.Context(), "orders", protocol.CreateStreamRequest{RequestedBy: "chart"})
		return err == nil || strings.Contains(err.Error(), "ALREADY_EXISTS")
	}, patience, 50*time.Millisecond)
	streams, err := made.Admin().Streams(t.Context())
	require.NoError(t, err)
	require.Len(t, streams, 1)

	status, body := get(t, base+"/coord/v1/streams/orders/groups/orders/producer-routing")
	require.Equal(t, http.StatusUnauthorized, status, body)
	status, body = get(t, "http://127.0.0.1:"+free["8081"]+"/coord/v1/streams/orders/groups/orders/producer-routing")
	require.Equal(t, http.StatusUnauthorized, status, body)
	status, body = get(t, base+"/console/login")
	require.Equal(t, http.StatusOK, status, body)
	require.Contains(t, body, "password")
}
