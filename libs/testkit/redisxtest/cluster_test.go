package redisxtest

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestClusterStatesAreNamed(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	source, target := cluster.Node(0).Client(t), cluster.Node(1).Client(t)
	key, slot := keyOfNode(t, source)
	require.Equal(t, redisx.StateMoved, stateOf(t, target, "XLEN", key))

	sourceID, targetID := source.ClusterMyID(t.Context()).Val(), target.ClusterMyID(t.Context()).Val()
	do(t, target, "CLUSTER", "SETSLOT", slot, "IMPORTING", sourceID)
	do(t, source, "CLUSTER", "SETSLOT", slot, "MIGRATING", targetID)
	require.Equal(t, redisx.StateAsk, stateOf(t, source, "XLEN", key))
	do(t, source, "CLUSTER", "SETSLOT", slot, "STABLE")
	do(t, source, "SET", "{"+key+"}here", "v")
	do(t, source, "CLUSTER", "SETSLOT", slot, "MIGRATING", targetID)
	require.Equal(t, redisx.StateTryAgain, stateOf(t, source, "MGET", "{"+key+"}here", "{"+key+"}gone"))

	lonely := redisproc.Start(t, redisproc.WithArgs("--cluster-enabled", "yes")).Client(t)
	require.Equal(t, redisx.StateClusterDown, stateOf(t, lonely, "XLEN", key))
}

func TestClusterWithAllNodesDownIsTransient(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	rdb := cluster.Client(t)
	do(t, rdb, "PING")
	for i := range 3 {
		cluster.Node(i).Kill()
	}
	state := stateOf(t, rdb, "XLEN", "k")
	require.True(t, state.Transient(), "%s", state)
}

func TestFieldF20DedicatedReadsFromThePrimaryWhereTheApplicationReadsFromReplicas(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	replica := cluster.AddReplica(t, 0)
	key, _ := keyOfNode(t, cluster.Node(0).Client(t))
	app := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: cluster.Addrs(), RouteRandomly: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	t.Cleanup(func() { _ = app.Close() })
	rdb, err := redisx.Dedicated(app, 4)
	require.NoError(t, err)
	t.Cleanup(func() { _ = rdb.Close() })
	do(t, rdb, "XGROUP", "CREATE", key, "g", "0", "MKSTREAM")
	do(t, rdb, "XADD", key, "1-0", "f", "v")
	for range 100 {
		require.Equal(t, redisx.KnownCount(1), theGroup(t, rdb, key).Lag)
		do(t, rdb, "XPENDING", key, "g")
	}
	do(t, rdb, "XREADGROUP", "GROUP", "g", "c", "STREAMS", key, ">")
	require.Zero(t, calls(t, replica, "xinfo|groups")+calls(t, replica, "xpending")+calls(t, replica, "xreadgroup"))

	for range 100 {
		do(t, app, "XPENDING", key, "g")
	}
	require.Positive(t, calls(t, replica, "xpending"), "the application's own client does read from the replica")
}

// calls returns how often the server ran a command for a client.
func calls(t *testing.T, server *redisproc.Server, command string) int {
	t.Helper()
	stats, err := server.Client(t).InfoMap(t.Context(), "commandstats").Result()
	require.NoError(t, err)
	var n int
	if line := stats["Commandstats"]["cmdstat_"+command]; line != "" {
		_, err = fmt.Sscanf(line, "calls=%d,", &n)
		require.NoError(t, err)
	}
	return n
}

// keyOfNode returns a key, and its slot, that the node serves.
func keyOfNode(t *testing.T, node *redis.Client) (string, int) {
	t.Helper()
	for i := range 1000 {
		key := "k" + itoa(i)
		if stateOf(t, node, "EXISTS", key) == redisx.StateOK {
			return key, routing.Slot(key)
		}
	}
	t.Fatal("the node serves none of 1000 keys")
	return "", 0
}

func TestProbeOfAClusterAsksEveryPrimary(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	rdb := cluster.Client(t)
	all, err := redisx.Probe(t.Context(), rdb)
	require.NoError(t, err)
	require.True(t, all.ShardedPubSub)
	cluster.Node(1).Kill()
	require.Eventually(t, func() bool {
		_, err = redisx.Probe(t.Context(), rdb)
		return err != nil
	}, patience, time.Millisecond, "nothing is concluded from a server that does not answer")
}
