package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ran is what a command line did.
type ran struct {
	code     int
	out, err string
}

func runWith(ctx context.Context, environ []string, args ...string) ran {
	var out, errOut bytes.Buffer
	streams := process.Streams{Environ: environ, Out: &out, Err: &errOut}
	code := process.Run(ctx, command, args, streams)
	return ran{code, out.String(), errOut.String()}
}

func TestHelpTeachesPlacesSecretsAndExitCodes(t *testing.T) {
	t.Parallel()
	got := runWith(t.Context(), nil, "--help")
	require.Zero(t, got.code)
	for _, word := range []string{
		"--redis-host", "RSC_REDIS_HOST", "RSC_REDIS_PASSWORD", "_FILE", "COORDINATOR_TERMINATING", "2 when the settings are wrong",
		"--print-config", "(default 127.0.0.1)", "--dev", "--api-jwks-url", "401 UNAUTHORIZED",
	} {
		require.Contains(t, got.out, word)
	}
}

func TestWrongSettingsAreToldAtOnceAndEndWithTwo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "rsc.yaml")
	require.NoError(t, os.WriteFile(path, []byte("coordinator: {store: {typ: redis}}"), 0o600))
	got := runWith(t.Context(), []string{"RSC_LOG_LEVEL=loud"}, "--config", path, "--coordination-rebalance-timeout", "15s")
	require.Equal(t, process.Settings, got.code)
	require.Contains(t, got.err, "coordinator.store.typ is not a known key, the nearest is coordinator.store.type")
	require.Contains(t, got.err, "log.level")
	require.Contains(t, got.err, "coordination.rebalance-timeout")
	require.Contains(t, got.err, "--help")
	require.Empty(t, got.out)
	for _, args := range [][]string{{"--no-such-flag"}, {"surplus"}, {"--config", "/nowhere"}} {
		require.Equal(t, process.Settings, runWith(t.Context(), nil, args...).code, args)
	}
}

func TestPrintedSettingsHideSecrets(t *testing.T) {
	t.Parallel()
	got := runWith(t.Context(), []string{"RSC_REDIS_PASSWORD=hunter2", "RSC_REDIS_URL=redis://u:hunter2@db"}, "--print-config")
	require.Zero(t, got.code)
	require.NotContains(t, got.out, "hunter2")
	require.Contains(t, got.out, "member-lease-ttl: 10s")
}

func TestVersionIsPrinted(t *testing.T) {
	t.Parallel()
	got := runWith(t.Context(), nil, "--version")
	require.Zero(t, got.code)
	require.Regexp(t, `^coordinator \S+ \(commit \S+, go1\.\S+\)\n$`, got.out)
}

func TestAddressInUseEndsWithOne(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(errors.New("over"))
	got := runWith(ctx, nil, "--listen", "192.0.2.1:1", "--store-type", "memory", "--provisioning-enabled=false")
	require.Equal(t, process.Failed, got.code)
	require.Contains(t, got.err, "listen on 192.0.2.1:1")
}

func TestDevIsTheShortNameOfItsSetting(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		environ []string
		args    []string
		want    string
	}{
		{nil, nil, "dev: false"},
		{nil, []string{"--dev"}, "dev: true"},
		{nil, []string{"--api-dev"}, "dev: true"},
		{[]string{"RSC_API_DEV=true"}, nil, "dev: true"},
		{[]string{"RSC_API_DEV=true"}, []string{"--dev=false"}, "dev: false"},
	} {
		got := runWith(t.Context(), one.environ, append(one.args, "--print-config")...)
		require.Zero(t, got.code, got.err)
		require.Contains(t, got.out, one.want, "%v", one)
	}
}

func TestMembersCannotBeAskedForTokensThatNobodyCanVerify(t *testing.T) {
	t.Parallel()
	got := runWith(t.Context(), nil, "--api-authenticate-member-api", "--store-type", "memory", "--provisioning-enabled=false")
	require.Equal(t, process.Settings, got.code)
	require.Contains(t, got.err, "api.authenticate-member-api needs api.jwks-url")
}
