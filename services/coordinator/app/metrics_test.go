package app_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

// scraped returns what a scrape of the coordinator shows.
func scraped(c *coordinator) string {
	c.t.Helper()
	answer := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(c.t.Context(), http.MethodGet, "/actuator/prometheus", nil)
	telemetry.Handler(c.app.Metrics()).ServeHTTP(answer, request)
	require.Equal(c.t, http.StatusOK, answer.Code)
	return answer.Body.String()
}

// shows waits until a scrape has, or has not, a line that matches.
func shows(c *coordinator, want bool, line string) {
	c.t.Helper()
	pattern := regexp.MustCompile(line)
	require.Eventuallyf(c.t, func() bool { return pattern.MatchString(scraped(c)) == want }, patience, interval, "%s: %v", line, want)
}

// monitor, Prometheus: a coordinator counts its own work, and a group that is deleted by any
// coordinator takes its series along.
func TestScrapeShowsWhatTheCoordinatorHasDone(t *testing.T) {
	t.Parallel()
	redis := redisproc.Start(t)
	c, other := start(t, settings(redis), app.Deps{}), start(t, settings(redis), app.Deps{})
	c.createOrders("billing", "shipping")
	a, b := newMember("ma", ordersURL), newMember("mb", ordersURL)
	settle(c, a, b)
	shows(c, true, `redis_stream_coord_up{coordinator="`+c.app.ID()+`"} 1`)
	shows(c, true, `heartbeat_total{coordinator="[^"]+",group="billing",status="OK",stream="orders"} [1-9]`)
	shows(c, true, `rebalance_total{coordinator="[^"]+",group="billing",reason="reconcile",stream="orders"} [1-9]`)
	shows(c, true, `rebalance_duration_seconds_max{coordinator="[^"]+",group="billing",reason="reconcile",stream="orders"} `)
	shows(c, true, `tick_total{changed="false",coordinator="[^"]+"} [1-9]`)
	shows(c, true, `state_commit_total{coordinator="[^"]+",operation="touch"} [1-9]`)
	shows(c, true, `heartbeat_batch_size_count{coordinator="[^"]+"} [1-9]`)

	// Nobody is heard any more; whichever coordinator is faster notices.
	expired := regexp.MustCompile(`member_expired_total{coordinator="[^"]+",group="billing",stream="orders"} [12]\n`)
	require.Eventually(t, func() bool { return expired.MatchString(scraped(c) + scraped(other)) }, patience, interval)

	// A verdict is counted as it was given.
	fenced := newMember("ma", ordersURL)
	fenced.epoch = 1
	said := fenced.beat(c)
	require.NotEqual(t, protocol.StatusOK, said.Status)
	shows(c, true, `heartbeat_total{coordinator="[^"]+",group="billing",status="`+string(said.Status)+`",stream="orders"} 1\n`)

	status, _ := c.call("GET", ordersURL+"/producer-routing", nil, nil)
	require.Equal(t, http.StatusOK, status)
	status, _ = c.call("GET", "/coord/v1/streams/orders/groups/nobody/producer-routing", nil, nil)
	require.Equal(t, http.StatusNotFound, status)
	shows(c, true, `producer_routing_request_total{coordinator="[^"]+",group="billing",status="SUCCESS",stream="orders"} 1`)
	shows(c, true, `producer_routing_request_total{coordinator="[^"]+",group="none",status="ERROR",stream="none"} 1`)

	for _, tag := range []string{`"of before"`, "*"} { // the second is the present one, whatever it is
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url+ordersURL+"/producer-routing", nil)
		require.NoError(t, err)
		request.Header.Set("If-None-Match", tag)
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
	}
	shows(c, true, `producer_routing_stale_total{coordinator="[^"]+",group="billing",stream="orders"} 1\n`)

	for _, group := range []string{"billing", "shipping"} {
		status, _ = other.call("GET", "/coord/v1/streams/orders/groups/"+group+"/producer-routing", nil, nil)
		require.Equal(t, http.StatusOK, status)
	}
	shows(other, true, `group="billing"`)
	status, _ = c.call("DELETE", ordersURL, protocol.DeleteRequest{RequestedBy: "test", Reason: "over", Force: true}, nil)
	require.Equal(t, http.StatusOK, status)
	shows(c, false, `group="billing"`)
	shows(other, false, `group="billing"`)
	shows(other, true, `group="shipping"`)
}

// protocol M1: a member that follows a version that the store does not have is counted, and the
// round that it opens.
func TestMemberAheadOfTheStoreIsCountedWithItsRound(t *testing.T) {
	t.Parallel()
	c := start(t, settings(redisproc.Start(t)), app.Deps{})
	c.createOrders("billing")
	a := newMember("ma", ordersURL)
	settle(c, a)
	shows(c, false, `client_ahead_total{`)
	a.version += 5
	require.NotEqual(t, protocol.StatusOK, a.beat(c).Status)
	shows(c, true, `client_ahead_total{coordinator="[^"]+",group="billing",stream="orders"} 1\n`)
	shows(c, true, `correction_round_total{coordinator="[^"]+",group="billing",stream="orders"} 1\n`)
	shows(c, true, `group_change_total{cause="CORRECTION",coordinator="[^"]+",group="billing",stream="orders"} 1\n`)
}

func TestDegradedCoordinatorSaysSo(t *testing.T) {
	t.Parallel()
	redis := redisproc.Start(t)
	c := start(t, settings(redis), app.Deps{})
	shows(c, true, `redis_stream_coord_up{[^}]+} 1`)
	redis.Kill()
	shows(c, true, `redis_stream_coord_up{[^}]+} 0`)
}

func TestRunServesMetricsAndNamesTheSettingOfAPortInUse(t *testing.T) {
	t.Parallel()
	used, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer used.Close()
	cfg := app.DefaultConfig()
	cfg.Listen, cfg.MetricsListen = "127.0.0.1:0", used.Addr().String()
	cfg.Store.Type, cfg.Provisioning.Enabled = app.StoreMemory, false
	taken, err := app.New(t.Context(), cfg, app.Deps{})
	require.NoError(t, err)
	require.ErrorContains(t, taken.Run(t.Context()), "metrics-listen: listen tcp "+cfg.MetricsListen)

	var log lines
	cfg.MetricsListen = "127.0.0.1:0"
	running, err := app.New(t.Context(), cfg, app.Deps{Logger: log.logger()})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- running.Run(ctx) }()
	serving, said := regexp.MustCompile(`msg="serving metrics" address=(\S+)`), ""
	require.Eventually(t, func() bool {
		said += log.take()
		return serving.MatchString(said)
	}, patience, interval)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	url := "http://" + serving.FindStringSubmatch(said)[1] + "/metrics"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	response, err := client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Contains(t, string(text), `redis_stream_coord_up{coordinator="`+running.ID()+`"}`)
	require.Contains(t, string(text), `redis_stream_coord_build_info`)
	stop()
	require.NoError(t, <-ended)
}
