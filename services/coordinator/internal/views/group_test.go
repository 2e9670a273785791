package views_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/views"
)

// TestI15StateOfAGroup: STABLE means reported = held = target, nothing lingering, no
// round and no barrier (wire contract, Meaning of states).
func TestI15StateOfAGroup(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(views.Source)
		want   protocol.GroupState
	}{
		"reported = held = target": {func(views.Source) {}, protocol.GroupStable},
		"a member beside it that owns nothing": {func(s views.Source) {
			s.Group.Members = append(s.Group.Members, group.Member{ID: "c", State: group.Active})
		}, protocol.GroupStable},
		"records of the gone beside it": {func(s views.Source) {
			s.Group.Members = append(s.Group.Members, group.Member{ID: "c", State: group.Expired}, group.Member{ID: "d", State: group.Left})
			owned(s, "c", 0)
		}, protocol.GroupStable},
		"a live member and no shard": {func(s views.Source) {
			s.Group.Target, s.Group.Holds, s.Group.ShardCount = []string{}, []group.Hold{}, 0
			owned(s, "a")
			owned(s, "b")
		}, protocol.GroupStable},

		"held, not reported":          {func(s views.Source) { owned(s, "a", 0) }, protocol.GroupReconciling},
		"held, nothing heard":         {func(s views.Source) { delete(s.Detail, "b") }, protocol.GroupReconciling},
		"reported by another too":     {func(s views.Source) { owned(s, "a", 0, 1, 2) }, protocol.GroupReconciling},
		"reported by a later one too": {func(s views.Source) { owned(s, "b", 1, 2) }, protocol.GroupReconciling},
		"reported beyond all shards":  {func(s views.Source) { owned(s, "b", 2, 3) }, protocol.GroupReconciling},
		"reported below all shards":   {func(s views.Source) { owned(s, "b", 2, -1) }, protocol.GroupReconciling},
		"wanted, not held":            {func(s views.Source) { s.Group.Holds[2] = group.Hold{} }, protocol.GroupReconciling},
		"wanted by another":           {func(s views.Source) { s.Group.Target[1], s.Group.Holds[1].Told = "b", true }, protocol.GroupReconciling},
		"held by another":             {func(s views.Source) { s.Group.Holds[1].Member = "b" }, protocol.GroupReconciling},
		"wanted by nobody":            {func(s views.Source) { s.Group.Target[1] = "" }, protocol.GroupReconciling},
		"wanted and held by nobody": {func(s views.Source) {
			s.Group.Target[1], s.Group.Holds[1] = "", group.Hold{}
			owned(s, "a", 0)
		}, protocol.GroupReconciling},
		"told to drop":                  {func(s views.Source) { s.Group.Holds[0].Told = true }, protocol.GroupReconciling},
		"lingering":                     {func(s views.Source) { s.Group.Holds[0].Lingers = 10_000 }, protocol.GroupReconciling},
		"lingering, of another":         {func(s views.Source) { s.Group.Holds[0] = group.Hold{Member: "x", Lingers: 10_000} }, protocol.GroupReconciling},
		"a round":                       {func(s views.Source) { s.Group.Round = &group.Round{OpenedVersion: 3} }, protocol.GroupReconciling},
		"a barrier":                     {func(s views.Source) { s.Group.BarrierUntil = 10_000 }, protocol.GroupReconciling},
		"owners that leave":             {func(s views.Source) { everyone(s, group.Leaving) }, protocol.GroupReconciling},
		"nothing held yet":              {func(s views.Source) { clear(s.Group.Holds) }, protocol.GroupAssigning},
		"nothing held behind a barrier": {func(s views.Source) { clear(s.Group.Holds); s.Group.BarrierUntil = 1 }, protocol.GroupAssigning},
		"all suspended":                 {func(s views.Source) { everyone(s, group.Suspended) }, protocol.GroupEmpty},
		"all waiting for a successor":   {func(s views.Source) { everyone(s, group.Waiting) }, protocol.GroupEmpty},
		"all expired":                   {func(s views.Source) { everyone(s, group.Expired) }, protocol.GroupEmpty},
		"all fenced":                    {func(s views.Source) { everyone(s, group.Fenced) }, protocol.GroupEmpty},
		"all left":                      {func(s views.Source) { everyone(s, group.Left) }, protocol.GroupEmpty},
		"no member, a hold that lingers": {func(s views.Source) {
			everyone(s, group.Fenced)
			s.Group.Holds[0] = group.Hold{Member: "a", Lingers: 9}
		}, protocol.GroupEmpty},
		"no member, a barrier": {func(s views.Source) { everyone(s, group.Left); s.Group.BarrierUntil = 1 }, protocol.GroupEmpty},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := changed(test.change)
			require.Equal(t, test.want, views.State(s))
			require.Equal(t, test.want, views.Group(s).State)
		})
	}
}

