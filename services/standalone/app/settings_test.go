package app

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRedisIsBroughtOnlyWhereNothingIsSaidAboutOne(t *testing.T) {
	t.Parallel()
	for _, given := range []struct {
		environ []string
		brings  bool
		host    string
		port    int
	}{
		{nil, true, "127.0.0.1", 6379},
		{[]string{"RSC_LISTEN=127.0.0.1:0", "RSC_METRICS_LISTEN="}, true, "127.0.0.1", 6379},
		{[]string{"RSC_GATEWAY_LISTEN=127.0.0.1:0"}, true, "127.0.0.1", 6379},
		{[]string{"RSC_REDIS_HOST=127.0.0.1"}, false, "127.0.0.1", 6379},
		{[]string{"RSC_REDIS_PORT=7000"}, false, "127.0.0.1", 7000},
		{[]string{"RSC_REDIS_PASSWORD=x", "RSC_REDIS_HOST=db"}, false, "db", 6379},
		{[]string{"RSC_REDIS_URL=redis+cluster://a,b"}, false, "", 0},
	} {
		settings, err := LoadSettings("", given.environ)
		require.NoError(t, err)
		require.Equal(t, given.brings, settings.bringsRedis(), "%v", given.environ)
		parts := settings.resolved()
		require.Equal(t, parts.Coordinator.Redis, parts.Gateway.Redis)
		require.Equal(t, parts.Coordinator.Redis, parts.Monitor.Redis)
		require.Equal(t, given.host, parts.Coordinator.Redis.Host, "%v", given.environ)
		require.Equal(t, given.port, parts.Coordinator.Redis.Port, "%v", given.environ)
		require.False(t, settings.WithRedis("redis://other").bringsRedis())
	}
}
