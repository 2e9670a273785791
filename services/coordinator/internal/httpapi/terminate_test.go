package httpapi_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Storage design, Failure: new work 503 COORDINATOR_TERMINATING, entered work finishes.
func TestTerminationFinishesWhatEnteredAndRefusesTheRest(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	entered, goOn := make(chan struct{}), make(chan struct{})
	a.before = func(context.Context) error {
		close(entered)
		<-goOn
		return nil
	}
	first, failed := make(chan said, 1), make(chan error, 1)
	go func() {
		got, err := a.exchange(t.Context(), written("POST", beat, goodBeat))
		first <- got
		failed <- err
	}()
	<-entered
	closed := make(chan error, 1)
	go func() { closed <- a.gate.Close(t.Context()) }()
	require.Eventually(t, a.gate.Closed, patience, time.Millisecond)

	for _, taker := range takers() {
		got := a.call(t, taker.method, taker.target, taker.body)
		requireRefusal(t, got, 503, protocol.CodeTerminating, "")
		require.Equal(t, "1", got.header.Get("Retry-After"))
	}
	requireRefusal(t, a.call(t, "GET", billing+"/producer-routing", ""), 503, protocol.CodeTerminating, "")
	requireRefusal(t, a.call(t, "GET", "/readyz", ""), 503, protocol.CodeTerminating, "")
	for _, target := range []string{"/healthz", "/version", base + "/monitoring/health", base + "/monitoring/compatibility"} {
		require.Equal(t, 200, a.call(t, "GET", target, "").status, "a terminating process still tells how it is")
	}
	select {
	case err := <-closed:
		require.Failf(t, "closed while a heartbeat is inside", "%v", err)
	default:
	}
	close(goOn)
	require.Equal(t, 200, (<-first).status)
	require.NoError(t, <-failed)
	require.NoError(t, <-closed)
	require.Equal(t, []string{"Heartbeat orders billing m-1"}, a.seen())
}