// TestUnreadableDetailShowsNothingAndDecidesNothing: only what monitoring says differs.
func TestUnreadableDetailShowsNothingAndDecidesNothing(t *testing.T) {
	t.Parallel()
	without, garbage := settled(), settled()
	delete(without.Detail, "a")
	garbage.Detail["a"] = codec.DecodeDetail([]byte(`{"v":11,"o":[0,1],"x"`))
	require.Equal(t, views.Members(without), views.Members(garbage))
	require.Equal(t, views.Group(without), views.Group(garbage))
	require.Equal(t, views.Assignments(settled()), views.Assignments(garbage))
	require.Equal(t, protocol.GroupReconciling, views.State(garbage))
}

func TestGroupAtAGlance(t *testing.T) {
	t.Parallel()
	s := changed(func(s views.Source) {
		s.Group.Target[1], s.Group.Holds[1].Told, s.Group.BarrierUntil = "b", true, 1_767_225_600_123
		s.Group.Members = append(s.Group.Members,
			group.Member{ID: "c", State: group.Active}, group.Member{ID: "d", State: group.Suspended}, group.Member{ID: "e", State: group.Leaving})
	})
	until := protocol.Timestamp{Time: time.Date(2026, 1, 1, 0, 0, 0, 123e6, time.UTC)}
	require.Equal(t, protocol.GroupResponse{
		StreamPrefix: "orders", ConsumerGroup: "billing", State: protocol.GroupReconciling, GroupEpoch: 5, AssignmentEpoch: 5,
		MetadataVersion: 11, ShardCount: 3, Lineage: "L", BarrierUntil: &until, UnassignedShards: []int{}, LostShards: []int{},
		TargetAssignmentSummary: map[string]int{"a": 1, "b": 2}, CurrentAssignmentSummary: map[string]int{"a": 2, "b": 1},
		SurplusMembers: []string{"c"}, // S2: live members without a shard, not those on their way out
	}, views.Group(s))
}

