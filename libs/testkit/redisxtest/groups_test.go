package redisxtest

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFieldF04NullLagOfARealServerStaysUnknown(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	for _, protocol := range []int{2, 3} {
		rdb := redis.NewClient(&redis.Options{
			Addr: server.Addr(), Protocol: protocol,
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
		t.Cleanup(func() { _ = rdb.Close() })
		key := fmt.Sprintf("k:%d", protocol)
		do(t, rdb, "XGROUP", "CREATE", key, "g", "0", "MKSTREAM")
		do(t, rdb, "XADD", key, "1-0", "f", "v")
		do(t, rdb, "XADD", key, "2-0", "f", "v")
		do(t, rdb, "XADD", key, "3-0", "f", "v")
		do(t, rdb, "XREADGROUP", "GROUP", "g", "c", "COUNT", 1, "STREAMS", key, ">")
		require.Equal(t, redisx.KnownCount(2), theGroup(t, rdb, key).Lag, "RESP%d", protocol)

		do(t, rdb, "XDEL", key, "3-0")
		group := theGroup(t, rdb, key)
		require.Equal(t, redisx.Count{}, group.Lag, "RESP%d: the lag is null now", protocol)
		require.False(t, group.Lag.IsZero())
		require.Equal(t, int64(1), group.Pending)
		require.Equal(t, "1-0", group.LastDeliveredID)
	}
}

func TestFieldF04OnlyARealZeroIsZero(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	do(t, rdb, "XGROUP", "CREATE", "k", "g", "0", "MKSTREAM")
	require.True(t, theGroup(t, rdb, "k").Lag.IsZero())
	do(t, rdb, "XADD", "k", "1-0", "f", "v")
	require.Equal(t, redisx.KnownCount(1), theGroup(t, rdb, "k").Lag)
	do(t, rdb, "XREADGROUP", "GROUP", "g", "c", "STREAMS", "k", ">")
	require.True(t, theGroup(t, rdb, "k").Lag.IsZero())
}

func TestFieldF03NegativeLagOfARealServerIsUnknown(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	do(t, rdb, "XADD", "k", "1-0", "f", "v")
	do(t, rdb, "XGROUP", "CREATE", "k", "g", "$", "ENTRIESREAD", 100)
	require.Equal(t, redisx.Count{}, theGroup(t, rdb, "k").Lag)
}

func TestGroupsReadTheSameFromAScript(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	do(t, rdb, "XADD", "k", "1-0", "f", "v")
	do(t, rdb, "XADD", "k", "2-0", "f", "v")
	do(t, rdb, "XGROUP", "CREATE", "k", "g", "1-0")
	do(t, rdb, "XGROUP", "CREATE", "k", "h", "0")
	do(t, rdb, "XREADGROUP", "GROUP", "h", "c", "STREAMS", "k", ">")
	direct, err := redisx.Groups(t.Context(), rdb, "k")
	require.NoError(t, err)
	require.Len(t, direct, 2)
	reply, err := rdb.Eval(t.Context(), "return redis.call('XINFO', 'GROUPS', KEYS[1])", []string{"k"}).Result()
	require.NoError(t, err)
	scripted, err := redisx.ParseGroups(reply)
	require.NoError(t, err)
	require.Equal(t, direct, scripted)
}

func theGroup(t *testing.T, rdb redisx.Doer, key string) redisx.Group {
	t.Helper()
	groups, err := redisx.Groups(t.Context(), rdb, key)
	require.NoError(t, err)
	require.Len(t, groups, 1)
	return groups[0]
}

func do(t *testing.T, rdb redisx.Doer, args ...any) {
	t.Helper()
	require.NoError(t, rdb.Do(t.Context(), args...).Err(), "%v", args)
}
