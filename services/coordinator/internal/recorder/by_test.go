package recorder_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/recorder"
)

// TestWhatWasAskedForLeadsItsCommit, whatever else was due or heard in it.
func TestWhatWasAskedForLeadsItsCommit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changes []group.Change
		order   recorder.Order
		want    string // cause member request action actor reason
	}{
		"a scale": {
			[]group.Change{about(group.CauseScale, "", "q1"), on(1, group.CauseGrant, "a")},
			recorder.Order{Action: protocol.ActionScale, Actor: "ada", Reason: "more", RequestID: "q1"},
			"SCALE  q1 SCALE ada more",
		},
		"a scale in whose commit a member expires and another joins": {
			[]group.Change{about(group.CauseExpire, "a", ""), about(group.CauseScale, "", "q1"), about(group.CauseJoin, "b", "r1")},
			recorder.Order{Action: protocol.ActionScale, Actor: "ada", Reason: "more", RequestID: "q1"},
			"SCALE  q1 SCALE ada more",
		},
		"a rollback in whose commit a member expires": {
			[]group.Change{about(group.CauseExpire, "a", ""), about(group.CauseRollback, "", "q2")},
			recorder.Order{Action: protocol.ActionRollback, Actor: "ada", Reason: "less", RequestID: "q2"},
			"ROLLBACK  q2 ROLLBACK ada less",
		},
		"a seal, which nobody asked for": {
			[]group.Change{about(group.CauseSeal, "", "q1"), on(1, group.CauseTold, "a")}, recorder.Order{}, "SEAL  q1   ",
		},
		"a shard made again, with a word about it (L12)": {
			[]group.Change{about(group.CauseReprovision, "", "")},
			recorder.Order{Reason: "some may be handled twice"},
			"REPROVISION     some may be handled twice",
		},
		"a seal in whose commit a member joins": {
			[]group.Change{about(group.CauseJoin, "b", "r1"), about(group.CauseSeal, "", "q1")}, recorder.Order{}, "JOIN b r1   ",
		},
		"a layout after the record lost writes (L1)": {
			[]group.Change{about(group.CauseCorrection, "", "")}, recorder.Order{}, "CORRECTION     ",
		},
		"a barrier": {
			[]group.Change{about(group.CauseCorrection, "", ""), about(group.CauseJoin, "b", "r1")},
			recorder.Order{Action: protocol.ActionBarrier, Actor: "ada", Reason: "drill", RequestID: "q3"},
			"ADMIN  q3 BARRIER ada drill",
		},
		"a barrier in whose commit there is evidence of a member": {
			[]group.Change{about(group.CauseCorrection, "a", "r1")},
			recorder.Order{Action: protocol.ActionBarrier, Actor: "ada", RequestID: "q3"},
			"ADMIN  q3 BARRIER ada ",
		},
		"a barrier that is closed": {
			[]group.Change{about(group.CauseBarrierOver, "", "q4"), on(0, group.CauseGrant, "a")},
			recorder.Order{Action: protocol.ActionUnbar, Actor: "ada", RequestID: "q4"},
			"ADMIN  q4 CLOSE_BARRIER ada ",
		},
		"a fence": {
			[]group.Change{about(group.CauseAdmin, "b", ""), about(group.CauseExpire, "a", "")},
			recorder.Order{Action: protocol.ActionFence, Actor: "ada", RequestID: "q5"},
			"ADMIN b q5 FENCE ada ",
		},
		"a fence in whose commit there is evidence of another": {
			[]group.Change{about(group.CauseCorrection, "a", "r1"), about(group.CauseAdmin, "b", "")},
			recorder.Order{Action: protocol.ActionFence, Actor: "ada", RequestID: "q6"},
			"ADMIN b q6 FENCE ada ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := recorder.Step(groupOf(2), group.Output{Next: groupOf(2), Changes: c.changes, Beats: heard("b")})
			event := recorder.By(step, c.order)
			require.Equal(t, c.order.Action != "", event.Action != nil, "null where nobody asked")
			action := ""
			if event.Action != nil {
				action = string(*event.Action)
			}
			require.Equal(t, c.want, fmt.Sprintf("%s %s %s %s %s %s",
				event.Cause, text(event.MemberID), text(event.RequestID), action, text(event.Actor), text(event.Reason)))
			require.Equal(t, step.Changes, event.Changes, "nothing is left out")
			require.Equal(t, step.Shards, event.Shards)
		})
	}
}

// TestLayoutIsTheCauseOfWhatFollowsFromIt: grants of new shards, and owners that are told
// to drop closed ones.
func TestLayoutIsTheCauseOfWhatFollowsFromIt(t *testing.T) {
	t.Parallel()
	for _, cause := range []group.Cause{
		group.CauseScale, group.CauseRollback, group.CauseSeal, group.CauseReprovision, group.CauseCorrection,
	} {
		cfg := group.DefaultConfig()
		join := &protocol.HeartbeatRequest{ProtocolVersion: 1, RequestID: "r1", MemberID: "a", Incarnation: "i", Sequence: 1}
		g := group.New(cfg, group.Birth{StreamPrefix: "orders", ConsumerGroup: "billing", Layout: group.Whole(2), Lineage: "L", Now: 1_000_000})
		g = group.Step(cfg, g, group.Input{Now: 1_000_000, Fresh: true, ServedAt: 1_000_000, Heartbeats: []*protocol.HeartbeatRequest{join}}).Next
		out := group.Step(cfg, g, group.Input{
			Now: 1_000_001, Fresh: true, ServedAt: 1_000_000, Live: map[string]group.Liveness{"a": {Deadline: 1_010_000}},
			Layout: &group.Layout{Version: 1, ShardCount: 1, ReadCount: 3, Closed: []int{1}, Cause: cause, RequestID: "q1"},
		})
		event := recorder.Step(g, out)
		require.Equal(t, protocol.EventCause(cause), event.Cause)
		require.Equal(t, "q1", text(event.RequestID))
		require.Equal(t, 1, event.ShardCount, "the routing set")
		require.Equal(t, []protocol.EventChange{
			{Cause: protocol.EventCause(cause), RequestID: "q1"},
			{Cause: protocol.EventTold, MemberID: "a", Shards: 1},
			{Cause: protocol.EventGrant, MemberID: "a", Shards: 1},
		}, event.Changes)
		require.Len(t, event.Shards, 2)
	}
}
