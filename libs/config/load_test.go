package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
)

type settings struct {
	Redis struct {
		Host     string        `koanf:"host" usage:"name of the host"`
		Port     int           `koanf:"port" usage:"TCP port"`
		Password config.Secret `koanf:"password" usage:"password"`
		TLS      bool          `koanf:"tls" usage:"encrypt"`
		Seeds    []string      `koanf:"seeds" usage:"nodes of a cluster"`
	} `koanf:"redis"`
	Loop struct {
		Interval time.Duration `koanf:"interval" usage:"pause between ticks"`
	} `koanf:"event-loop"`
	API struct {
		BasePath string `koanf:"base-path" usage:"prefix of all paths"`
	} `koanf:"api"`
}

func (s settings) Validate() error {
	var problems []error
	if s.Redis.Port < 1 {
		problems = append(problems, errors.New("redis.port is below 1"))
	}
	if s.Loop.Interval <= 0 {
		problems = append(problems, errors.New("event-loop.interval is not above 0"))
	}
	return errors.Join(problems...)
}

func defaults() settings {
	var s settings
	s.Redis.Host, s.Redis.Port, s.Loop.Interval, s.API.BasePath = "127.0.0.1", 6379, time.Second, "/coord/v1"
	return s
}

func file(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600))
	return path
}

func flags(t *testing.T, args ...string) *pflag.FlagSet {
	t.Helper()
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.Flags(set, defaults())
	require.NoError(t, set.Parse(args))
	return set
}

func TestNothingGivenLeavesTheDefaults(t *testing.T) {
	t.Parallel()
	got, err := config.Load(defaults(), config.Source{Flags: flags(t)})
	require.NoError(t, err)
	require.Equal(t, defaults(), got)
}

func TestFileEnvironmentAndFlagsWinInThisOrder(t *testing.T) {
	t.Parallel()
	path := file(t, "coordinator:", "  redis: {host: file, port: 1, tls: true, seeds: [a, b]}", "  event-loop: {interval: 5s}")
	source := config.Source{File: path}
	got, err := config.Load(defaults(), source)
	require.NoError(t, err)
	require.Equal(t, "file", got.Redis.Host)
	require.Equal(t, 1, got.Redis.Port)
	require.True(t, got.Redis.TLS)
	require.Equal(t, []string{"a", "b"}, got.Redis.Seeds)
	require.Equal(t, 5*time.Second, got.Loop.Interval)
	require.Equal(t, "/coord/v1", got.API.BasePath)

	source.Environ = []string{"RSC_REDIS_HOST=environment", "RSC_REDIS_PORT=2", "RSC_EVENT_LOOP_INTERVAL=250ms", "RSC_REDIS_SEEDS=c, d"}
	got, err = config.Load(defaults(), source)
	require.NoError(t, err)
	require.Equal(t, "environment", got.Redis.Host)
	require.Equal(t, 2, got.Redis.Port)
	require.Equal(t, 250*time.Millisecond, got.Loop.Interval)
	require.Equal(t, []string{"c", "d"}, got.Redis.Seeds)

	source.Flags = flags(t, "--redis-host=flag", "--redis-tls=false")
	got, err = config.Load(defaults(), source)
	require.NoError(t, err)
	require.Equal(t, "flag", got.Redis.Host)
	require.Equal(t, 2, got.Redis.Port)
	require.False(t, got.Redis.TLS)
}

func TestEveryProblemOfEveryLayerIsToldAtOnce(t *testing.T) {
	t.Parallel()
	path := file(
		t, "observe: {x: 1}", "reddis: {host: x}", "coordinator:", "  redsi: {host: x}", "  redis: {hots: x, port: many, password: 0123}",
		"  event-loop: {interval: 10}", "  audit: {sink: redis}", "  api: {users: [], base-path: [/x]}",
	)
	_, err := config.Load(defaults(), config.Source{
		File: path, Environ: []string{"RSC_REDIS_PROT=1", "RSC_REDIS_TLS=perhaps", "RSC_AUDIT_SINK=none", "RSC_AUDITS=x", "RSC_LISTEN=:1", "OTHER=1"},
		Ignore: []string{"observe", "audit", "api", "listen"},
	})
	require.ErrorIs(t, err, config.ErrInvalid)
	require.ElementsMatch(t, []string{
		"configuration is not valid:",
		"reddis is not a known key, the nearest is coordinator.redis",
		"coordinator.redis.hots is not a known key, the nearest is coordinator.redis.host",
		"coordinator.redsi is not a known key, the nearest is coordinator.redis",
		"the variable RSC_REDIS_PROT stands for no known key, the nearest is RSC_REDIS_PORT",
		"the variable RSC_AUDITS stands for no known key, the nearest is RSC_REDIS_TLS",
		"redis.port must be a whole number",
		"redis.password must be one text; put numbers and the like in quotes",
		"redis.tls must be true or false",
		"event-loop.interval must be a duration with a unit, such as 500ms or 10s",
		"api.base-path must be one text; put numbers and the like in quotes",
	}, strings.Split(err.Error(), "\n"))
}

func TestValidateIsAskedAlsoWhenValuesCannotBeRead(t *testing.T) {
	t.Parallel()
	_, err := config.Load(defaults(), config.Source{Environ: []string{"RSC_REDIS_PORT=0", "RSC_EVENT_LOOP_INTERVAL=0s", "RSC_REDIS_TLS=x"}})
	require.ErrorContains(t, err, "redis.tls must be true or false")
	require.ErrorContains(t, err, "redis.port is below 1")
	require.ErrorContains(t, err, "event-loop.interval is not above 0")
}

