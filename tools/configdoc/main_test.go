package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/config"
	gateway "github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
	coordinator "github.com/redis-stream-coordinator/rsc/services/coordinator/app"
	monitor "github.com/redis-stream-coordinator/rsc/services/monitor/app"
	console "github.com/redis-stream-coordinator/rsc/web/app"
)

// committed is where the files are that people read.
var committed = filepath.Join("..", "..", "docs")

func TestTheCommittedFilesAreThoseThatAreWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.Zero(t, run([]string{"-out", dir}, io.Discard))
	for _, name := range []string{pageName, exampleName} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(committed, name))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), "a setting is there and not told, or told and gone: run make generate")
	}
	require.NotZero(t, run([]string{"-out", filepath.Join(dir, pageName)}, io.Discard))
	require.Equal(t, 2, run([]string{"-nothing"}, io.Discard))
}

// loads requires that the example gives a service its defaults.
func loads[T config.Validator](t *testing.T, defaults T, ignore []string, environ ...string) T {
	t.Helper()
	got, err := config.Load(defaults, config.Source{File: filepath.Join(committed, exampleName), Environ: environ, Ignore: ignore})
	require.NoError(t, err)
	return got
}

// architecture, Configuration: one file may serve all.
func TestTheExampleIsWhatEveryServiceHasWithoutAFile(t *testing.T) {
	t.Parallel()
	require.Equal(t, config.List(coordinator.DefaultConfig()), config.List(loads(t, coordinator.DefaultConfig(), coordinator.OtherSections())))
	require.Equal(t, config.List(monitor.DefaultConfig()), config.List(loads(t, monitor.DefaultConfig(), monitor.OtherSections())))
	require.Equal(t, config.List(console.DefaultConfig()), config.List(loads(t, console.DefaultConfig(), console.OtherSections())))

	hash, err := auth.HashPassword("a password that nobody guesses")
	require.NoError(t, err)
	users := filepath.Join(t.TempDir(), "users.yaml")
	require.NoError(t, os.WriteFile(users, []byte("- {username: ops, password-hash: '"+hash+"', roles: [WRITE]}\n"), 0o600))
	secret := "a secret of more than thirty-two bytes"
	want := gateway.DefaultConfig()
	got := loads(t, want, gateway.OtherSections(), "RSC_API_TOKEN_SECRET="+secret, "RSC_API_USERS_FILE="+users)
	require.Len(t, got.API.Users, 1)
	want.API.TokenSecret = config.Secret(secret)
	require.Equal(t, config.List(want), config.List(got))
}

// What is commented out is as right as the rest.
func TestTheExampleIsTakenWithItsSecretsToo(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(committed, exampleName))
	require.NoError(t, err)
	var all strings.Builder
	for line := range strings.Lines(string(text)) {
		margin, rest, isComment := strings.Cut(line, "# ")
		if isComment && strings.TrimSpace(margin) == "" && (strings.HasSuffix(rest, ": \"\"\n") || strings.HasPrefix(rest, "users:") || strings.HasPrefix(rest, "  ")) {
			line = margin + rest
		}
		all.WriteString(line)
	}
	file := filepath.Join(t.TempDir(), exampleName)
	require.NoError(t, os.WriteFile(file, []byte(all.String()), 0o600))
	_, err = config.Load(gateway.DefaultConfig(), config.Source{File: file, Ignore: gateway.OtherSections()})
	require.ErrorIs(t, err, config.ErrInvalid, "a gateway has no secret and no user yet")
	require.NotContains(t, err.Error(), "is not a known key")
	require.Contains(t, err.Error(), "api.users")
	_, err = config.Load(coordinator.DefaultConfig(), config.Source{File: file, Ignore: coordinator.OtherSections()})
	require.NoError(t, err)
}

func TestThePageHasEverySettingWithItsPlaces(t *testing.T) {
	t.Parallel()
	text := page(merged(services()))
	for _, s := range services() {
		for _, one := range s.settings {
			require.Contains(t, text, "| `"+one.Key+"`<br>`"+one.Variable, s.name)
			require.NotEmpty(t, one.Usage, one.Key)
		}
	}
	for _, row := range []string{
		"| `redis.host`<br>`RSC_REDIS_HOST`<br>`--redis-host` | text | `127.0.0.1` | coordinator, gateway, monitor | host of a single Redis |",
		"| `redis.password`<br>`RSC_REDIS_PASSWORD`<br>`RSC_REDIS_PASSWORD_FILE` | secret | empty |",
		"| `api.token-ttl`<br>`RSC_API_TOKEN_TTL`<br>`--api-token-ttl` | duration | `168h` | gateway |",
		"| `api.users`<br>`RSC_API_USERS_FILE` | table | empty | gateway |",
		"| `api.users[].roles` | list |",
	} {
		require.Contains(t, text, row)
	}
}

func TestDurationsAreShort(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{"168h0m0s": "168h", "1h30m0s": "1h30m", "10m0s": "10m", "10s": "10s", "0s": "0s", "1m30s": "1m30s", "100h0m10s": "100h0m10s"} {
		require.Equal(t, want, short("duration", given))
	}
	require.Equal(t, "m0s", short("text", "m0s"))
}
