package ratelimit_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/ratelimit"
)

const prefix = "redis-stream:coord"

func TestSecuritySeveralGatewaysTogetherAllowExactlyTheLimit(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	config := ratelimit.Config{Enabled: true, Limit: 60, Window: century}
	gateways := make([]*ratelimit.Limiter, 2)
	for i := range gateways {
		gateways[i] = ratelimit.New(config, ratelimit.NewRedis(server.Client(t), prefix, century), clock.Now, nil)
	}
	passed, lost := answers(1_000, func(i int) int {
		w, _ := ask(gateways[i%len(gateways)], "billing")
		return w.Code
	})
	require.LessOrEqual(t, passed, int64(60))
	require.GreaterOrEqual(t, passed+lost, int64(60), "all of them, but for those that a stalled machine has lost")
	w, _ := ask(gateways[0], "shipping")
	require.Equal(t, http.StatusAccepted, w.Code, "another group has its own count")
}

func TestRedisWindowEndsByTheClockOfRedisAndLetsInAgain(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	const window = 400 * time.Millisecond
	config := ratelimit.Config{Enabled: true, Limit: 1, Window: window}
	// The gateway's own clock stands still: it does not matter.
	var stopped dial
	l := ratelimit.New(config, ratelimit.NewRedis(rdb, prefix, window), stopped.now, nil)
	refused, passed := 0, 0
	require.Eventually(t, func() bool {
		w, _ := ask(l, "")
		if w.Code == http.StatusAccepted {
			passed++
		} else {
			refused++
		}
		return passed >= 3 && refused > 0
	}, time.Minute, 5*time.Millisecond, "refused within a window, let in by the next")
}

func TestRedisWindowsBeginAtMultiplesOfTheirLength(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	const window = time.Hour
	c := ratelimit.NewRedis(rdb, prefix, window)
	for _, key := range []string{"a", "b"} {
		before, err := rdb.Time(t.Context()).Result()
		require.NoError(t, err)
		hits := count(t, c, key, time.Time{})
		after, err := rdb.Time(t.Context()).Result()
		require.NoError(t, err)
		hour := after.Add(hits.Reset + time.Second).Truncate(window)
		require.False(t, hour.Before(before.Add(hits.Reset-time.Second)), "the window ends on the hour")
		left, err := rdb.PTTL(t.Context(), prefix+":gateway:rate:"+key).Result()
		require.NoError(t, err)
		require.Positive(t, left)
		require.LessOrEqual(t, left, hits.Reset, "and takes its key along")
	}
}

func TestRedisBeginsAnewWhereAKeyLastsTooLong(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	c := ratelimit.NewRedis(rdb, prefix, century)
	for _, life := range []time.Duration{0, 2 * century} {
		require.NoError(t, rdb.Set(t.Context(), prefix+":gateway:rate:a", 1_000_000, life).Err())
		require.EqualValues(t, 1, count(t, c, "a", time.Time{}).Count, "a clock was set back, or a setting changed")
		require.EqualValues(t, 2, count(t, c, "a", time.Time{}).Count)
	}
}

func TestRedisThatIsAwayRefusesInTimeAndWorksAgainWhenItIsBack(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	config := ratelimit.Config{Enabled: true, Limit: 60, Window: century}
	l := ratelimit.New(config, ratelimit.NewRedis(server.Client(t), prefix, century), clock.Now, nil)
	w, _ := ask(l, "")
	require.Equal(t, http.StatusAccepted, w.Code)
	server.Kill()
	begun := clock.Now()
	w, x := ask(l, "")
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Equal(t, protocol.CodeStoreUnavailable, x.Code)
	require.Less(t, clock.Since(begun), 20*time.Second)
	server.Restart()
	require.Eventually(t, func() bool {
		w, _ := ask(l, "")
		return w.Code == http.StatusAccepted
	}, time.Minute, 20*time.Millisecond)
}

func TestACallerThatGoesAwayIsCountedAndDoesNotLookLikeAStoreThatIsAway(t *testing.T) {
	t.Parallel()
	c := ratelimit.NewRedis(redisproc.Start(t).Client(t), prefix, century)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	_, err := c.Hit(ctx, "a", time.Time{})
	require.NoError(t, err)
	require.EqualValues(t, 2, count(t, c, "a", time.Time{}).Count)
}

func TestRedisSurvivesScriptFlushAndServesEverySlotOfACluster(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	c := ratelimit.NewRedis(cluster.Client(t), prefix, century)
	for _, key := range []string{"a", "b", "c", "d", "{x}", "}{", "é ", "\x00"} {
		require.EqualValues(t, 1, count(t, c, key, time.Time{}).Count)
		for i := range 3 {
			require.NoError(t, cluster.Node(i).Client(t).ScriptFlush(t.Context()).Err())
		}
		require.EqualValues(t, 2, count(t, c, key, time.Time{}).Count)
	}
}
