package clock_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

func TestSleepWaitsForItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := clock.Now()
		require.NoError(t, clock.Sleep(t.Context(), 3*time.Second))
		require.Equal(t, 3*time.Second, clock.Since(start))
	})
}

func TestSleepEndsEarlyWithTheErrorOfItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := clock.Now()
		deadline, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, clock.Sleep(deadline, time.Hour), context.DeadlineExceeded)
		require.Equal(t, time.Second, clock.Since(start))

		cancelled, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		require.ErrorIs(t, clock.Sleep(cancelled, time.Hour), context.Canceled)
		require.Equal(t, time.Second+time.Minute, clock.Since(start))

		require.ErrorIs(t, clock.Sleep(cancelled, time.Hour), context.Canceled, "it has ended before")
		require.Equal(t, time.Second+time.Minute, clock.Since(start), "no time has passed")
	})
}

// TestSleepOfNoTimeTellsWhetherItsContextHasEnded without waiting.
func TestSleepOfNoTimeTellsWhetherItsContextHasEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := clock.Now()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for _, d := range []time.Duration{0, -time.Second} {
			require.NoError(t, clock.Sleep(t.Context(), d))
			require.ErrorIs(t, clock.Sleep(ended, d), context.Canceled)
		}
		require.Zero(t, clock.Since(start))
	})
}

// TestTimersFollowTheClock: all of them are the time package's, so that a bubble of
// synctest rules them.
func TestTimersFollowTheClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := clock.Now()
		require.Equal(t, start, clock.Now(), "a bubble's clock stands while the test runs")
		timer := clock.NewTimer(2 * time.Second)
		defer timer.Stop()
		require.Equal(t, start.Add(2*time.Second), <-timer.C)
		ticker := clock.NewTicker(time.Second)
		defer ticker.Stop()
		require.Equal(t, start.Add(3*time.Second), <-ticker.C)
		require.Equal(t, start.Add(4*time.Second), <-ticker.C)
		require.Equal(t, 6*time.Second, clock.Until(start.Add(10*time.Second)))
		require.Equal(t, -4*time.Second, clock.Until(start))
		require.Equal(t, 4*time.Second, clock.Since(start))
	})
}
