package provision

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// TestL1ShardsThatTheRecordForgotAreFoundByTheirMarkers: a key is a forgotten shard only if
// it was marked after the stream was created.
func TestL1ShardsThatTheRecordForgotAreFoundByTheirMarkers(t *testing.T) {
	t.Parallel()
	b := newBench(t, redisproc.Start(t).Client(t))
	groups := []stream.Group{{Name: "g"}}
	_, err := b.Provision(t.Context(), "orders", upTo(2), groups, 10)
	require.NoError(t, err)
	behind := func(from int, mark int64) int {
		found, err := b.Beyond(t.Context(), "orders", from, mark)
		require.NoError(t, err)
		return found
	}
	require.Equal(t, 2, behind(2, 10), "nothing is behind the last")

	added := Token{Mark: 20, ReshardingID: "R", Phase: "forward"}
	higher, err := b.Mark(t.Context(), "orders", []int{2, 3, 5}, added)
	require.NoError(t, err)
	require.Zero(t, higher)
	_, err = b.Make(t.Context(), "orders", []int{2, 3, 5}, added, groups, nil)
	require.NoError(t, err)
	require.Equal(t, 4, behind(2, 10), "up to the first that is missing")
	require.Equal(t, 2, behind(2, 20), "marks of a former stream of the name do not count")

	b.do("DEL", "orders:4", "orders:3")
	b.do("SET", "orders:3", "retired:R")
	require.Equal(t, 3, behind(2, 10), "a sealed shard is none")
	b.do("SET", "redis-stream:coord:shard:{orders:2}", "nonsense")
	require.Equal(t, 2, behind(2, 10), "nor is what nobody marked")
}
