package process_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/process"
)

// served answers /readyz with the status and text, everything else with 404.
func served(t *testing.T, status int, text string) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(text))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

type settings struct {
	Listen string `koanf:"listen" usage:"address"`
}

func (settings) Validate() error { return nil }

func service(serve func(context.Context) error) func(process.Streams) *cobra.Command {
	return process.Service[settings]{
		Name: "thing", Short: "A thing", Long: "Does things.", Defaults: settings{Listen: ":1"},
		Listen: func(s settings) string { return s.Listen },
		Logger: func(settings, process.Streams) *slog.Logger { return slog.New(slog.DiscardHandler) },
		Serve: func(ctx context.Context, _ settings, _ func() (settings, error), _ *slog.Logger) error {
			return serve(ctx)
		},
	}.Command
}

func TestHealthAsksTheProcessAndServesNothing(t *testing.T) {
	t.Parallel()
	never := service(func(context.Context) error { t.Error("it served"); return nil })
	var out, failure bytes.Buffer
	streams := process.Streams{Out: &out, Err: &failure}
	require.Zero(t, process.Run(t.Context(), never, []string{"--health", "--listen", served(t, http.StatusOK, "{}")}, streams))
	require.Empty(t, failure.String())

	sick := served(t, http.StatusServiceUnavailable, `{"reason":"Redis does not answer"}`)
	require.Equal(t, process.Failed, process.Run(t.Context(), never, []string{"--health", "--listen", sick}, streams))
	require.Contains(t, failure.String(), "503")
	require.Contains(t, failure.String(), "Redis does not answer")
}

func TestHealthAsksOnTheLoopbackWhereEveryInterfaceIsServed(t *testing.T) {
	t.Parallel()
	_, port, err := net.SplitHostPort(served(t, http.StatusOK, "ok"))
	require.NoError(t, err)
	for _, host := range []string{"", "0.0.0.0", "127.0.0.1"} {
		require.NoError(t, process.Ready(t.Context(), net.JoinHostPort(host, port)), host)
	}
}

func TestHealthSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, process.Ready(t.Context(), "here"), "not host:port")
	require.ErrorContains(t, process.Ready(t.Context(), "127.0.0.1:0"), "fixed one")

	server := httptest.NewServer(http.NotFoundHandler())
	address := server.Listener.Addr().String()
	require.ErrorContains(t, process.Ready(t.Context(), address), "404")
	server.Close()
	require.ErrorContains(t, process.Ready(t.Context(), address), "nobody answers on "+address)

	long := served(t, http.StatusServiceUnavailable, strings.Repeat("x", 10_000))
	require.Less(t, len(process.Ready(t.Context(), long).Error()), 1000)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, process.Ready(ended, long), context.Canceled)
}
