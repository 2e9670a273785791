package proxy_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/proxy"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
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

// hung answers nothing until it is let go.
func hung(t *testing.T) (*upstream, <-chan struct{}) {
	t.Helper()
	arrived, release := make(chan struct{}, 4096), make(chan struct{})
	up := startUpstream(t, func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	t.Cleanup(func() { close(release) })
	return up, arrived
}

func TestAnUpstreamHasItsTime(t *testing.T) {
	t.Parallel()
	up, _ := hung(t)
	g := startGateway(t, setup{Config: proxy.Config{
		Upstreams: coordinators(up.URL),
		Timeouts:  proxy.Timeouts{Read: 50 * time.Millisecond, Mutation: 60 * time.Millisecond, WaitMargin: 30 * time.Millisecond},
	}})
	refusal := requireRefusal(t, protocol.CodeUpstreamUnavailable, g.call(t, "POST", scale, "{}"))
	require.Contains(t, refusal.Message, "not answered in time; it is not known whether the change was carried out")
	refusal = requireRefusal(t, protocol.CodeUpstreamUnavailable, g.call(t, "GET", base+"/streams", ""))
	require.Equal(t, "the coordinator has not answered in time", refusal.Message)

	for _, ask := range []func() said{
		func() said { return g.call(t, "POST", beat, strings.Replace(newBeat, "}", `},"waitMs":200`, 1)) },
		func() said {
			return g.call(t, "POST", group+"/heartbeats", `{"members":[{"waitMs":1},{"waitMs":200}]}`)
		},
		func() said { return g.call(t, "GET", group+"/producer-routing?waitMs=200", "") },
	} {
		begun := clock.Now()
		requireRefusal(t, protocol.CodeUpstreamUnavailable, ask())
		require.GreaterOrEqual(t, clock.Since(begun), 230*time.Millisecond, "who asks to wait has its time and a margin")
	}
}

// A mutation goes on when its caller has gone away; a read does not.
func TestAMutationGoesOnWithoutItsCaller(t *testing.T) {
	t.Parallel()
	arrived, ended := make(chan struct{}), make(chan error, 1)
	release := make(chan struct{})
	up := startUpstream(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		select {
		case <-r.Context().Done():
			ended <- r.Context().Err()
		case <-release:
			w.WriteHeader(http.StatusAccepted)
			ended <- nil
		}
	})
	outcome, noticed := make(chan int, 1), make(chan struct{}, 2)
	g := startGateway(t, setup{
		Config: proxy.Config{Upstreams: coordinators(up.URL)},
		wrap: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				context.AfterFunc(r.Context(), func() { noticed <- struct{}{} })
				seen := &statusOnly{header: http.Header{}}
				next.ServeHTTP(seen, r)
				w.WriteHeader(seen.status)
				outcome <- seen.status
			})
		},
	})
	leave := func(method, target, body string) {
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() {
			_, err := g.ask(ctx, method, target, body)
			gone <- err
		}()
		<-arrived
		cancel()
		require.ErrorIs(t, <-gone, context.Canceled)
		<-noticed // by the gateway
	}
	leave("GET", base+"/streams", "")
	require.Error(t, <-ended)
	require.Equal(t, 503, <-outcome)
	leave("POST", scale, "{}")
	select {
	case err := <-ended:
		require.NoError(t, err, "it was cut off")
	case <-time.After(50 * time.Millisecond): // long for a cancellation
	}
	close(release)
	require.NoError(t, <-ended)
	require.Equal(t, 202, <-outcome, "the stages before get the outcome")
}

type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header            { return s.header }
func (s *statusOnly) WriteHeader(status int)         { s.status = status }
func (s *statusOnly) Write(data []byte) (int, error) { return len(data), nil }

