package proxy_test

import (
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/proxy"
)

// Gateway, Proxy: several coordinators, round robin.
func TestInstancesAreAskedByTurns(t *testing.T) {
	t.Parallel()
	a, b := startUpstream(t, nil), startUpstream(t, nil)
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(a.URL, b.URL)}})
	for range 10 {
		require.Equal(t, 200, g.call(t, "POST", beat, newBeat).status)
	}
	require.Len(t, a.requests(), 5)
	require.Len(t, b.requests(), 5)
}

// Gateway, Proxy: tried on another instance if it was not sent; mutations too.
func TestWhatWasNotSentIsSentToAnother(t *testing.T) {
	t.Parallel()
	up := startUpstream(t, nil)
	var now clockHand
	now.set(clock.Now())
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(free(t), up.URL, free(t))}, now: now.now})
	for range 4 {
		require.Equal(t, 200, g.call(t, "POST", scale, `{"a":1}`).status)
		require.Equal(t, 200, g.call(t, "POST", beat, newBeat).status)
		require.Equal(t, up.address(), g.exchange().Upstream)
		now.add(time.Minute) // all are tried again
	}
	require.Len(t, up.requests(), 8)
}

// Gateway, Proxy: tried on another instance if it was refused as terminating.
func TestWhatATerminatingInstanceRefusesIsSentToAnother(t *testing.T) {
	t.Parallel()
	up, going := startUpstream(t, nil), startUpstream(t, refuseWith(protocol.CodeTerminating))
	var now clockHand
	now.set(clock.Now())
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(going.URL, up.URL)}, now: now.now})
	for range 6 {
		require.Equal(t, 200, g.call(t, "POST", scale, `{"a":1}`).status)
	}
	require.Len(t, going.requests(), 1, "it is passed over after")
	for _, seen := range up.requests() {
		require.Equal(t, `{"a":1}`, seen.body, "sent whole the second time too")
	}
	only := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(going.URL)}})
	requireTerminating := only.call(t, "POST", scale, "{}")
	require.Equal(t, 503, requireTerminating.status)
	require.Contains(t, requireTerminating.body, protocol.CodeTerminating)
}

// What may have been done is tried nowhere else, and a mutation's caller is told so.
func TestWhatMayHaveBeenDoneIsNotSentAgain(t *testing.T) {
	t.Parallel()
	cut := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}
	for _, answer := range []http.HandlerFunc{cut, refuseWith(protocol.CodeStoreUnavailable), refuseWith(protocol.CodeOverloaded), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }} {
		a, b := startUpstream(t, answer), startUpstream(t, answer)
		g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(a.URL, b.URL)}})
		require.GreaterOrEqual(t, g.call(t, "POST", scale, "{}").status, 502)
		require.Equal(t, 1, len(a.requests())+len(b.requests()))
		require.GreaterOrEqual(t, g.call(t, "POST", beat, newBeat).status, 502)
		require.Equal(t, 2, len(a.requests())+len(b.requests()))
	}
	up := startUpstream(t, cut)
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}})
	refusal := requireRefusal(t, protocol.CodeUpstreamUnavailable, g.call(t, "POST", scale, "{}"))
	require.Contains(t, refusal.Message, "not known whether")
	refusal = requireRefusal(t, protocol.CodeUpstreamUnavailable, g.call(t, "POST", scale+"?dryRun=true", "{}"))
	require.NotContains(t, refusal.Message, "not known whether")
	refusal = requireRefusal(t, protocol.CodeUpstreamUnavailable, g.call(t, "POST", beat, newBeat))
	require.NotContains(t, refusal.Message, "not known whether")
}

// Gateway, Proxy: passive health; skipped 2 s, doubling to 30 s, then one probe.
func TestAFailingInstanceIsPassedOverAndProbed(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	broken.Store(true)
	good := startUpstream(t, nil)
	bad := startUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		if broken.Load() {
			w.WriteHeader(500)
		}
	})
	var now clockHand
	now.set(clock.Now())
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(good.URL, bad.URL)}, now: now.now})
	ask := func() (failed int) {
		before := len(bad.requests())
		for range 6 {
			g.call(t, "POST", beat, newBeat)
		}
		return len(bad.requests()) - before
	}
	require.Equal(t, 1, ask(), "the first failure")
	for _, pause := range []int{2, 4, 8, 16, 30, 30} {
		now.add(time.Duration(pause)*time.Second - time.Millisecond)
		require.Zero(t, ask(), "passed over for %d s", pause)
		now.add(time.Millisecond)
		require.Equal(t, 1, ask(), "one probe after %d s", pause)
	}
	broken.Store(false)
	now.add(30 * time.Second)
	require.Equal(t, 3, ask(), "it is back in its turn")
}

// A caller must not have an instance passed over by a request that it finds fault with.
func TestAFaultOfTheCallerIsNoFailureOfTheInstance(t *testing.T) {
	t.Parallel()
	good := startUpstream(t, nil)
	other := startUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "431", http.StatusRequestHeaderFieldsTooLarge)
	})
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(good.URL, other.URL)}})
	for range 6 {
		g.call(t, "POST", beat, newBeat)
	}
	require.Len(t, other.requests(), 3)
}

func TestWhereAllHaveFailedTheyAreAskedAllTheSame(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	broken.Store(true)
	up := startUpstream(t, func(w http.ResponseWriter, _ *http.Request) {
		if broken.Load() {
			w.WriteHeader(500)
		}
	})
	var now clockHand
	now.set(clock.Now())
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}, now: now.now})
	require.Equal(t, 502, g.call(t, "POST", beat, newBeat).status)
	broken.Store(false)
	require.Equal(t, 200, g.call(t, "POST", beat, newBeat).status, "an only coordinator is back at once")
}

func TestNobodyThereIsUnavailable(t *testing.T) {
	t.Parallel()
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(free(t), free(t))}})
	answer := g.call(t, "POST", scale, "{}")
	require.Contains(t, requireRefusal(t, protocol.CodeUpstreamUnavailable, answer).Message, "cannot be reached")
	require.Equal(t, "1", answer.header.Get("Retry-After"))
	require.Equal(t, protocol.CodeUpstreamUnavailable, g.exchange().Code)
}

// A connection that an instance has closed while it was idle is no failure: a request that
// was not written yet goes over another one.
func TestAnInstanceThatStartedAnewIsAskedAgain(t *testing.T) {
	t.Parallel()
	up := startUpstream(t, nil)
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL)}})
	require.Equal(t, 200, g.call(t, "GET", base+"/streams", "").status)
	up.CloseClientConnections()
	require.Equal(t, 200, g.call(t, "GET", base+"/streams", "").status)
}

func TestUpstreamsOfHTTP2AreSpokenToWhereConfigured(t *testing.T) {
	t.Parallel()
	protocols := make(chan string, 1)
	server := &http.Server{ReadHeaderTimeout: patience, Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocols <- r.Proto + " " + r.Header.Get("X-Request-Id")
		w.WriteHeader(http.StatusOK)
	})}
	server.Protocols.SetUnencryptedHTTP2(true)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		_ = server.Close()
		assert.ErrorIs(t, <-served, http.ErrServerClosed)
	})
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators("http://" + listener.Addr().String()), H2C: true}})
	require.Equal(t, 200, g.call(t, "POST", beat, newBeat, "X-Request-Id: mine").status)
	require.Equal(t, "HTTP/2.0 mine", <-protocols)
}
