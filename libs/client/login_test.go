package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestOneLoginServesAllGoroutines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.slow = time.Second
		admin, _ := g.client(t)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if err := ask(t.Context(), admin); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		logins, calls := g.counts()
		require.Equal(t, []int{1, 50}, []int{logins, calls})
	})
}

func TestTokenIsRenewedAtFourFifthsOfItsLife(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		admin, _ := g.client(t)
		require.NoError(t, ask(t.Context(), admin))
		pass(79 * time.Second)
		require.NoError(t, ask(t.Context(), admin))
		require.Len(t, g.logins, 1)
		pass(time.Second)
		require.NoError(t, ask(t.Context(), admin))
		require.Equal(t, []time.Duration{0, 80 * time.Second}, g.logins)
		require.Equal(t, []string{"token-1", "token-1", "token-2"}, g.calls)
		pass(time.Hour)
		require.NoError(t, ask(t.Context(), admin), "a token that has ended is not sent")
		require.Equal(t, "token-3", g.calls[3])
	})
}

// A gateway that hangs or is away costs a heartbeat at most half of its time, and the next
// ones nothing, as long as the token at hand is good.
func TestRenewalDoesNotDisturbWhileTheTokenIsGood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		admin, log := g.client(t)
		require.NoError(t, ask(t.Context(), admin))
		pass(80 * time.Second)
		g.slow = time.Hour
		timed := func() time.Duration {
			begun := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			require.NoError(t, ask(ctx, admin))
			return time.Since(begun)
		}
		var all sync.WaitGroup
		all.Go(func() { require.Equal(t, time.Second, timed()) })
		synctest.Wait()
		require.Zero(t, timed(), "who comes meanwhile goes on with the old token")
		all.Wait()
		require.Len(t, g.logins, 2)
		require.Zero(t, timed(), "the next try has to wait")
		require.Len(t, g.logins, 2)
		require.Contains(t, log.String(), "login could not be renewed")

		g.slow, g.away = 0, true
		pass(10 * time.Second)
		require.Zero(t, timed())
		require.Len(t, g.logins, 3)
		pass(9 * time.Second)
		require.ErrorIs(t, ask(t.Context(), admin), client.ErrUnavailable, "the token has ended")
		g.away = false
		pass(5 * time.Second)
		require.NoError(t, ask(t.Context(), admin))
		require.NotContains(t, log.String(), hunter)
		require.NotContains(t, log.String(), "token-")
	})
}

func TestRefusedTokenIsReplacedAtOnceAndOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		admin, _ := g.client(t)
		require.NoError(t, ask(t.Context(), admin))
		g.revoke()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if err := ask(t.Context(), admin); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		require.Len(t, g.logins, 2, "one login replaces the token of all")

		pass(time.Minute)
		g.denies = true
		_, before := g.counts()
		err := ask(t.Context(), admin)
		require.ErrorIs(t, err, client.ErrUnauthorized)
		logins, calls := g.counts()
		require.Equal(t, []int{3, 2}, []int{logins, calls - before}, "twice, then the error")
		pass(9 * time.Second)
		require.ErrorIs(t, ask(t.Context(), admin), client.ErrUnauthorized)
		require.Len(t, g.logins, 3, "another login would change nothing")
		pass(time.Second)
		require.ErrorIs(t, ask(t.Context(), admin), client.ErrUnauthorized)
		require.Len(t, g.logins, 4)
		g.denies = false
		require.NoError(t, ask(t.Context(), admin))
	})
}

// Who asks with a wrong password each second would be locked out.
func TestRefusedLoginsAreFewerAndFewerAndSayWhatToDo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.refuse = protocol.CodeUnauthorized
		admin, log := g.client(t)
		for range 300 {
			err := ask(t.Context(), admin)
			require.ErrorIs(t, err, client.ErrUnauthorized)
			var refused *client.LoginError
			require.ErrorAs(t, err, &refused)
			require.ErrorContains(t, err, "log in as ops at "+loginURL)
			require.ErrorContains(t, err, "check the user name and the password")
			require.NotContains(t, err.Error(), hunter)
			pass(time.Second)
		}
		seconds := time.Second
		require.Equal(t, []time.Duration{
			0, seconds, 3 * seconds, 7 * seconds, 15 * seconds, 31 * seconds, 63 * seconds, 123 * seconds, 183 * seconds, 243 * seconds,
		}, g.logins)
		require.Empty(t, g.calls)
		require.NotContains(t, log.String(), hunter)
		g.refuse = ""
		pass(time.Minute)
		require.NoError(t, ask(t.Context(), admin))
	})
}

func TestPauseThatTheGatewayAsksForIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.refuse, g.wait = protocol.CodeRateLimitExceeded, "30"
		admin, _ := g.client(t)
		for _, left := range []string{"30s", "20s", "10s"} {
			err := ask(t.Context(), admin)
			require.ErrorIs(t, err, client.ErrRateLimited)
			pause, ok := client.RetryAfter(err)
			require.True(t, ok)
			require.Equal(t, left, pause.String())
			require.ErrorContains(t, err, "tried in "+left)
			pass(10 * time.Second)
		}
		require.Len(t, g.logins, 1)
		g.refuse = ""
		require.NoError(t, ask(t.Context(), admin))
	})
}

func TestACallerWhoGivesUpBarsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.slow = time.Second
		admin, _ := g.client(t)
		short, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		var all sync.WaitGroup
		for range 2 { // one logs in, one waits for it
			all.Go(func() { require.ErrorIs(t, ask(short, admin), context.DeadlineExceeded) })
		}
		synctest.Wait()
		all.Go(func() { require.NoError(t, ask(t.Context(), admin)) })
		all.Wait()
		require.NoError(t, ask(t.Context(), admin))
	})
}

func TestGatewayThatIsAwayIsAskedAgainSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		g.away = true
		admin, _ := g.client(t)
		for range 60 {
			err := ask(t.Context(), admin)
			require.ErrorIs(t, err, client.ErrUnavailable)
			require.NotErrorIs(t, err, client.ErrUnauthorized)
			require.ErrorContains(t, err, "check that the gateway answers there")
			pass(time.Second)
		}
		g.away = false
		pass(5 * time.Second)
		require.NoError(t, ask(t.Context(), admin))
	})
}

func TestRefusalsOfTheAPIAreToldApart(t *testing.T) {
	t.Parallel()
	sentinels := []error{client.ErrUnauthorized, client.ErrForbidden, client.ErrRateLimited}
	for is, code := range []protocol.Code{protocol.CodeUnauthorized, protocol.CodeForbidden, protocol.CodeRateLimitExceeded} {
		c := coordinator(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(protocol.FaultOf(code).Status)
			_, _ = io.WriteString(w, `{"errorCode":"`+string(code)+`"}`)
		}, client.Options{Token: "t"})
		_, err := c.Admin().Streams(t.Context())
		for i, sentinel := range sentinels {
			require.Equal(t, i == is, errors.Is(err, sentinel), "%s %v", code, sentinel)
		}
		require.NotErrorIs(t, err, client.ErrUnavailable)
		pause, _ := client.RetryAfter(err)
		require.Equal(t, 3*time.Second, pause)
	}
}

func TestLoginAtACoordinatorSaysThatItIsNoGateway(t *testing.T) {
	t.Parallel()
	c := coordinator(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"errorCode":"NOT_FOUND","message":"there is no such endpoint"}`)
	}, client.Options{Login: client.WithLogin("ops", hunter)})
	require.ErrorContains(t, ask(t.Context(), c.Admin()), "coordinators have no logins")
}
