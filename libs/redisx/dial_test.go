package redisx

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

func TestNewBuildsTheKindThatTheOptionsName(t *testing.T) {
	t.Parallel()
	open := func(url string) redis.UniversalClient {
		rdb, err := New(Options{URL: url, PoolSize: 3})
		require.NoError(t, err)
		t.Cleanup(func() { _ = rdb.Close() })
		return rdb
	}
	single, ok := open("redis://u:p@h:1/2").(*redis.Client)
	require.True(t, ok)
	require.Equal(t, "h:1", single.Options().Addr)
	require.Equal(t, 2, single.Options().DB)
	require.Equal(t, "p", single.Options().Password)
	require.Equal(t, 3, single.Options().PoolSize)
	require.True(t, single.Options().ContextTimeoutEnabled)

	cluster, ok := open("rediss+cluster://h:1").(*redis.ClusterClient)
	require.True(t, ok, "one seed is a cluster too")
	require.NotNil(t, cluster.Options().TLSConfig)
	require.False(t, cluster.Options().ReadOnly)

	_, ok = open("redis+sentinel://a,b/m").(*redis.Client)
	require.True(t, ok)
}

func TestFieldF20DedicatedClusterClientNeverReadsFromReplicas(t *testing.T) {
	t.Parallel()
	app := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: []string{"a:1", "b:2"}, RouteRandomly: true, RouteByLatency: true, ReadOnly: true,
		Password: "p", ReadTimeout: time.Millisecond, MaintNotificationsConfig: noMaintenance(),
	})
	t.Cleanup(func() { _ = app.Close() })
	rdb, err := Dedicated(app, 7)
	require.NoError(t, err)
	t.Cleanup(func() { _ = rdb.Close() })
	cluster, ok := rdb.(*redis.ClusterClient)
	require.True(t, ok)
	o := cluster.Options()
	require.False(t, o.ReadOnly || o.RouteByLatency || o.RouteRandomly)
	require.Equal(t, 7, o.PoolSize)
	require.Equal(t, "p", o.Password)
	require.Equal(t, []string{"a:1", "b:2"}, o.Addrs)
	require.Equal(t, blockingReadTimeout, o.ReadTimeout)
	require.True(t, app.Options().ReadOnly, "the application's client stays as it is")
}

func TestDedicatedKeepsPlaceAndSecretsOfAStandaloneClient(t *testing.T) {
	t.Parallel()
	app := redis.NewClient(&redis.Options{
		Addr: "h:1", DB: 4, Username: "u", Password: "p", PoolSize: 2, MaxActiveConns: 2, MinIdleConns: 0,
		ReadTimeout: time.Millisecond, MaintNotificationsConfig: noMaintenance(),
	})
	t.Cleanup(func() { _ = app.Close() })
	rdb, err := Dedicated(app, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = rdb.Close() })
	client, ok := rdb.(*redis.Client)
	require.True(t, ok)
	o := client.Options()
	require.Equal(t, "h:1", o.Addr)
	require.Equal(t, 4, o.DB)
	require.Equal(t, "p", o.Password)
	require.Equal(t, 1, o.PoolSize)
	require.Zero(t, o.MaxActiveConns)
	require.Zero(t, o.MaxRetries)
	require.True(t, o.ContextTimeoutEnabled)
}

func TestDedicatedRefusesAKindItCannotBuildAgain(t *testing.T) {
	t.Parallel()
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "h:1"}})
	t.Cleanup(func() { _ = ring.Close() })
	_, err := Dedicated(ring, 1)
	require.ErrorIs(t, err, ErrClientKind)
}
