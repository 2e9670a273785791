package main

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/process"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// output is what a command writes while it runs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(data)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func TestHelpTeachesSettingsAndWhoMakesTheStream(t *testing.T) {
	t.Parallel()
	var out, failure output
	require.Zero(t, process.Run(t.Context(), command, []string{"--help"}, process.Streams{Out: &out, Err: &failure}))
	for _, word := range []string{"--orders-rate", "RSC_CLIENT_URL", "RSC_CLIENT_PASSWORD", "rscctl streams create"} {
		require.Contains(t, out.String(), word)
	}
	require.NotContains(t, out.String(), "--health", "nobody asks a producer for its health")
	require.NotContains(t, out.String(), "COORDINATOR_TERMINATING")
}

func TestWrongSettingsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	for _, wrong := range []struct{ flag, value, told string }{
		{"--orders-rate", "0", "orders.rate"},
		{"--orders-rate", "100000", "orders.rate"},
		{"--orders-max-len", "-1", "orders.max-len"},
		{"--orders-stream", "a b", "orders.stream"},
		{"--orders-group", "", "orders.group"},
		{"--client-username", "worker", "client.password"},
		{"--client-url", "here", "client.url"},
		{"--redis-host", "", "redis.host"},
	} {
		var out, failure output
		code := process.Run(t.Context(), command, []string{wrong.flag, wrong.value}, process.Streams{Out: &out, Err: &failure})
		require.Equal(t, process.Settings, code, "%v: %s", wrong, failure.String())
		require.Contains(t, failure.String(), wrong.told)
	}
}

// answering runs the command against a coordinator that answers everything so, until ctx
// ends.
func answering(ctx context.Context, t *testing.T, code protocol.Code, failure *output) <-chan int {
	t.Helper()
	answers := httpx.NewAnswers(slog.New(slog.DiscardHandler))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers.Error(w, r, protocol.Errorf(code, "as the test says"))
	}))
	t.Cleanup(server.Close)
	ended := make(chan int, 1)
	go func() {
		var out output
		ended <- process.Run(ctx, command, []string{"--client-url", server.URL}, process.Streams{Out: &out, Err: failure})
	}()
	return ended
}

func TestAProducerWaitsForItsStreamAndSaysWhoMakesIt(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var failure output
	ended := answering(ctx, t, protocol.CodeGroupNotFound, &failure)
	require.Eventually(t, func() bool { return strings.Contains(failure.String(), "rscctl streams create") },
		time.Minute, 10*time.Millisecond)
	end()
	require.Zero(t, <-ended, failure.String())
}

func TestAProducerThatMayNotAskEnds(t *testing.T) {
	t.Parallel()
	var failure output
	require.Equal(t, process.Failed, <-answering(t.Context(), t, protocol.CodeForbidden, &failure))
	require.Contains(t, failure.String(), "orders-producer:")
}