// A hung coordinator must not exhaust the gateway: 1,000 heartbeats are under way to it,
// further ones are refused at once, and other routes are answered.
func TestAHungUpstreamDoesNotExhaustTheGateway(t *testing.T) {
	t.Parallel()
	const beats = 1000
	up, arrived := hung(t)
	both := coordinators(up.URL)
	both[route.Monitor] = []string{startUpstream(t, nil).URL}
	g := startGateway(t, setup{Config: proxy.Config{
		Upstreams: both, MaxInFlight: beats / 2,
	}})
	ctx, cancel := context.WithCancel(t.Context())
	answers := make(chan said, beats)
	var asked sync.WaitGroup
	for range beats {
		asked.Go(func() {
			answer, err := g.ask(ctx, "POST", beat, newBeat)
			if err == nil {
				answers <- answer
			}
		})
	}
	for range beats / 2 {
		<-arrived
	}
	for range beats / 2 {
		requireRefusal(t, protocol.CodeOverloaded, <-answers)
	}
	for range 20 {
		begun := clock.Now()
		require.Equal(t, 200, g.call(t, "GET", base+"/monitoring/grafana/groups", "").status)
		require.Equal(t, 503, g.call(t, "GET", base+"/streams", "").status)
		require.Less(t, clock.Since(begun), 200*time.Millisecond)
	}
	require.Empty(t, answers)
	cancel()
	asked.Wait()
	// All places are free again when their callers have gone.
	require.Eventually(t, func() bool {
		short, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer stop()
		_, err := g.ask(short, "POST", beat, newBeat)
		return err != nil // it waits for the hung one and is not refused
	}, patience, time.Millisecond)
}

// However a request ends, it gives its place at the instance back.
func TestEveryEndGivesThePlaceBack(t *testing.T) {
	t.Parallel()
	answers := []http.HandlerFunc{
		refuseWith(protocol.CodeStoreUnavailable), refuseWith(protocol.CodeTerminating), refuseWith(protocol.CodeGroupNotFound), refuseWith(protocol.CodeUnauthorized),
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(302) },
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304) },
		func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("{"))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
	}
	var turn atomic.Int64
	up := startUpstream(t, func(w http.ResponseWriter, r *http.Request) { answers[turn.Load()](w, r) })
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL), MaxInFlight: 1, Timeouts: proxy.Timeouts{Read: 100 * time.Millisecond}}})
	for i := range answers {
		turn.Store(int64(i))
		before := up.count()
		for range 3 {
			_, _ = g.ask(t.Context(), "POST", beat, newBeat)
		}
		require.Equal(t, before+3, up.count(), "answer %d", i)
	}
	none := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(free(t)), MaxInFlight: 1}})
	for range 3 {
		requireRefusal(t, protocol.CodeUpstreamUnavailable, none.call(t, "GET", base+"/streams", ""))
	}
}

func TestWhatIsOverloadedIsNotSoForEver(t *testing.T) {
	t.Parallel()
	up, arrived := hung(t)
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(up.URL), MaxInFlight: 1}})
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			_, _ = g.ask(ctx, "POST", beat, newBeat)
		}()
		require.Eventually(t, func() bool { // those that come before the last one has gone are refused
			select {
			case <-arrived:
				return true
			case <-gone:
				gone = make(chan struct{})
				go func(gone chan struct{}) {
					defer close(gone)
					_, _ = g.ask(ctx, "POST", beat, newBeat)
				}(gone)
			default:
			}
			return false
		}, patience, time.Millisecond)
		for range 5 {
			requireRefusal(t, protocol.CodeOverloaded, g.call(t, "POST", beat, newBeat))
		}
		cancel()
		<-gone
	}
}

// While one instance hangs, the other one takes what is over.
func TestAnInstanceWithoutAPlaceLeavesItsTurnToAnother(t *testing.T) {
	t.Parallel()
	stuck, arrived := hung(t)
	good := startUpstream(t, nil)
	g := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(stuck.URL, good.URL), MaxInFlight: 3}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asked sync.WaitGroup
	for len(stuck.requests()) < 3 {
		before := len(good.requests())
		asked.Go(func() { _, _ = g.ask(ctx, "POST", beat, newBeat) })
		require.Eventually(t, func() bool { return len(arrived) > 0 || len(good.requests()) > before }, patience, time.Millisecond)
		for len(arrived) > 0 {
			<-arrived
		}
	}
	for range 10 {
		require.Equal(t, 200, g.call(t, "POST", beat, newBeat).status)
	}
	cancel()
	asked.Wait()
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
