package freeport

import (
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPortIsGivenOnceUntilItsTestIsOver(t *testing.T) {
	t.Parallel()
	outer, inner := Take(t), ""
	t.Run("meanwhile", func(t *testing.T) {
		inner = Take(t)
		require.NotEqual(t, outer, take(t, these(outer, inner, unheld(t))))
	})
	require.Equal(t, inner, take(t, these(outer, inner)), "the test that had it is over")
}

func TestAPortSomebodyListensOnIsNotGiven(t *testing.T) {
	t.Parallel()
	busy, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = busy.Close() })
	_, port, err := net.SplitHostPort(busy.Addr().String())
	require.NoError(t, err)
	free := unheld(t)
	require.Equal(t, free, take(t, these(port, free)))
}

func TestAServerCanListenOnAPortThatIsHeld(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", Take(t)))
	require.NoError(t, err)
	require.NoError(t, l.Close())
}

// unheld returns a port that was free a moment ago.
func unheld(t *testing.T) string {
	t.Helper()
	var port string
	t.Run("one that ends at once", func(t *testing.T) { port = Take(t) })
	return port
}

// these returns the ports in turn, the last one again and again.
func these(ports ...string) func() int {
	return func() int {
		port, _ := strconv.Atoi(ports[0])
		if len(ports) > 1 {
			ports = ports[1:]
		}
		return port
	}
}
