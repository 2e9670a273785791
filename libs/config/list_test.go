package config_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
)

func TestSettingsAreListedInTheOrderOfTheStruct(t *testing.T) {
	t.Parallel()
	shown := defaults()
	shown.Redis.Seeds = []string{"a:1", "b:2"}
	require.Equal(t, []config.Entry{
		{Key: "redis.host", Value: "127.0.0.1"},
		{Key: "redis.port", Value: "6379"},
		{Key: "redis.password"},
		{Key: "redis.tls", Value: "false"},
		{Key: "redis.seeds", Value: "a:1,b:2"},
		{Key: "event-loop.interval", Value: "1s"},
		{Key: "api.base-path", Value: "/coord/v1"},
	}, config.List(shown))
}

// gateway, Audit: never a password; the same holds for what the system page shows.
func TestSecretsAreNotListed(t *testing.T) {
	t.Parallel()
	shown := defaults()
	shown.Redis.Password = "hunter2"
	shown.Redis.Host = "redis://ops:hunter2@db:6379/0"
	shown.Redis.Seeds = []string{"http://ops:hunter2", "hunter2@a:1", "http://b"} // a comma in a password
	shown.API.BasePath = "https://receiver/v1?token=hunter2"
	listed := config.List(shown)
	require.NotContains(t, fmt.Sprint(listed), "hunter2")
	byKey := map[string]config.Entry{}
	for _, entry := range listed {
		byKey[entry.Key] = entry
	}
	require.Equal(t, config.Entry{Key: "redis.password", Value: "********", Masked: true}, byKey["redis.password"])
	require.Equal(t, config.Entry{Key: "redis.host", Value: "redis://********@db:6379/0", Masked: true}, byKey["redis.host"])
	require.Equal(t, config.Entry{Key: "redis.seeds", Value: "http://********@a:1,http://b", Masked: true}, byKey["redis.seeds"])
	require.Equal(t, config.Entry{Key: "api.base-path", Value: "https://receiver/v1?********", Masked: true}, byKey["api.base-path"])
}

func TestPartsOfURLsThatAreNoCredentialsAreListed(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"http://a:8081,http://b:8081": "http://a:8081,http://b:8081", "ops@example.com": "ops@example.com", "://": "://", "": "",
		"http://u@a": "http://********@a", "x?y": "x?y", "http://u:p/w?q#@a?b@c": "http://********@c", "http://a?": "http://a?********",
		"a, http://u:p@b, http://u:p@c/d": "a, http://********@c/d",
	} {
		shown := defaults()
		shown.Redis.Host = given
		entry := config.List(shown)[0]
		require.Equal(t, want, entry.Value)
		require.Equal(t, want != given, entry.Masked, given)
	}
}

func TestUsersAreListedAsOneThatIsMasked(t *testing.T) {
	t.Parallel()
	with := oneUser()
	with.API.Users = append(with.API.Users, user{Username: "hunter2", Roles: []string{"READ"}, Life: time.Hour})
	without := oneUser()
	without.API.Users = nil
	for _, shown := range []withUsers{with, without} {
		require.Equal(t, []config.Entry{{Key: "api.users", Value: "********", Masked: true}, {Key: "api.port", Value: "8082"}}, config.List(shown))
	}
}
