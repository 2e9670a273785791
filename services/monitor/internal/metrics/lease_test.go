package metrics_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/metrics"
)

const leaseKey = "rsc:monitor:lease"

func dial(t *testing.T) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(redisproc.Start(t).URL())
	require.NoError(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// watch is a clock that is moved by hand.
type watch struct{ ahead atomic.Int64 }

func (w *watch) now() time.Time           { return began().Add(time.Duration(w.ahead.Load())) }
func (w *watch) forward(by time.Duration) { w.ahead.Add(int64(by)) }

func TestOneOfTwoHoldsTheLeaseAndTheOtherFollowsWhenItEnds(t *testing.T) {
	t.Parallel()
	client, clock := dial(t), &watch{}
	one := metrics.NewLease(client, leaseKey, time.Minute, clock.now)
	two := metrics.NewLease(client, leaseKey, time.Minute, clock.now)
	require.False(t, one.Holds())
	require.NoError(t, one.Renew(t.Context()))
	require.NoError(t, two.Renew(t.Context()))
	require.True(t, one.Holds())
	require.False(t, two.Holds())

	require.NoError(t, two.Release(t.Context()), "what is not held cannot be given back")
	clock.forward(40 * time.Second)
	require.NoError(t, one.Renew(t.Context()))
	clock.forward(40 * time.Second)
	require.True(t, one.Holds(), "it was renewed")
	left, err := client.PTTL(t.Context(), leaseKey).Result()
	require.NoError(t, err)
	require.Greater(t, left, 50*time.Second)

	require.NoError(t, one.Release(t.Context()))
	require.False(t, one.Holds())
	require.NoError(t, two.Renew(t.Context()))
	require.True(t, two.Holds())
	require.NoError(t, one.Release(t.Context()))
	require.NoError(t, one.Renew(t.Context()))
	require.False(t, one.Holds())
}

// A monitor that hangs has stopped showing before anybody else can have begun.
func TestLeaseEndsHereWithoutAskingRedis(t *testing.T) {
	t.Parallel()
	client, clock := dial(t), &watch{}
	lease := metrics.NewLease(client, leaseKey, time.Minute, clock.now)
	require.NoError(t, lease.Renew(t.Context()))
	clock.forward(time.Minute)
	require.False(t, lease.Holds())
	held, err := client.Exists(t.Context(), leaseKey).Result()
	require.NoError(t, err)
	require.EqualValues(t, 1, held, "Redis still has it")
}

func TestLeaseThatRedisLetRunOutIsAnothers(t *testing.T) {
	t.Parallel()
	client, clock := dial(t), &watch{}
	one := metrics.NewLease(client, leaseKey, time.Millisecond, clock.now)
	two := metrics.NewLease(client, leaseKey, time.Minute, clock.now)
	require.NoError(t, one.Renew(t.Context()))
	require.Eventually(t, func() bool {
		require.NoError(t, two.Renew(t.Context()))
		return two.Holds()
	}, 10*time.Second, time.Millisecond)
	require.NoError(t, one.Renew(t.Context()))
	require.False(t, one.Holds())
}

func TestRedisThatDoesNotAnswerGivesNobodyTheLease(t *testing.T) {
	t.Parallel()
	client, clock := dial(t), &watch{}
	require.NoError(t, client.LPush(t.Context(), leaseKey, "something else").Err())
	lease := metrics.NewLease(client, leaseKey, time.Minute, clock.now)
	require.ErrorContains(t, lease.Renew(t.Context()), leaseKey)
	require.False(t, lease.Holds())

	require.NoError(t, client.Del(t.Context(), leaseKey).Err())
	require.NoError(t, lease.Renew(t.Context()))
	require.NoError(t, client.Close())
	require.Error(t, lease.Renew(t.Context()))
	require.True(t, lease.Holds(), "nobody else can have been given it")
	clock.forward(time.Minute)
	require.False(t, lease.Holds())
	require.NoError(t, lease.Release(t.Context()))
}

// Metrics matter most when Redis is in trouble.
func TestFullRedisLeavesTheLeaseWhereItIs(t *testing.T) {
	t.Parallel()
	client, clock := dial(t), &watch{}
	lease := metrics.NewLease(client, leaseKey, time.Minute, clock.now)
	require.NoError(t, lease.Renew(t.Context()))
	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "1").Err())
	clock.forward(59 * time.Second)
	require.NoError(t, lease.Renew(t.Context()))
	clock.forward(59 * time.Second)
	require.True(t, lease.Holds())
	require.NoError(t, lease.Release(t.Context()))
	require.Error(t, lease.Renew(t.Context()), "it cannot be taken anew")
	require.False(t, lease.Holds())
}

func TestRenewingMovesTheEndInRedisAndGivingBackTakesNobodyElses(t *testing.T) {
	t.Parallel()
	client, clock := dial(t), &watch{}
	lease := metrics.NewLease(client, leaseKey, time.Minute, clock.now)
	require.NoError(t, lease.Renew(t.Context()))
	require.NoError(t, client.PExpire(t.Context(), leaseKey, 20*time.Second).Err())
	require.NoError(t, lease.Renew(t.Context()))
	left, err := client.PTTL(t.Context(), leaseKey).Result()
	require.NoError(t, err)
	require.Greater(t, left, 40*time.Second)

	require.NoError(t, client.Set(t.Context(), leaseKey, "another", time.Minute).Err(), "a failover has lost the lease")
	require.NoError(t, lease.Release(t.Context()))
	holder, err := client.Get(t.Context(), leaseKey).Result()
	require.NoError(t, err)
	require.Equal(t, "another", holder)
}
