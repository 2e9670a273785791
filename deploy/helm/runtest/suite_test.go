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
	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
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

// installation is a suite that runs on this machine.
type installation struct {
	objects charttest.Objects
	// free are the ports on this machine by those of the pods.
	free map[string]string
	pods map[string]pod
	// base is the URL of the gateway.
	base string
	// admin is logged in as the first user.
	admin *client.Admin
}

// install starts all four parts with what the chart renders of values, on a Redis of their own,
// until the test ends.
func install(t *testing.T, values string) installation {
	t.Helper()
	host, port, err := net.SplitHostPort(redisproc.Start(t).Addr())
	require.NoError(t, err)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	text := fmt.Sprintf("redis: {host: %q, port: %s}\n%s", host, port, values)
	free, replace := addresses(t)
	i := installation{
		objects: charttest.Render(t, charttest.Values(t, text), nil), free: free, pods: map[string]pod{}, base: "http://127.0.0.1:" + free["8080"],
	}
	for _, part := range []string{"gateway", "coordinator", "monitor", "web"} {
		i.pods[part] = schedule(t, i.objects, part, nil, replace...)
	}
	makeFirstUser(t, i.pods["gateway"])
	gateways, err := gateway.New(t.Context(), load(t, i.pods["gateway"], gateway.DefaultConfig(), gateway.OtherSections()), gateway.Deps{})
	require.NoError(t, err)
	start(t, gateways)
	coordinators, err := coordinator.New(t.Context(), load(t, i.pods["coordinator"], coordinator.DefaultConfig(), coordinator.OtherSections()), coordinator.Deps{})
	require.NoError(t, err)
	start(t, coordinators)
	monitors, err := monitor.New(t.Context(), load(t, i.pods["monitor"], monitor.DefaultConfig(), monitor.OtherSections()), monitor.Deps{})
	require.NoError(t, err)
	start(t, monitors)
	consoles, err := web.New(t.Context(), load(t, i.pods["web"], web.DefaultConfig(), web.OtherSections()), web.Deps{})
	require.NoError(t, err)
	start(t, consoles)

	secret := charttest.Named[*core.Secret](t, i.objects, "rel-rsc-gateway")
	made, err := client.New(client.Options{
		CoordinatorURL: i.base, Login: &client.Login{Username: "admin", Password: string(secret.Data["admin-password"])},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, made.Close()) })
	i.admin = made.Admin()
	return i
}

// answers waits until a URL answers with a status of 200, and returns the body.
func answers(t *testing.T, url string) (body string) {
	t.Helper()
	require.Eventually(t, func() bool {
		var status int
		status, body = get(t, url)
		return status == http.StatusOK
	}, patience, 20*time.Millisecond, url)
	return body
}

// create makes a stream. The coordinator fetches the gateway's keys when it needs them, so the
// first try may come too early.
func (i installation) create(t *testing.T, stream string) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := i.admin.CreateStream(t.Context(), stream, protocol.CreateStreamRequest{RequestedBy: "chart"})
		return err == nil || strings.Contains(err.Error(), "ALREADY_EXISTS")
	}, patience, 50*time.Millisecond)
	streams, err := i.admin.Streams(t.Context())
	require.NoError(t, err)
	require.Len(t, streams, 1)
	require.Equal(t, stream, streams[0].StreamPrefix)
}

// An installation with nothing but the address of a Redis: all parts become ready at the
// probes of their pods, the generated password logs in, a stream is made through the gateway,
// members without a token are refused, the console and the metrics answer.
func TestTheMinimalInstallationRuns(t *testing.T) {
	t.Parallel()
	i := install(t, "")
	for part, p := range i.pods {
		container := p.spec.Containers[0]
		number := map[string]string{}
		for _, named := range container.Ports {
			number[named.Name] = i.free[fmt.Sprint(named.ContainerPort)]
		}
		for _, probe := range []*core.Probe{container.StartupProbe, container.LivenessProbe, container.ReadinessProbe} {
			answers(t, "http://127.0.0.1:"+number[probe.HTTPGet.Port.String()]+probe.HTTPGet.Path)
		}
		require.Contains(t, answers(t, "http://127.0.0.1:"+number["metrics"]+"/metrics"), "redis_stream_coord_", part)
	}
	i.create(t, "orders")

	const routing = "/coord/v1/streams/orders/groups/orders/producer-routing"
	for _, base := range []string{i.base, "http://127.0.0.1:" + i.free["8081"]} {
		status, body := get(t, base+routing)
		require.Equal(t, http.StatusUnauthorized, status, body)
	}
	require.Contains(t, answers(t, i.base+"/console/login"), "password")
}

// The same with metadata and audit in PostgreSQL, each in a database of its own.
func TestAnInstallationWithPostgreSQLRuns(t *testing.T) {
	t.Parallel()
	server := postgresproc.Start(t)
	i := install(t, fmt.Sprintf(`
store: {type: postgres, postgres: {url: %q}}
audit: {postgres: {url: %q}}
settings: {audit: {sink: postgres}}
`, server.Database(t), server.Database(t)))
	answers(t, i.base+"/readyz")
	answers(t, "http://127.0.0.1:"+i.free["8081"]+"/readyz")
	i.create(t, "orders")
	health, err := i.admin.Health(t.Context())
	require.NoError(t, err)
	require.Equal(t, protocol.HealthUp, health.Status, health.Problems)
	found, err := i.admin.Audit(t.Context(), client.AuditQuery{StreamPrefix: "orders"})
	require.NoError(t, err)
	require.NotEmpty(t, found.Records)
	for part, want := range map[string]string{"coordinator": "RSC_STORE_POSTGRES_URL_FILE", "gateway": "RSC_AUDIT_POSTGRES_URL_FILE"} {
		environ := strings.Join(i.pods[part].environ, " ")
		require.Contains(t, environ, want)
		require.Equal(t, 1, strings.Count(environ, "POSTGRES"), "each has its own database only")
	}
	require.NotContains(t, strings.Join(i.pods["monitor"].environ, " "), "POSTGRES")
}
