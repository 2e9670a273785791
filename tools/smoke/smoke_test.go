package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/process"
)

// ran carries a command line out.
func ran(t *testing.T, args ...string) (code int, out, failure string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = process.Run(t.Context(), command, args, process.Streams{Out: &stdout, Err: &stderr})
	return code, stdout.String(), stderr.String()
}

func TestHelpTeachesWhatIsTriedAndTheExitCodes(t *testing.T) {
	t.Parallel()
	code, out, _ := ran(t, "--help")
	require.Zero(t, code)
	for _, word := range []string{"--smoke-timeout", "RSC_CLIENT_PASSWORD", "docker compose run --rm smoke", "1 when a step failed"} {
		require.Contains(t, out, word)
	}
}

func TestWrongSettingsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	for _, wrong := range []struct{ flag, value, told string }{
		{"--smoke-task", "dance", "smoke.task"},
		{"--smoke-stream", "a b", "smoke.stream"},
		{"--smoke-group", "", "smoke.group"},
		{"--smoke-members", "0", "smoke.members"},
		{"--smoke-timeout", "0s", "smoke.timeout"},
		{"--smoke-prometheus", "here", "smoke.prometheus"},
		{"--client-url", "", "client.url"},
	} {
		code, out, failure := ran(t, wrong.flag, wrong.value)
		require.Equal(t, process.Settings, code, "%v", wrong)
		require.Contains(t, failure, wrong.told)
		require.Empty(t, out)
	}
}

func TestASuiteThatDoesNotAnswerFailsAtTheFirstStep(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	code, out, failure := ran(t, "--client-url", server.URL, "--smoke-timeout", "2s")
	require.Equal(t, process.Failed, code)
	require.Contains(t, out, "[1/10] the gateway answers")
	require.Contains(t, out, "next: the logs of the gateway")
	require.NotContains(t, out, "[2/")
	require.Contains(t, failure, "step 1 of 10")
}