func TestFilesRefersToTheEnvironment(t *testing.T) {
	t.Parallel()
	path := file(
		t, "coordinator:", "  redis:", "    host: ${REDIS_HOST:localhost}", "    port: ${REDIS_PORT:7000}",
		"    password: ${REDIS_PASSWORD:}", "  api: {token: '${NOT_OURS}'}",
	)
	got, err := config.Load(defaults(), config.Source{File: path, Environ: []string{"REDIS_HOST=db"}, Ignore: []string{"api"}})
	require.NoError(t, err)
	require.Equal(t, "db", got.Redis.Host)
	require.Equal(t, 7000, got.Redis.Port)
	require.Empty(t, got.Redis.Password)

	path = file(t, "coordinator: {redis: {host: '${NOWHERE}'}}")
	_, err = config.Load(defaults(), config.Source{File: path})
	require.ErrorContains(t, err, "redis.host refers to the variable NOWHERE, which is not set")
}

func TestSecretsComeFromFilesAndAreNeverShown(t *testing.T) {
	t.Parallel()
	path := file(t, "hunter2", "")
	got, err := config.Load(defaults(), config.Source{Environ: []string{"RSC_REDIS_PASSWORD_FILE=" + path}})
	require.NoError(t, err)
	require.Equal(t, "hunter2", got.Redis.Password.Reveal())
	var printed strings.Builder
	require.NoError(t, config.Print(&printed, got))
	require.Contains(t, printed.String(), "host: 127.0.0.1")
	require.Contains(t, printed.String(), "interval: 1s")
	for _, text := range []string{printed.String(), fmt.Sprintf("%v %+v %#v %s", got, got, got, got.Redis.Password)} {
		require.NotContains(t, text, "hunter2")
		require.Contains(t, text, "****")
	}
	require.Nil(t, flags(t).Lookup("redis-password"), "command lines are seen by everybody")
	require.Equal(t, [][2]string{{"RSC_REDIS_PASSWORD", "password"}}, config.Secrets(defaults()))

	_, err = config.Load(defaults(), config.Source{Environ: []string{"RSC_REDIS_PASSWORD_FILE=" + path, "RSC_REDIS_PASSWORD=x"}})
	require.ErrorContains(t, err, "RSC_REDIS_PASSWORD and RSC_REDIS_PASSWORD_FILE are both set")
	_, err = config.Load(defaults(), config.Source{Environ: []string{"RSC_REDIS_PASSWORD_FILE=/nowhere/at/all"}})
	require.ErrorContains(t, err, "RSC_REDIS_PASSWORD_FILE")
	_, err = config.Load(defaults(), config.Source{Environ: []string{"RSC_REDIS_HOST_FILE=" + path}})
	require.Error(t, err, "only secrets come from files")
}

func TestServiceLinksOfKubernetesAreNoSettings(t *testing.T) {
	t.Parallel()
	got, err := config.Load(defaults(), config.Source{Environ: []string{
		"RSC_REDIS_PORT=tcp://10.0.0.1:6379", "RSC_REDIS_SERVICE_HOST=10.0.0.1", "RSC_REDIS_SERVICE_PORT=6379",
		"RSC_REDIS_SERVICE_PORT_REDIS=6379", "RSC_REDIS_PORT_6379_TCP_ADDR=10.0.0.1", "RSC_TEST_REDIS=process",
	}})
	require.NoError(t, err)
	require.Equal(t, defaults(), got)
}

func TestHelpTellsMeaningVariableAndDefault(t *testing.T) {
	t.Parallel()
	help := flags(t).FlagUsages()
	require.Regexp(t, `--redis-host text +name of the host \(RSC_REDIS_HOST\) \(default 127.0.0.1\)`, help)
	require.Regexp(t, `--event-loop-interval duration +pause between ticks \(RSC_EVENT_LOOP_INTERVAL\) \(default 1s\)`, help)
}

func TestFileThatIsNoneIsAProblem(t *testing.T) {
	t.Parallel()
	_, err := config.Load(defaults(), config.Source{File: "/nowhere/at/all"})
	require.ErrorIs(t, err, os.ErrNotExist)
	for _, text := range []string{"\t", "- a", "coordinator: 5", "coordinator: {redis: 5}", "coordinator: {redis: {host: {a: 1}}}"} {
		_, err := config.Load(defaults(), config.Source{File: file(t, text)})
		require.ErrorIs(t, err, config.ErrInvalid, "%q", text)
	}
	for _, text := range []string{"", "# nothing", "coordinator:", "coordinator: {redis: }"} {
		_, err := config.Load(defaults(), config.Source{File: file(t, text)})
		require.NoError(t, err, "%q", text)
	}
}

func FuzzFileNeverPanics(f *testing.F) {
	f.Add([]byte("coordinator: {redis: {host: '${A:b}', port: 1, seeds: [x]}, event-loop: {interval: 1s}}"))
	f.Add([]byte("coordinator: &a {redis: *a}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		if _, err := config.Load(defaults(), config.Source{File: path}); err != nil {
			require.ErrorIs(t, err, config.ErrInvalid)
		}
	})
}
