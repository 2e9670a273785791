package observe_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/observe"
)

// running runs an observer until the test ends, and returns what it publishes.
func running(t *testing.T, cfg observe.Config, deps observe.Deps) (*observe.Observer, <-chan facts.Round) {
	t.Helper()
	rounds := make(chan facts.Round)
	ctx, cancel := context.WithCancel(t.Context())
	deps.Publish = func(r facts.Round) {
		select {
		case rounds <- r:
		case <-ctx.Done():
		}
	}
	o := observe.New(cfg, deps)
	var working sync.WaitGroup
	working.Go(func() { o.Run(ctx) })
	t.Cleanup(func() { cancel(); working.Wait() })
	return o, rounds
}

func TestRoundsFollowEachOtherOnTheirOwn(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	o, rounds := running(t, observe.Config{Interval: 20 * time.Millisecond}, observe.Deps{
		Redis: rdb, Groups: &coordinator{groups: []protocol.GroupSnapshot{group("orders", "a", 1)}},
	})
	last := <-rounds
	require.Equal(t, int64(1), last.Number)
	for range 10 {
		next := <-rounds
		require.Equal(t, last.Number+1, next.Number)
		require.GreaterOrEqual(t, next.At.Sub(last.At), 10*time.Millisecond)
		last = next
	}
	require.Zero(t, o.Skipped()/5, "a machine that is busy may leave out one or two")
}

// TestASlowRoundLeavesOutTheNextOnes: they are counted, none is made up for.
func TestASlowRoundLeavesOutTheNextOnes(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	c := &coordinator{hang: true}
	o, rounds := running(t, observe.Config{Interval: 20 * time.Millisecond, RoundTimeout: 400 * time.Millisecond}, observe.Deps{Redis: rdb, Groups: c})
	first := <-rounds
	require.GreaterOrEqual(t, first.Took, 190*time.Millisecond)
	second := <-rounds
	require.Equal(t, first.Number+1, second.Number)
	require.GreaterOrEqual(t, o.Skipped(), int64(8))
}

// TestOneRoundIsInFlight however many ask for one.
func TestOneRoundIsInFlight(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	o := observerOf(rdb, observe.Config{}, provide(t, rdb, 2, 64)...)
	numbers := make(chan int64, 20)
	var working sync.WaitGroup
	for range 20 {
		working.Go(func() {
			r, err := o.Round(context.WithoutCancel(t.Context()))
			if err == nil {
				numbers <- r.Number
			}
		})
	}
	working.Wait()
	close(numbers)
	seen := map[int64]bool{}
	for n := range numbers {
		seen[n] = true
	}
	require.Len(t, seen, 20)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := o.Round(ended)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, facts.Problem(""), round(t, o).Streams[0].Shards[0].Problem, "a round that was broken off leaves no trace")
}