// TestFieldF28EmptyGroupHasEqualEpochsAndNoTarget: the last member leaves, expires or is
// fenced, and nothing is left that looks like an assignment under way.
func TestFieldF28EmptyGroupHasEqualEpochsAndNoTarget(t *testing.T) {
	t.Parallel()
	cfg := group.DefaultConfig()
	join := &protocol.HeartbeatRequest{ProtocolVersion: 1, RequestID: "1", MemberID: "a", Incarnation: "i", Sequence: 1}
	say := func(epoch int64, owned ...protocol.ShardID) *protocol.HeartbeatRequest {
		return &protocol.HeartbeatRequest{
			ProtocolVersion: 1, RequestID: "2", MemberID: "a", Incarnation: "i", Sequence: 2, MemberEpoch: epoch, MetadataVersion: 2, OwnedShards: owned,
		}
	}
	for name, end := range map[string]func(now group.Millis, epoch int64) group.Input{
		"leaves": func(now group.Millis, _ int64) group.Input {
			return group.Input{Now: now, Heartbeats: []*protocol.HeartbeatRequest{say(protocol.EpochLeave)}}
		},
		"expires": func(now group.Millis, _ int64) group.Input { return group.Input{Now: now.Add(cfg.Lease)} },
		"is fenced": func(now group.Millis, epoch int64) group.Input {
			return group.Input{Now: now, Heartbeats: []*protocol.HeartbeatRequest{say(epoch, ids(9)...)}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := group.Millis(1_000_000)
			g := group.New(cfg, group.Birth{StreamPrefix: "orders", ConsumerGroup: "billing", Layout: group.Whole(2), Lineage: "L", Now: now})
			g = group.Step(cfg, g, group.Input{Now: now, Fresh: true, ServedAt: now, Heartbeats: []*protocol.HeartbeatRequest{join}}).Next
			live := map[string]group.Liveness{"a": {Deadline: now.Add(cfg.Lease), Incarnation: "i", Sequence: 1, RequestID: "1"}}
			require.Equal(t, protocol.GroupReconciling, views.State(views.Source{Group: g, Live: live}))

			in := end(now, g.Members[0].Epoch)
			in.Fresh, in.Live, in.ServedAt, in.Nonce = true, live, in.Now, "M"
			shown := views.Group(views.Source{Group: group.Step(cfg, g, in).Next, Live: live})
			require.Equal(t, protocol.GroupEmpty, shown.State)
			require.Equal(t, int64(3), shown.GroupEpoch, "membership changed twice")
			require.Equal(t, shown.GroupEpoch, shown.AssignmentEpoch)
			require.Empty(t, shown.TargetAssignmentSummary)
			require.Equal(t, []int{0, 1}, shown.UnassignedShards)
		})
	}
}

// TestFieldF32ShardsWithoutALiveOwnerAreListedByIndex, however their owners went away.
func TestFieldF32ShardsWithoutALiveOwnerAreListedByIndex(t *testing.T) {
	t.Parallel()
	for _, state := range []group.MemberState{
		group.Leaving, group.Suspended, group.Waiting, group.Expired, group.Fenced, group.Left,
	} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			s := settled()
			s.Group.ShardCount = 6
			s.Group.Target = []string{"a", "b", "a", "b", "a", "b"}
			s.Group.Holds = make([]group.Hold, 6)
			for shard, owner := range s.Group.Target {
				s.Group.Holds[shard] = group.Hold{Member: owner, Incarnation: "i" + owner}
			}
			require.Equal(t, []int{}, views.Group(s).UnassignedShards)
			everyone(s, state)
			require.Equal(t, []int{0, 1, 2, 3, 4, 5}, views.Group(s).UnassignedShards)

			s.Group.Members = append(s.Group.Members, group.Member{ID: "c", State: group.Active})
			s.Group.Target = []string{"c", "c", "c", "c", "c", ""}
			require.Equal(t, []int{5}, views.Group(s).UnassignedShards, "a live member appears")
		})
	}
}

// TestListsAreNeverNull: clients iterate over them.
func TestListsAreNeverNull(t *testing.T) {
	t.Parallel()
	empty := views.Source{Group: &group.Group{}}
	for name, shown := range map[string]any{
		"group": views.Group(empty), "members": views.Members(empty), "assignments": views.Assignments(empty),
		"member": views.Members(changed(func(s views.Source) { clear(s.Group.Holds); clear(s.Detail) })),
	} {
		requireLists(t, name, reflect.ValueOf(shown))
	}
	data, err := json.Marshal(views.Members(empty))
	require.NoError(t, err)
	require.Equal(t, "[]", string(data))
}

func requireLists(t *testing.T, at string, v reflect.Value) {
	t.Helper()
	kind := v.Kind()
	if kind == reflect.Slice || kind == reflect.Map {
		require.False(t, v.IsNil(), at)
	}
	if kind == reflect.Slice {
		for i := range v.Len() {
			requireLists(t, at, v.Index(i))
		}
	}
	if kind == reflect.Struct {
		for f, value := range v.Fields() {
			if f.IsExported() {
				requireLists(t, at+"."+f.Name, value)
			}
		}
	}
}
