package views_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/views"
)

// scaledIn is settled, of which only shard 0 is routed: 1 is removed and still read, 2 is
// closed, nobody reads it any more.
func scaledIn() views.Source {
	return changed(func(s views.Source) {
		s.Group.ShardCount, s.Group.Removed, s.Group.Closed = 1, 2, []int{2}
		s.Group.Target[2], s.Group.Holds[2] = "", group.Hold{}
		owned(s, "b")
	})
}

// TestI15StateWhileShardsAreRemoved: a removed shard that is open is like any other, one
// that is closed must not be read, and needs nobody.
func TestI15StateWhileShardsAreRemoved(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(views.Source)
		want   protocol.GroupState
	}{
		"the closed shard is free":            {func(views.Source) {}, protocol.GroupStable},
		"a removed shard is wanted, not held": {func(s views.Source) { s.Group.Holds[1] = group.Hold{} }, protocol.GroupReconciling},
		"a removed shard is wanted by nobody": {func(s views.Source) {
			s.Group.Target[1], s.Group.Holds[1] = "", group.Hold{}
			owned(s, "a", 0)
		}, protocol.GroupReconciling},
		"the closed shard is held, told to drop": {func(s views.Source) {
			s.Group.Holds[2] = group.Hold{Member: "b", Incarnation: "ib", Told: true}
		}, protocol.GroupReconciling},
		"the closed shard lingers": {func(s views.Source) {
			s.Group.Holds[2] = group.Hold{Member: "x", Lingers: 10_000}
		}, protocol.GroupReconciling},
		"the closed shard is free and reported": {func(s views.Source) { owned(s, "b", 2) }, protocol.GroupReconciling},
		"a shard outside the reading set is held": {func(s views.Source) {
			s.Group.Target = append(s.Group.Target, "", "")
			s.Group.Holds = append(s.Group.Holds, group.Hold{}, group.Hold{Member: "a", Incarnation: "ia", Told: true})
		}, protocol.GroupReconciling},
		"a shard outside the reading set is only listed": {func(s views.Source) {
			s.Group.Target, s.Group.Holds = append(s.Group.Target, ""), append(s.Group.Holds, group.Hold{})
		}, protocol.GroupStable},
		"a shard is lost and held": {func(s views.Source) { s.Group.Lost = []int{1} }, protocol.GroupStable},
		"a shard is lost and not granted (L12)": {func(s views.Source) {
			s.Group.Lost, s.Group.Holds[1] = []int{1}, group.Hold{}
			owned(s, "a", 0)
		}, protocol.GroupReconciling},
		"all shards are closed": {func(s views.Source) {
			s.Group.ShardCount, s.Group.Removed, s.Group.Closed = 0, 3, []int{0, 1, 2}
			clear(s.Group.Target)
			clear(s.Group.Holds)
			owned(s, "a")
		}, protocol.GroupStable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scaledIn()
			test.change(s)
			require.Equal(t, test.want, views.State(s))
		})
	}
}

// TestL5ClosedShardsMissNoOwner: only what somebody should read is listed as unassigned.
func TestL5ClosedShardsMissNoOwner(t *testing.T) {
	t.Parallel()
	s := scaledIn()
	s.Group.Target, s.Group.Holds = append(s.Group.Target, ""), append(s.Group.Holds, group.Hold{Member: "a", Told: true})
	require.Equal(t, []int{}, views.Group(s).UnassignedShards)
	require.Equal(t, 1, views.Group(s).ShardCount, "the routing set")
	require.Equal(t, map[string]int{"a": 2}, views.Group(s).TargetAssignmentSummary)
	require.Equal(t, map[string]int{"a": 3}, views.Group(s).CurrentAssignmentSummary, "with what it may still be reading")
	everyone(s, group.Expired)
	require.Equal(t, []int{0, 1}, views.Group(s).UnassignedShards, "a removed shard has to be read to its end (L3)")
}

func TestL12LostShardsAreListedByIndex(t *testing.T) {
	t.Parallel()
	s := scaledIn()
	require.Equal(t, []int{}, views.Group(s).LostShards)
	s.Group.Lost = []int{0, 1}
	shown := views.Group(s).LostShards
	require.Equal(t, []int{0, 1}, shown)
	shown[0] = 7
	require.Equal(t, []int{0, 1}, s.Group.Lost, "what is shown is a copy")
}
