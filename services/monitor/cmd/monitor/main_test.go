package main

import (
	"bytes"
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

func runWith(t *testing.T, environ []string, args ...string) ran {
	t.Helper()
	var out, errOut bytes.Buffer
	code := process.Run(t.Context(), command, args, process.Streams{Environ: environ, Out: &out, Err: &errOut})
	return ran{code, out.String(), errOut.String()}
}

func TestHelpTeaches(t *testing.T) {
	t.Parallel()
	got := runWith(t, nil, "--help")
	require.Zero(t, got.code)
	for _, word := range []string{
		"--monitor-listen", "--monitor-coordinator", "--observe-interval", "RSC_REDIS_PASSWORD", "--dev", "--api-jwks-url", "401 UNAUTHORIZED",
	} {
		require.Contains(t, got.out, word)
	}
}

func TestWrongSettingsAreToldAtOnceAndEndWithTwo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "rsc.yaml")
	require.NoError(t, os.WriteFile(path, []byte("coordinator: {observe: {intervall: 1s}}"), 0o600))
	got := runWith(t, []string{"RSC_LOG_LEVEL=loud"}, "--config", path, "--monitor-coordinator", "nowhere")
	require.Equal(t, process.Settings, got.code)
	require.Contains(t, got.err, "observe.intervall is not a known key, the nearest is coordinator.observe.interval")
	require.Contains(t, got.err, "log.level")
	require.Contains(t, got.err, "monitor.coordinator")
	require.Empty(t, got.out)
	for _, args := range [][]string{{"--no-such-flag"}, {"surplus"}, {"--config", "/nowhere"}} {
		require.Equal(t, process.Settings, runWith(t, nil, args...).code, args)
	}
}

func TestPrintedSettingsHideSecrets(t *testing.T) {
	t.Parallel()
	got := runWith(t, []string{"RSC_REDIS_PASSWORD=hunter2", "RSC_OBSERVE_INTERVAL=7s"}, "--print-config")
	require.Zero(t, got.code)
	require.Contains(t, got.out, "interval: 7s")
	require.NotContains(t, got.out, "hunter2")
}
