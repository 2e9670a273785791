package provision

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

func TestShardsServeTheCatalog(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	shards := b.Shards
	b.do("XADD", "orders:0", "1-0", "f", "v")
	wanted := []stream.Group{{Name: "all"}, {Name: "new", FromLatest: true}}

	existing, err := shards.Provision(t.Context(), "orders", upTo(4), wanted, 7)
	require.NoError(t, err)
	require.Zero(t, existing)
	require.Equal(t, "0-0", groupsOn(t, b.rdb, "orders:0")["all"].LastDeliveredID)
	require.Equal(t, "1-0", groupsOn(t, b.rdb, "orders:0")["new"].LastDeliveredID)
	existing, err = shards.Provision(t.Context(), "orders", upTo(4), wanted, 8)
	require.NoError(t, err)
	require.Equal(t, 8, existing)

	require.NoError(t, shards.Destroy(t.Context(), "orders", 4, "all"))
	require.Equal(t, int64(8), b.rdb.DBSize(t.Context()).Val(), "the other group uses the keys")
	require.NoError(t, shards.Destroy(t.Context(), "orders", 4, "new"))
	require.Zero(t, b.rdb.DBSize(t.Context()).Val())
}

func TestCreationBehindALaterPhaseMakesNothing(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.mark(4, tokenOf(100, "DRAINING"))
	_, err := b.Provision(t.Context(), "orders", upTo(4), groups(), 99)
	require.ErrorIs(t, err, ErrStale)
	var higher *HigherMarkError
	require.ErrorAs(t, err, &higher)
	require.Equal(t, &HigherMarkError{Mark: 99, Higher: 100}, higher)
	require.ErrorContains(t, err, "100")
	require.Equal(t, int64(4), b.rdb.DBSize(t.Context()).Val(), "the markers")
}

func TestShardsNameStreamAndKeyOfAFailure(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.do("SET", "orders:2", "v")
	_, err := b.Provision(t.Context(), "orders", upTo(4), groups(), 1)
	require.ErrorContains(t, err, `"orders:2"`)
	require.ErrorContains(t, err, `stream "orders"`)
}
