package proxy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOneRequestProbesAnInstanceAfterItsPause(t *testing.T) {
	t.Parallel()
	var h health
	now := time.Unix(1000, 0)
	admit := func() [2]bool {
		may, probe := h.admit(now)
		return [2]bool{may, probe}
	}
	require.Equal(t, [2]bool{true, false}, admit())
	pause, news := h.failed(now)
	require.Equal(t, 2*time.Second, pause)
	require.True(t, news)
	_, news = h.failed(now.Add(time.Second))
	require.False(t, news, "those that fail together begin one pause")
	require.Equal(t, [2]bool{false, false}, admit())

	now = now.Add(2 * time.Second)
	require.Equal(t, [2]bool{true, true}, admit())
	require.Equal(t, [2]bool{false, false}, admit(), "the others wait for the probe")
	h.probeEnded()
	require.Equal(t, [2]bool{true, true}, admit(), "it found out nothing, so there is another")
	pause, news = h.failed(now)
	require.Equal(t, 4*time.Second, pause)
	require.False(t, news)

	require.True(t, h.succeeded(), "a request of before may succeed meanwhile")
	require.False(t, h.succeeded())
	require.Equal(t, [2]bool{true, false}, admit())
	pause, _ = h.failed(now)
	require.Equal(t, 2*time.Second, pause, "pauses begin anew")
}
