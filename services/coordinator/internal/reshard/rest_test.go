package reshard

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
)

// TestL2GroupIsAtRestWhenItsMembersSaySo: a shard that is granted and not reported yet is
// not read yet (I15); without members nobody is waited for.
func TestL2GroupIsAtRestWhenItsMembersSaySo(t *testing.T) {
	t.Parallel()
	g := group.New(group.DefaultConfig(), group.Birth{StreamPrefix: "orders", ConsumerGroup: "g", Layout: group.Whole(1), Lineage: "L"})
	require.True(t, atRest(loop.View{Group: g}), "nobody is alive")

	g.Members = []group.Member{{ID: "a", State: group.Active, Epoch: 1, JoinEpoch: 1}}
	g.Target, g.Holds = []string{"a"}, []group.Hold{{Member: "a"}}
	require.False(t, atRest(loop.View{Group: g}), "granted, and not reported")
	reported := loop.View{Group: g, Detail: map[string]codec.Detail{"a": {Owned: []int{0}}}}
	require.True(t, atRest(reported))

	g.Holds[0].Told = true
	require.False(t, atRest(reported), "being handed over")
}
