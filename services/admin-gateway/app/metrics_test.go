package app_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/freeport"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
)

// freeAddress is one that nobody else takes while the test runs.
func freeAddress(t *testing.T) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", freeport.Take(t))
}

func development(t *testing.T) app.Config {
	t.Helper()
	cfg := app.DefaultConfig()
	cfg.API.Dev = true
	cfg.Gateway.Listen = freeAddress(t)
	cfg.Gateway.MetricsListen = freeAddress(t)
	cfg.Gateway.Coordinators = []string{"http://" + freeAddress(t)}
	return cfg
}

// ask sends a request until somebody is there to answer it.
func ask(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			require.NoError(t, t.Context().Err())
			continue
		}
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode, string(text)
	}
}

// monitor, Prometheus: a running gateway is scraped away from the API, and counts what it has
// answered, refused and not been able to send on.
func TestRunningGatewayIsScrapedAwayFromTheAPI(t *testing.T) {
	t.Parallel()
	cfg := development(t)
	gateway, err := app.New(t.Context(), cfg, app.Deps{})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- gateway.Run(ctx) }()

	api, metrics := "http://"+cfg.Gateway.Listen, "http://"+cfg.Gateway.MetricsListen
	status, _ := ask(t, http.MethodPost, api+"/coord/v1/auth/login", `{"username": "admin", "password": "wrong"}`)
	require.Equal(t, http.StatusUnauthorized, status)
	status, _ = ask(t, http.MethodGet, api+"/coord/v1/streams/orders/groups/billing/producer-routing", "")
	require.Equal(t, http.StatusServiceUnavailable, status)
	status, _ = ask(t, http.MethodGet, api+"/metrics", "")
	require.Equal(t, http.StatusNotFound, status, "not on the public port")

	status, text := ask(t, http.MethodGet, metrics+"/actuator/prometheus", "")
	require.Equal(t, http.StatusOK, status)
	for _, line := range []string{
		`redis_stream_coord_api_request_total{group="none",method="POST",outcome="CLIENT_ERROR",route="/coord/v1/auth/login",status="401",stream="none"} 1`,
		`redis_stream_coord_api_request_duration_seconds_count{group="none",method="GET",outcome="SERVER_ERROR",` +
			`route="/coord/v1/streams/{streamPrefix}/groups/{consumerGroup}/producer-routing",status="503",stream="none"} 1`,
		`redis_stream_coord_login_refused_total{reason="wrong"} 1`,
		`redis_stream_coord_login_refused_total{reason="locked"} 0`,
		`redis_stream_coord_gateway_refused_total{code="UNAUTHORIZED"} 1`,
		`redis_stream_coord_upstream_failed_total{instance="` + strings.TrimPrefix(cfg.Gateway.Coordinators[0], "http://") + `",service="coordinator"} 1`,
		`redis_stream_coord_audit_sink_up 1`,
		`redis_stream_coord_audit_lost_total 0`,
		`redis_stream_coord_gateway_in_flight{kind="members"} 0`,
	} {
		require.Contains(t, text, line)
	}
	stop()
	require.NoError(t, <-ended)
}

func TestMetricsPortInUseIsAnErrorThatNamesTheSetting(t *testing.T) {
	t.Parallel()
	cfg := development(t)
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", cfg.Gateway.MetricsListen)
	require.NoError(t, err)
	defer taken.Close()
	gateway, err := app.New(t.Context(), cfg, app.Deps{})
	require.NoError(t, err)
	require.ErrorContains(t, gateway.Run(t.Context()), "gateway.metrics-listen")

	_, err = load(t, "coordinator: {gateway: {metrics-listen: nowhere}}", "RSC_API_DEV=true")
	require.ErrorContains(t, err, "gateway.metrics-listen is \"nowhere\"")
	cfg, err = load(t, "coordinator: {metrics-listen: \":9\"}", "RSC_API_DEV=true", "RSC_GATEWAY_METRICS_LISTEN=")
	require.NoError(t, err, "the coordinator's own is ignored, and none is allowed")
	require.Empty(t, cfg.Gateway.MetricsListen)
}
