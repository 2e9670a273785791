package app_test

import (
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	place "github.com/redis-stream-coordinator/rsc/libs/settings"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

// storage, Failure: NOPERM is a state with a name. Who may not even log in is told so, without
// the password.
func TestACoordinatorThatMayNotLogInSaysSo(t *testing.T) {
	t.Parallel()
	redis := redisproc.Start(t)
	host, portText, err := net.SplitHostPort(redis.Addr())
	require.NoError(t, err)
	port, err := strconv.Atoi(portText)
	require.NoError(t, err)
	cfg := settings(redis)
	cfg.Redis = place.Redis{Host: host, Port: port, Username: "rsc-coordinator", Password: config.Secret("canary-password")}
	var log lines
	c := start(t, cfg, app.Deps{Logger: log.logger()})
	require.Eventually(t, func() bool { // a probe may also run out of its time
		return strings.Contains(strings.Join(c.health().Problems, " "), "WRONGPASS")
	}, patience, interval)
	require.Equal(t, protocol.HealthDegraded, c.health().Status)
	require.Equal(t, protocol.CodeStoreUnavailable, c.refused("GET", "/readyz", nil, http.StatusServiceUnavailable))
	require.Contains(t, strings.Join(c.health().Problems, " "), "redis.username")

	require.NoError(t, redis.Client(t).Do(t.Context(), "ACL", "SETUSER", "rsc-coordinator", "on", ">canary-password", "~*", "+@all").Err())
	ready(c)
	require.NotContains(t, log.take(), "canary-password")
}
