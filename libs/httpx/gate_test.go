package httpx_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestClosedGateRefusesAndWaitsForWhoIsInside(t *testing.T) {
	t.Parallel()
	gate := httpx.NewGate()
	entered, goOn := make(chan struct{}), make(chan struct{})
	handler := gate.Handler(httpx.NewAnswers(nil))(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-goOn
		w.WriteHeader(http.StatusNoContent)
	}))
	first := make(chan *httptest.ResponseRecorder)
	go func() { first <- serve(handler, get("/")) }()
	<-entered
	require.False(t, gate.Closed())

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, gate.Close(ended), context.Canceled, "the wait is bounded")
	require.ErrorContains(t, gate.Close(ended), "1 requests")
	require.True(t, gate.Closed())
	refused := serve(handler, get("/"))
	require.Equal(t, http.StatusServiceUnavailable, refused.Code)
	require.Equal(t, "1", refused.Header().Get("Retry-After"))
	require.Equal(t, protocol.CodeTerminating, refusalOf(t, refused).ErrorCode)
	require.Equal(t, "close", refused.Header().Get("Connection"), "the next try is to reach another instance")

	closed := make(chan error)
	go func() { closed <- gate.Close(t.Context()) }()
	close(goOn)
	require.Equal(t, http.StatusNoContent, (<-first).Code, "what had entered is finished")
	require.NoError(t, <-closed)
	require.NoError(t, gate.Close(ended), "an empty gate closes whatever the context says")
}

func TestGateOfAPanickingHandlerIsLeft(t *testing.T) {
	t.Parallel()
	gate := httpx.NewGate()
	answers := httpx.NewAnswers(nil)
	handler := answers.Recover(gate.Handler(answers)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("x") })))
	serve(handler, get("/"))
	require.NoError(t, gate.Close(t.Context()))
}

func TestGateCountsUnderContention(t *testing.T) {
	t.Parallel()
	gate := httpx.NewGate()
	var users sync.WaitGroup
	for range 8 {
		users.Go(func() {
			for gate.Enter() {
				gate.Leave()
			}
		})
	}
	require.NoError(t, gate.Close(t.Context()))
	users.Wait()
	require.NoError(t, gate.Close(t.Context()))
}
