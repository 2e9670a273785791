package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
)

func TestSettingsAreDescribedWithTheirPlaces(t *testing.T) {
	t.Parallel()
	shown := defaults()
	shown.Redis.Password = "hunter2"
	described := config.Describe(shown)
	require.Equal(t, config.Setting{
		Key: "redis.host", Variable: "RSC_REDIS_HOST", Flag: "redis-host", Kind: "text", Default: "127.0.0.1", Usage: "name of the host",
	}, described[0])
	require.Equal(t, config.Setting{
		Key: "redis.password", Variable: "RSC_REDIS_PASSWORD", Kind: "secret", Default: "********", Usage: "password",
	}, described[2], "a secret has no flag and is not shown")
	require.Equal(t, []string{"true|false", "list", "duration"}, []string{described[3].Kind, described[4].Kind, described[5].Kind})
	require.Equal(t, "1s", described[5].Default)
}

func TestATableIsDescribedWithItsElements(t *testing.T) {
	t.Parallel()
	described := config.Describe(oneUser())
	require.Equal(t, "RSC_API_USERS_FILE", described[0].Variable, "it comes from a file of its own only")
	require.Equal(t, []string{"table", "", ""}, []string{described[0].Kind, described[0].Flag, described[0].Default})
	require.NotEmpty(t, described[0].Elements)
	require.Equal(t, "username", described[0].Elements[0].Key)
}
