package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// M3: the operator's barrier, for what the store cannot notice by itself.
func TestM3BarrierIsOpenedAndClosedOnAnOperatorsWord(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createGroup("a", new(2)))
	require.Equal(t, protocol.StatusOK, b.join("a").Status)
	barrier := func(closing bool) (protocol.GroupResponse, error) {
		return b.catalog.Barrier(t.Context(), "orders", "a", protocol.BarrierRequest{RequestedBy: "ops", Reason: "put back", Close: closing})
	}
	_, err := barrier(true)
	requireCode(t, err, protocol.CodeInvalidRequest)
	before, err := b.catalog.Group(t.Context(), "orders", "a")
	require.NoError(t, err)
	shown, err := barrier(false)
	require.NoError(t, err)
	require.NotNil(t, shown.BarrierUntil)
	require.NotEqual(t, before.Lineage, shown.Lineage, "M2: another history")
	require.NotEqual(t, protocol.StatusOK, b.join("a").Status)
	shown, err = barrier(true)
	require.NoError(t, err)
	require.Nil(t, shown.BarrierUntil)
	events := b.events()
	require.Equal(t, "ADMIN BARRIER ops put back", told(events[2]))
	require.Equal(t, "ADMIN CLOSE_BARRIER ops put back", told(events[len(events)-1]))
	_, err = b.catalog.Barrier(t.Context(), "orders", "nobody", protocol.BarrierRequest{})
	requireCode(t, err, protocol.CodeGroupNotFound)
}

// H4: a member that is thrown out blocks its shards until its lease is over.
func TestH4FencedMemberIsToldAndItsShardsAreBlocked(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createGroup("a", new(2)))
	require.Equal(t, protocol.StatusOK, b.join("a").Status)
	fence := func(name, member string) (protocol.GroupResponse, error) {
		return b.catalog.Fence(t.Context(), "orders", name, member, protocol.FenceRequest{RequestedBy: "ops", Reason: "stuck"})
	}
	_, err := fence("a", "m")
	require.NoError(t, err)
	events := b.events()
	require.Equal(t, "ADMIN FENCE m ops stuck", told(events[2]))
	require.NotNil(t, events[2].Shards[0].Hold.After.LingersUntil)
	_, err = fence("a", "m")
	requireCode(t, err, protocol.CodeNotFound)
	_, err = fence("a", "nobody")
	requireCode(t, err, protocol.CodeNotFound)
	_, err = fence("nobody", "m")
	requireCode(t, err, protocol.CodeGroupNotFound)
	require.Len(t, b.events(), 3, "what is refused is no event")
}

func TestRepairOfAnIndexThatNeedsNoneSaysSo(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createGroup("a", new(2)))
	done, err := b.catalog.RepairIndex(t.Context(), protocol.RepairIndexRequest{RequestedBy: "ops"})
	require.NoError(t, err)
	require.Equal(t, protocol.RepairIndexResponse{Added: []string{}, Removed: []string{}}, done)
}
