package redisx_test

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

func TestClientLogIsForDebugging(t *testing.T) {
	t.Parallel()
	var quiet, loud bytes.Buffer
	redisx.NewClientLog(slog.New(slog.NewTextHandler(&quiet, nil))).Printf(t.Context(), "dial %s", "db:6379")
	require.Empty(t, quiet.String())
	debug := slog.NewTextHandler(&loud, &slog.HandlerOptions{Level: slog.LevelDebug})
	redisx.NewClientLog(slog.New(debug)).Printf(t.Context(), "dial %s", "db:6379")
	require.Contains(t, loud.String(), "dial db:6379")
}
