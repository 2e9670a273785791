package provision

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/catalog"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

func TestShardsServeTheCatalog(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	var shards catalog.Shards = NewShards(rdb, slog.New(slog.DiscardHandler))
	do(t, rdb, "XADD", "orders:0", "1-0", "f", "v")
	groups := []stream.Group{{Name: "all"}, {Name: "new", FromLatest: true}}

	existing, err := shards.Provision(t.Context(), "orders", 4, groups)
	require.NoError(t, err)
	require.Zero(t, existing)
	require.Equal(t, "0-0", groupsOn(t, rdb, "orders:0")["all"].LastDeliveredID)
	require.Equal(t, "1-0", groupsOn(t, rdb, "orders:0")["new"].LastDeliveredID)
	existing, err = shards.Provision(t.Context(), "orders", 4, groups)
	require.NoError(t, err)
	require.Equal(t, 8, existing)

	require.NoError(t, shards.Destroy(t.Context(), "orders", 4, "all"))
	require.Equal(t, int64(4), rdb.DBSize(t.Context()).Val(), "the other group uses the keys")
	require.NoError(t, shards.Destroy(t.Context(), "orders", 4, "new"))
	require.Zero(t, rdb.DBSize(t.Context()).Val())
}

func TestShardsNameStreamAndKeyOfAFailure(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	do(t, rdb, "SET", "orders:2", "v")
	shards := NewShards(rdb, slog.New(slog.DiscardHandler))
	_, err := shards.Provision(t.Context(), "orders", 4, []stream.Group{{Name: "g"}})
	require.ErrorContains(t, err, `"orders:2"`)
	_, err = shards.Provision(t.Context(), "orders", -1, []stream.Group{{Name: "g"}})
	require.ErrorIs(t, err, ErrPlan)
	require.ErrorIs(t, shards.Destroy(t.Context(), "orders", -1, "g"), ErrPlan)
}
