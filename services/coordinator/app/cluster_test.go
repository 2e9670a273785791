package app_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

func TestCoordinatorWorksOnACluster(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	cfg := settings(cluster.Node(0))
	cfg.Redis.URL = config.Secret("redis+cluster://" + strings.Join(cluster.Addrs(), ","))
	c := start(t, cfg, app.Deps{})
	c.createOrders("billing", "shipping")
	settle(c, newMember("ma", ordersURL), newMember("mb", ordersURL))
	settle(c, newMember("mc", "/coord/v1/streams/orders/groups/shipping"))
	for i := range 3 {
		keys, err := cluster.Node(i).Client(t).Keys(t.Context(), "*").Result()
		require.NoError(t, err)
		require.NotEmpty(t, keys, "what there is lies on all nodes")
	}
	healthy(c)

	// One node that may evict is enough to be warned of (field case F34).
	require.NoError(t, cluster.Node(2).Client(t).ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err())
	require.Eventually(t, func() bool { return len(c.health().Problems) == 1 }, patience, interval)

	var deleted protocol.StreamResponse
	status, _ := c.call("DELETE", "/coord/v1/streams/orders",
		protocol.DeleteRequest{RequestedBy: "test", Reason: "over", Force: true, DeleteStreams: true}, &deleted)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, protocol.CodeStreamNotFound, c.refused("GET", "/coord/v1/streams/orders", nil, http.StatusNotFound))
}
