package e2e_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A receiver in trouble is nobody else's trouble: requests are answered, one line says what
// is wrong, and processes end as they should.
func TestAReceiverInTroubleHarmsNoRequestAndNoEnd(t *testing.T) {
	t.Parallel()
	hung := make(chan struct{})
	reached := make(chan struct{}, 1)
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case reached <- struct{}{}:
		default:
		}
		select {
		case <-hung:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(hangs.Close)
	t.Cleanup(func() { close(hung) })
	g := startGuarded(t, guardedPlan{
		coordinators: 1, gateways: 1, coordinatorFlags: tracesTo("http://" + freeAddress(t)), gatewayFlags: tracesTo(hangs.URL),
	})
	token := g.login(userOps)
	g.passes(createStream(token, "traced"), http.StatusCreated)
	for range 200 {
		g.passes(guardedCall{path: api("/streams"), token: token}, http.StatusOK)
	}
	select {
	case <-reached: // the gateway is in the middle of sending
	case <-t.Context().Done():
	}
	for _, one := range g.services() {
		require.NoError(t, one.cmd.Process.Signal(syscall.SIGTERM))
		one.wait()
		said := string(one.all.bytes())
		require.Contains(t, said, "clean=true", one.name)
		require.Equal(t, 1, strings.Count(said, "traces cannot be delivered"), said)
		require.Contains(t, said, "traces were lost at the end")
	}
}
