package main

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/examples/internal/orders"
	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestHelpTeachesSettingsAndDeadLetters(t *testing.T) {
	t.Parallel()
	var out, failure bytes.Buffer
	require.Zero(t, process.Run(t.Context(), command, []string{"--help"}, process.Streams{Out: &out, Err: &failure}))
	for _, word := range []string{"--orders-member", "RSC_CLIENT_URL", "RSC_CLIENT_PASSWORD", "<stream>-dead"} {
		require.Contains(t, out.String(), word)
	}
}

func TestWrongSettingsAreToldAtOnce(t *testing.T) {
	t.Parallel()
	for _, wrong := range []struct{ flag, value, told string }{
		{"--orders-concurrency", "0", "orders.concurrency"},
		{"--orders-concurrency", "65", "orders.concurrency"},
		{"--orders-work", "-1s", "orders.work"},
		{"--orders-stream", "", "orders.stream"},
		{"--orders-member", "a b", "subscribe to orders"},
		{"--client-username", "worker", "client.password"},
		{"--client-url", "here", "client.url"},
	} {
		var out, failure bytes.Buffer
		code := process.Run(t.Context(), command, []string{wrong.flag, wrong.value}, process.Streams{Out: &out, Err: &failure})
		require.NotZero(t, code, "%v: %s", wrong, failure.String())
		require.Contains(t, failure.String(), wrong.told)
	}
}

func TestAnOrderIsHandledAndAnythingElseComesAgain(t *testing.T) {
	t.Parallel()
	desk := desk{log: slog.New(slog.DiscardHandler)}
	good := &client.Message{Fields: map[string]string{"payload": `{"id":1,"customer":"c","cents":250}`}}
	require.NoError(t, desk.handle(t.Context(), good))
	require.EqualValues(t, 250, desk.cents.Load())
	require.ErrorIs(t, desk.handle(t.Context(), &client.Message{Fields: map[string]string{"x": "1"}}), orders.ErrNoOrder)
	require.EqualValues(t, 250, desk.cents.Load())
}
