package client

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

func TestGateTellsWhenTheLastRecordHasLeft(t *testing.T) {
	t.Parallel()
	var g publishGate
	require.NoError(t, g.enter(3))
	first, second := g.pause(), g.pause()
	require.ErrorIs(t, g.enter(1), ErrPaused)
	g.leave(2)
	require.False(t, isClosed(first))
	g.leave(1)
	require.True(t, isClosed(first))
	require.True(t, isClosed(second))
	require.True(t, isClosed(g.pause()), "nothing is inside")
	g.resume()
	require.NoError(t, g.enter(1))
	inside, paused := g.state()
	require.Equal(t, 1, inside)
	require.False(t, paused)
}

func TestClosedGateStaysClosed(t *testing.T) {
	t.Parallel()
	var g publishGate
	require.True(t, isClosed(g.close()))
	g.resume()
	require.ErrorIs(t, g.enter(1), ErrProducerClosed)
	require.True(t, isClosed(g.close()))
}
