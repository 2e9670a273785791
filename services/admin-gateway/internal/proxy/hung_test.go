package proxy_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/proxy"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

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

func (s *statusOnly) Header() http.Header { return s.header }

func (s *statusOnly) WriteHeader(status int) { s.status = status }

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
		Upstreams: both, MaxInFlight: beats / 2, Timeouts: proxy.Timeouts{Read: time.Hour},
	}})
	ctx, cancel := context.WithCancel(t.Context())
	answers := make(chan said, beats)
	var asked sync.WaitGroup
	beatOnce := func() {
		answer, err := g.ask(ctx, "POST", beat, newBeat)
		if err == nil {
			answers <- answer
		}
	}
	for range beats / 2 { // one after the other, or connecting so many takes longer than a connection may
		asked.Go(beatOnce)
		<-arrived
	}
	for range beats / 2 {
		asked.Go(beatOnce)
	}
	for range beats / 2 {
		requireRefusal(t, protocol.CodeOverloaded, <-answers)
	}
	for range 20 {
		begun := clock.Now()
		require.Equal(t, 200, g.call(t, "GET", base+"/monitoring/grafana/groups", "").status)
		require.Equal(t, 503, g.call(t, "GET", base+"/streams", "").status)
		require.Less(t, clock.Since(begun), 5*time.Second, "some milliseconds; the hung one has an hour")
	}
	require.Empty(t, answers)
	cancel()
	asked.Wait()
	// All places are free again when their callers have gone.
	require.Eventually(t, func() bool {
		short, stop := context.WithTimeout(t.Context(), 500*time.Millisecond)
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
		for range 3 {
			before := up.count()
			require.Eventually(t, func() bool { // the place is free a moment after the answer has been read
				_, _ = g.ask(t.Context(), "POST", beat, newBeat)
				return up.count() > before
			}, patience, time.Millisecond, "answer %d", i)
		}
	}
	none := startGateway(t, setup{Config: proxy.Config{Upstreams: coordinators(free(t)), MaxInFlight: 1}})
	for range 3 {
		require.Eventually(t, func() bool {
			answer := none.call(t, "GET", base+"/streams", "")
			return answer.status == 503 && strings.Contains(answer.body, string(protocol.CodeUpstreamUnavailable))
		}, patience, time.Millisecond)
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
