package app_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

// Storage design, the steady heartbeat: one script call each, nothing beside it, and no
// field of the aggregate inside.
func TestSteadyHeartbeatIsOneScriptThatReadsNoAggregate(t *testing.T) {
	t.Parallel()
	redis := redisproc.Start(t)
	cfg := app.DefaultConfig()       // the timing of production
	cfg.Provisioning.Enabled = false // who drives reshardings looks through the streams now and then
	cfg.API.Dev = true
	cfg.Redis.URL = config.Secret(redis.URL())
	c := start(t, cfg, app.Deps{})
	c.createOrders("billing")
	a, b := newMember("ma", ordersURL), newMember("mb", ordersURL)
	settle(c, a, b)

	lines := watch(t, redis, func() {
		for range 25 {
			require.Equal(t, "OK", string(a.beat(c).Status))
			require.Equal(t, "OK", string(b.beat(c).Status))
		}
	})
	calls, inside := 0, 0
	for _, line := range lines {
		if strings.Contains(line, ":coordinators") {
			continue // that it is there is announced now and then, whoever reports
		}
		if strings.Contains(line, " lua] ") {
			inside++
			require.NotContains(t, line, `"aggregate"`)
			require.NotContains(t, strings.ToUpper(line), `"HGETALL"`)
			continue
		}
		require.Contains(t, strings.ToLower(line), `] "evalsha" `)
		calls++
	}
	require.Equal(t, 50, calls)
	require.GreaterOrEqual(t, inside, 100, "the watch sees what a script does")
}

// watch returns what MONITOR shows of the server while during runs.
func watch(t *testing.T, redis *redisproc.Server, during func()) []string {
	t.Helper()
	marker := redis.Client(t)
	require.NoError(t, marker.Ping(t.Context()).Err(), "its greeting is over before the watch begins")
	spy, err := new(net.Dialer).DialContext(t.Context(), "tcp", redis.Addr())
	require.NoError(t, err)
	defer spy.Close()
	require.NoError(t, spy.SetDeadline(time.Now().Add(patience)))
	_, err = io.WriteString(spy, "MONITOR\r\n")
	require.NoError(t, err)
	shown := bufio.NewScanner(spy)
	require.True(t, shown.Scan())
	require.Equal(t, "+OK", shown.Text())

	during()
	require.NoError(t, marker.Echo(t.Context(), "end").Err())
	var lines []string
	for shown.Scan() && !strings.Contains(shown.Text(), `"echo" "end"`) {
		lines = append(lines, shown.Text())
	}
	require.NoError(t, shown.Err())
	return lines
}
