package telemetry

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
)

func timerAt(now *time.Time) *Timer {
	timer := NewTimer(TimerOpts{Name: "work_duration", Help: "How long work takes.", Labels: []string{"stream", "kind"}})
	timer.now = func() time.Time { return *now }
	return timer
}

const workHead = `
# HELP redis_stream_coord_work_duration_seconds How long work takes.
# TYPE redis_stream_coord_work_duration_seconds summary
`

const maxHead = `
# HELP redis_stream_coord_work_duration_seconds_max Longest of the last one to two minutes: How long work takes.
# TYPE redis_stream_coord_work_duration_seconds_max gauge
`

// Contract, metric names: a timer is _count, _sum and a gauge _max.
func TestTimerIsCountSumAndMaximum(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	timer := timerAt(&now)
	timer.Observe(2*time.Second, "orders", "a")
	timer.Observe(500*time.Millisecond, "orders", "a")
	timer.Observe(time.Second, "too few")
	require.NoError(t, testutil.CollectAndCompare(timer, strings.NewReader(workHead+`
redis_stream_coord_work_duration_seconds_sum{kind="a",stream="orders"} 2.5
redis_stream_coord_work_duration_seconds_count{kind="a",stream="orders"} 2
`+maxHead+`
redis_stream_coord_work_duration_seconds_max{kind="a",stream="orders"} 2
`)))
}

func TestMaximumIsForgottenAfterTwoMinutesAndLeftOutNotZero(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	timer := timerAt(&now)
	const name = "redis_stream_coord_work_duration_seconds_max"
	shown := func(want string) {
		t.Helper()
		if want != "" {
			want = maxHead + name + `{kind="a",stream="orders"} ` + want + "\n"
		}
		require.NoError(t, testutil.CollectAndCompare(timer, strings.NewReader(want), name))
	}
	timer.Observe(9*time.Second, "orders", "a")
	now = now.Add(maxAge)
	timer.Observe(time.Second, "orders", "a")
	shown("9")
	now = now.Add(maxAge)
	shown("1")
	now = now.Add(maxAge)
	shown("")
	timer.Observe(3*time.Second, "orders", "a")
	now = now.Add(5 * maxAge)
	shown("")
	now = now.Add(-time.Hour)
	shown("")
}

func TestForgettingTakesEverySeriesThatMatchesAndNoOther(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	timer := timerAt(&now)
	for _, kind := range []string{"a", "b"} {
		timer.Observe(time.Second, "orders", kind)
		timer.Observe(time.Second, "audits", kind)
	}
	timer.Forget(prometheus.Labels{"nothing": "orders"})
	require.Equal(t, 8, testutil.CollectAndCount(timer))
	timer.Forget(prometheus.Labels{"stream": "orders"})
	require.Equal(t, 4, testutil.CollectAndCount(timer))
	problems, err := testutil.CollectAndLint(timer)
	require.NoError(t, err)
	require.Empty(t, problems)
}
