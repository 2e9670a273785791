package route

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

var errDown = errors.New("down")

// script is a Source that the test writes.
type script struct {
	mu      sync.Mutex
	version int64
	lineage string
	lease   time.Duration
	takes   time.Duration // how long an answer takes
	err     error
	etag    string
	asked   []time.Time
}

func (s *script) Routing(ctx context.Context, stream, group, etag string) (*api.RoutingAnswer, error) {
	s.mu.Lock()
	s.asked = append(s.asked, time.Now())
	takes, err := s.takes, s.err
	routing := &protocol.ProducerRouting{
		StreamPrefix: stream, ConsumerGroup: group, MetadataVersion: s.version, Lineage: s.lineage,
		LeaseMs: s.lease.Milliseconds(), ShardCount: 1, Shards: []protocol.RoutingShard{{StreamKey: "orders:0"}},
	}
	tag := s.etag
	s.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if tag != "" && tag == etag {
		return &api.RoutingAnswer{ETag: tag, NotModified: true}, nil
	}
	return &api.RoutingAnswer{Routing: routing, ETag: tag}, nil
}

func (s *script) set(change func(*script)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *script) requests() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// open starts a Keeper that ends with the bubble of t.
func open(t *testing.T, every time.Duration) (*script, *Keeper) {
	t.Helper()
	s := &script{version: 5, lineage: "a", lease: 10 * time.Second}
	k, err := Open(t.Context(), s, Options{
		Stream: "orders", Group: "g", Every: every, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(k.Close)
	return s, k
}

// pass lets d go by in the bubble.
func pass(t *testing.T, d time.Duration) {
	t.Helper()
	require.NoError(t, clock.Sleep(t.Context(), d))
}

func TestFirstAnswerDecidesWhetherItOpens(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, err := Open(t.Context(), &script{err: errDown}, Options{Log: slog.New(slog.DiscardHandler)})
		require.ErrorIs(t, err, errDown)
	})
}

func TestRoutingIsRefreshedInEveryHalfLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := open(t, 0)
		pass(t, 60*time.Second)
		asked := s.requests()
		require.GreaterOrEqual(t, len(asked), 13)
		for i := 1; i < len(asked); i++ {
			gap := asked[i].Sub(asked[i-1])
			require.LessOrEqual(t, gap, 5*time.Second)
			require.GreaterOrEqual(t, gap, 4500*time.Millisecond)
		}
		_, err := k.Table()
		require.NoError(t, err)
	})
}

func TestPeriodOfTheCallerIsHeldBelowTheLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := open(t, time.Hour)
		pass(t, 31*time.Second)
		require.Len(t, s.requests(), 5)
		_, err := k.Table()
		require.NoError(t, err)
	})
	synctest.Test(t, func(t *testing.T) {
		s, _ := open(t, time.Second)
		pass(t, 10*time.Second)
		require.InDelta(t, 11, len(s.requests()), 1)
	})
}

func TestLeaseRunsOutWithoutAnAnswerAndComesBackWithOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := open(t, 0)
		s.set(func(s *script) { s.err = errDown })
		pass(t, 10*time.Second-time.Millisecond)
		_, err := k.Table()
		require.NoError(t, err, "the lease is not over")
		pass(t, time.Millisecond)
		_, err = k.Table()
		require.ErrorIs(t, err, ErrExpired)
		require.ErrorIs(t, err, errDown)
		require.Greater(t, k.Status().Failures, int64(3))
		require.ErrorIs(t, k.Status().LastError, errDown)

		s.set(func(s *script) { s.err = nil })
		pass(t, 2*time.Second)
		_, err = k.Table()
		require.NoError(t, err)
		require.Zero(t, k.Status().Failures)
	})
}

func TestLeaseCountsFromTheSendTimeOfTheRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := open(t, 0)
		s.set(func(s *script) { s.takes = 2 * time.Second })
		sent := time.Now()
		require.NoError(t, k.Refresh(t.Context()))
		table, err := k.Table()
		require.NoError(t, err)
		require.WithinDuration(t, sent.Add(10*time.Second), table.ValidUntil(), minGap)
		require.GreaterOrEqual(t, time.Since(sent), 2*time.Second)
	})
}

