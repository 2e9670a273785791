package settings_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
)

func TestAProcessTellsItsBuildAndSettingsWithoutSecrets(t *testing.T) {
	t.Parallel()
	started := time.Unix(1_800_000_000, 0)
	told := settings.Process(protocol.ServiceMonitor, "host-1", started, struct {
		Redis settings.Redis `koanf:"redis"`
	}{settings.Redis{URL: "redis://ops:hunter2@db", Host: "db"}})
	require.Equal(t, "monitor", told.Service)
	require.Equal(t, "host-1", told.Instance)
	require.Equal(t, settings.Build(), told.Version)
	require.True(t, told.StartedAt.Equal(started))
	require.Equal(t, []protocol.SystemSetting{
		{Key: "redis.url", Value: "********", Masked: true}, {Key: "redis.host", Value: "db"},
	}, told.Configuration[:2])
}

func TestEveryStartHasAnotherName(t *testing.T) {
	t.Parallel()
	first, second := settings.Instance("monitor"), settings.Instance("monitor")
	require.NotEqual(t, first, second)
	require.Equal(t, first[:len(first)-26], second[:len(second)-26])
}
