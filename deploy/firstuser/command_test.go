package firstuser_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/deploy/firstuser"
	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/process"
	gateway "github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
)

const password = "a generated password"

func run(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	var out strings.Builder
	code = process.Run(t.Context(), firstuser.Command, args, process.Streams{Out: &out, Err: &out})
	return code, out.String()
}

func passwordFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// gateway, Authentication: outside of development start-up takes hashed passwords only.
func TestAGatewayStartsWithTheUserThatIsWritten(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "users.yaml")
	code, said := run(t, "--username", "root [", "--password-file", passwordFile(t, password+"\n"), "--out", out)
	require.Zero(t, code, said)

	cfg, err := config.Load(gateway.DefaultConfig(), config.Source{Environ: []string{
		"RSC_API_USERS_FILE=" + out, "RSC_API_TOKEN_SECRET=" + strings.Repeat("s", 32),
	}})
	require.NoError(t, err)
	require.Len(t, cfg.API.Users, 1)
	require.Equal(t, "root [", cfg.API.Users[0].Username)
	require.Equal(t, []string{"ADMIN"}, cfg.API.Users[0].Roles)
	hash, err := auth.ParseHash(cfg.API.Users[0].PasswordHash.Reveal())
	require.NoError(t, err)
	require.True(t, hash.Matches(password))
	written, err := os.ReadFile(out)
	require.NoError(t, err)
	require.NotContains(t, string(written), password)
	info, err := os.Stat(out)
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o007, "nobody else reads it")
}

func TestWhatIsWrongIsNamedAndNoPasswordRepeated(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "users.yaml")
	good := passwordFile(t, password)
	for want, args := range map[string][]string{
		"--password-file and --out":  {"--out", out},
		`--username is ""`:           {"--username=", "--out", out, "--password-file", good},
		`--username is "a:b"`:        {"--username=a:b", "--out", out, "--password-file", good},
		"it must have at least 12":   {"--out", out, "--password-file", passwordFile(t, "hunter2\n")},
		"more than 1024 bytes":       {"--out", out, "--password-file", passwordFile(t, strings.Repeat("hunter2", 200))},
		"no such file":               {"--out", out, "--password-file", good + "x"},
		`unexpected argument "more"`: {"more"},
	} {
		code, said := run(t, args...)
		require.Equal(t, process.Settings, code, said)
		require.Contains(t, said, want)
		require.NotContains(t, said, "hunter2")
		require.NoFileExists(t, out)
	}
	code, said := run(t, "--password-file", good, "--out", filepath.Join(out, "below"))
	require.Equal(t, process.Failed, code, said)
}
