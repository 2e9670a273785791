package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
)

const secret = "a secret of thirty-two bytes or more"

func load(t *testing.T, yaml string, environ ...string) (app.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rsc.yaml")
	require.NoError(t, os.WriteFile(path, []byte(yaml), 0o600))
	return config.Load(app.DefaultConfig(), config.Source{File: path, Environ: environ, Ignore: app.OtherSections()})
}

// gateway, Authentication: outside of development start-up refuses plain and default
// passwords and short secrets, and says all of it at once.
func TestStartUpRefusesAllThatIsWeakAtOnce(t *testing.T) {
	t.Parallel()
	const weak = `
coordinator:
  api:
    token-secret: short
    previous-token-secret: shorter
    admin-password: hunter2
    users:
      - {username: admin, password: password, roles: [ADMIN]}
      - {username: ops, password: hunter3, roles: [WRITE]}
`
	_, err := load(t, weak)
	require.ErrorIs(t, err, config.ErrInvalid)
	for _, part := range []string{
		"api.token-secret has 5 bytes", "api.previous-token-secret has 7 bytes", "api.admin-password is a plain password",
		"api.users[0] has the password that everybody knows", "api.users[1] has a plain password", "--dev",
	} {
		require.ErrorContains(t, err, part)
	}
	require.NotContains(t, err.Error(), "hunter")

	_, err = load(t, weak, "RSC_API_DEV=true", "RSC_API_ADMIN_USERNAME=root")
	require.NoError(t, err, "development takes it")

	_, err = load(t, "coordinator: {}")
	require.ErrorContains(t, err, "api.users is empty")
	require.ErrorContains(t, err, "api.token-secret has 0 bytes")
}

func TestProductionStartsWithHashesAndASecret(t *testing.T) {
	t.Parallel()
	hash, err := auth.HashPassword("correct horse")
	require.NoError(t, err)
	cfg, err := load(t, `
coordinator:
  listen: ":8081"              # the coordinator's
  store: {type: redis}         # the coordinator's
  gateway: {listen: ":8443"}
  api:
    token-secret: ${TOKEN_SECRET}
    users:
      - {username: ops, password-hash: "`+hash+`", roles: [WRITE], scopes: ["orders*"]}
`, "TOKEN_SECRET="+secret)
	require.NoError(t, err)
	require.Equal(t, ":8443", cfg.Gateway.Listen)
	require.Equal(t, secret, cfg.API.TokenSecret.Reveal())
	require.Len(t, cfg.API.Users, 1)

	var printed strings.Builder
	require.NoError(t, config.Print(&printed, cfg))
	require.NotContains(t, printed.String(), secret)
	require.NotContains(t, printed.String(), hash)
}

func TestEveryWrongSettingIsNamed(t *testing.T) {
	t.Parallel()
	_, err := load(t, `
coordinator:
  gateway: {listen: nowhere, coordinators: ["http://user:hunter2@a", "ftp://b", "http://c/path"], trusted-proxies: [everywhere], max-in-flight: 0}
  api:
    base-path: coord
    token-ttl: 1s
    token-key-file: key.pem
    rate-limit: {store: disk, window: 0s, max-requests: 0}
    users: [{username: ops, password: x, roles: [WRITER]}, {username: "", password: y, roles: [READ], scopes: ["*"]}]
  audit: {sink: paper, on-failure: shrug, buffer: 0, max-records: 0}
  log: {level: loud}
`, "RSC_API_DEV=true")
	require.Error(t, err)
	for _, key := range []string{
		"gateway.listen", "gateway.coordinators", "gateway.trusted-proxies", "gateway.max-in-flight", "api.base-path",
		"api.token-ttl", "api.token-key-file", "api.rate-limit.store", "api.rate-limit.window", "api.rate-limit.max-requests",
		"WRITER", "scope", "audit.sink", "audit.on-failure", "audit.buffer", "audit.max-records", "log.level",
	} {
		require.ErrorContains(t, err, key)
	}
	require.NotContains(t, err.Error(), "hunter2")
}

// gateway, Audit: settings of a database count where the audit is in one, and its password is
// in no text.
func TestTheAuditInPostgresIsCheckedAndItsPasswordMasked(t *testing.T) {
	t.Parallel()
	const wrong = `
coordinator:
  audit:
    sink: SINK
    postgres: {host: "", port: 0, database: "", tls-mode: perhaps, pool-size: -1, password: hunter2}
`
	_, err := load(t, strings.Replace(wrong, "SINK", "postgres", 1), "RSC_API_DEV=true")
	for _, key := range []string{"audit.postgres.host", "audit.postgres.database", "audit.postgres.tls-mode", "audit.postgres.pool-size"} {
		require.ErrorContains(t, err, key)
	}
	require.NotContains(t, err.Error(), "hunter2")
	_, err = load(t, strings.Replace(wrong, "SINK", "log", 1), "RSC_API_DEV=true")
	require.NoError(t, err, "what is not used is not looked at")
	_, err = load(t, strings.Replace(wrong, "SINK", "paper", 1), "RSC_API_DEV=true")
	require.ErrorContains(t, err, "log, redis or postgres")

	cfg, err := load(t, "coordinator: {audit: {sink: postgres}}", "RSC_API_DEV=true", "RSC_AUDIT_POSTGRES_PASSWORD=hunter2",
		"RSC_AUDIT_POSTGRES_URL=postgres://audit:hunter3@db/audit")
	require.NoError(t, err)
	require.Equal(t, "hunter2", cfg.Audit.Postgres.Password.Reveal())
	var printed strings.Builder
	require.NoError(t, config.Print(&printed, cfg))
	require.Contains(t, printed.String(), "postgres")
	require.NotContains(t, printed.String(), "hunter")
}