func TestAnswerLaterThanItsLeaseIsOfNoUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := open(t, 0)
		s.set(func(s *script) { s.takes, s.lease = time.Second, 500*time.Millisecond })
		require.NoError(t, k.Refresh(t.Context()))
		_, err := k.Table()
		require.ErrorIs(t, err, ErrExpired)
	})
}

func TestNotModifiedRenewsTheLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &script{version: 5, lease: 10 * time.Second, etag: `"5"`}
		k, err := Open(t.Context(), s, Options{Log: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		defer k.Close()
		pass(t, 45*time.Second)
		table, err := k.Table()
		require.NoError(t, err)
		require.Equal(t, int64(5), table.Version)
		require.Less(t, time.Since(table.AskedAt()), 6*time.Second)
	})
}

func TestLateCopyIsRefusedUntilTheLeaseIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := open(t, 0)
		s.set(func(s *script) { s.version = 4 })
		pass(t, 9*time.Second)
		table, err := k.Table()
		require.NoError(t, err)
		require.Equal(t, int64(5), table.Version)
		require.Positive(t, k.Status().Failures)
		pass(t, 4*time.Second)
		table, err = k.Table()
		require.NoError(t, err)
		require.Equal(t, int64(4), table.Version)
	})
}

func TestExplicitRefreshTakesALowerVersion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := open(t, 0)
		s.set(func(s *script) { s.version = 4 })
		require.NoError(t, k.Refresh(t.Context()))
		table, err := k.Table()
		require.NoError(t, err)
		require.Equal(t, int64(4), table.Version)
	})
}

func TestCallersShareARequestThatWasSentAfterTheirCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := open(t, 0)
		s.set(func(s *script) { s.takes = time.Second })
		early := make(chan error, 1)
		go func() { early <- k.Refresh(t.Context()) }()
		pass(t, 500*time.Millisecond) // the request of early is under way
		require.Len(t, s.requests(), 2)
		s.set(func(s *script) { s.version = 6 })
		called := time.Now()
		var callers sync.WaitGroup
		var seen atomic.Int64
		for range 50 {
			callers.Go(func() {
				if k.Refresh(t.Context()) == nil {
					seen.Add(k.Status().Table.Version)
				}
			})
		}
		callers.Wait()
		require.NoError(t, <-early)
		require.Equal(t, int64(50*6), seen.Load())
		require.Len(t, s.requests(), 3, "the one under way does not count, and one serves all")
		require.True(t, s.requests()[2].After(called))
	})
}

func TestARunOfStaleRoutesDoesNotFloodTheCoordinator(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := open(t, 0)
		for range 100 {
			require.NoError(t, k.Refresh(t.Context()))
		}
		asked := s.requests()
		for i := 2; i < len(asked); i++ {
			require.GreaterOrEqual(t, asked[i].Sub(asked[i-1]), minGap)
		}
	})
}

func TestRefreshReturnsWithItsContextAndWithClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := open(t, 0)
		s.set(func(s *script) { s.takes = time.Hour })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, k.Refresh(ctx), context.DeadlineExceeded)
		waiting := make(chan error, 1)
		go func() { waiting <- k.Refresh(t.Context()) }()
		synctest.Wait()
		k.Close()
		require.ErrorIs(t, <-waiting, ErrClosed)
	})
}

func TestSilentCoordinatorDoesNotUseUpTheLeaseInOneRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, k := open(t, 0)
		s.set(func(s *script) { s.takes = time.Hour })
		pass(t, 7600*time.Millisecond) // the first of them was given up
		s.set(func(s *script) { s.takes = 0 })
		pass(t, 2300*time.Millisecond)
		_, err := k.Table()
		require.NoError(t, err)
		pass(t, 2*time.Second)
		_, err = k.Table()
		require.NoError(t, err)
	})
}

func TestRetryAfterIsKeptUpToTheLease(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pause, want time.Duration }{
		{3 * time.Second, 3 * time.Second}, {time.Minute, 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, k := open(t, 0)
			s.set(func(s *script) { s.err = &api.RefusedError{Status: 429, RetryAfter: c.pause, Err: errDown} })
			require.Error(t, k.Refresh(t.Context()))
			pass(t, c.want+time.Second)
			asked := s.requests()
			require.GreaterOrEqual(t, len(asked), 3)
			require.Equal(t, c.want, asked[2].Sub(asked[1]))
		})
	}
}
