package ratelimit_test

import (
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/ratelimit"
)

func count(t *testing.T, c ratelimit.Counter, key string, now time.Time) ratelimit.Hits {
	t.Helper()
	hits, err := c.Hit(t.Context(), key, now)
	require.NoError(t, err)
	return hits
}

func TestLocalWindowsAreTheSameForAllKeys(t *testing.T) {
	t.Parallel()
	var clock dial
	c := ratelimit.NewLocal(time.Minute, 10)
	clock.set(10 * time.Second)
	require.Equal(t, ratelimit.Hits{Count: 1, Reset: 50 * time.Second}, count(t, c, "a", clock.now()))
	clock.set(50 * time.Second)
	require.Equal(t, ratelimit.Hits{Count: 1, Reset: 10 * time.Second}, count(t, c, "b", clock.now()))
	require.Equal(t, ratelimit.Hits{Count: 2, Reset: 10 * time.Second}, count(t, c, "a", clock.now()))
	clock.set(time.Minute)
	require.Equal(t, ratelimit.Hits{Count: 1, Reset: time.Minute}, count(t, c, "b", clock.now()))
}

func TestLocalCountsALateCallerInTheNewWindow(t *testing.T) {
	t.Parallel()
	var clock dial
	c := ratelimit.NewLocal(time.Minute, 10)
	clock.set(time.Minute)
	now := clock.now()
	clock.set(time.Minute - 1)
	before := clock.now()
	require.EqualValues(t, 1, count(t, c, "a", before).Count)
	require.EqualValues(t, 1, count(t, c, "a", now).Count)
	require.EqualValues(t, 2, count(t, c, "a", before).Count, "the old window does not come back")
	require.EqualValues(t, 3, count(t, c, "a", now).Count, "nor does the new one begin again")
}

func TestLocalDoesNotStayInTheWindowOfAClockThatWasWrong(t *testing.T) {
	t.Parallel()
	var clock dial
	c := ratelimit.NewLocal(time.Minute, 10)
	clock.set(24 * time.Hour)
	count(t, c, "a", clock.now())
	clock.set(0)
	require.Equal(t, ratelimit.Hits{Count: 1, Reset: time.Minute}, count(t, c, "a", clock.now()))
}

func TestSecurityAMillionKeysStayWithinTheBound(t *testing.T) {
	t.Parallel()
	var clock dial
	const maxKeys = 10_000
	c := ratelimit.NewLocal(time.Minute, maxKeys)
	fill := func(from, to int) {
		for i := from; i < to; i++ {
			count(t, c, "stream-"+strconv.Itoa(i), clock.now())
		}
	}
	heap := func() uint64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	fill(0, maxKeys)
	before := heap()
	fill(maxKeys, 1_000_000)
	require.Eventually(t, func() bool { // other tests of the process have things in hand for a while
		return int64(heap())-int64(before) < 8<<20
	}, time.Minute, 100*time.Millisecond, "990,000 more keys need no more room")
	require.EqualValues(t, 1, count(t, c, "somebody else's", clock.now()).Count, "and refuse nobody else")
}

func TestLocalIsExactWithinTheBound(t *testing.T) {
	t.Parallel()
	var clock dial
	c := ratelimit.NewLocal(time.Minute, 1_000)
	for range 3 {
		for i := range 1_000 {
			count(t, c, strconv.Itoa(i), clock.now())
		}
	}
	for i := range 1_000 {
		require.EqualValues(t, 4, count(t, c, strconv.Itoa(i), clock.now()).Count)
	}
}

func TestAThousandAtOncePassExactlyToTheLimit(t *testing.T) {
	t.Parallel()
	var clock dial
	l := ratelimit.New(minutely(), ratelimit.NewLocal(time.Minute, 10), clock.now, nil)
	passed, lost := answers(1_000, func(int) int {
		w, _ := ask(l, "billing")
		return w.Code
	})
	require.EqualValues(t, 60, passed)
	require.Zero(t, lost)
}

// callers ask at a time. All at once would have some wait for Redis until they are refused.
const callers = 64

// answers has many callers ask, so often in all, and returns how many were answered 202, and
// how many 503: those waited too long for a store, which may have counted them.
func answers(times int, ask func(i int) int) (passed, lost int64) {
	var ok, away atomic.Int64
	var all sync.WaitGroup
	var next atomic.Int64
	for range callers {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(times); i = next.Add(1) - 1 {
				switch ask(int(i)) {
				case http.StatusAccepted:
					ok.Add(1)
				case http.StatusServiceUnavailable:
					away.Add(1)
				}
			}
		})
	}
	all.Wait()
	return ok.Load(), away.Load()
}
