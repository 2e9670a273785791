package model_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
)

func moves(shards ...int) []protocol.ShardChange {
	var changes []protocol.ShardChange
	for _, each := range shards {
		changes = append(changes, protocol.ShardChange{Shard: each, Hold: &protocol.HoldChange{
			Before: &protocol.HoldState{MemberID: "a"}, After: &protocol.HoldState{MemberID: "b"},
		}})
	}
	return changes
}

func TestTheTimelineSaysHowLongARebalanceTookAndWhoWasLast(t *testing.T) {
	t.Parallel()
	told := protocol.ShardChange{Shard: 9, Hold: &protocol.HoldChange{Before: &protocol.HoldState{MemberID: "a"}, After: &protocol.HoldState{MemberID: "a", Told: true}}}
	events := []protocol.GroupEvent{
		{At: at(0), GroupEpoch: 1, Cause: protocol.EventJoin},
		{At: at(1000), GroupEpoch: 2, Cause: protocol.EventJoin, MemberID: new("b"), Shards: []protocol.ShardChange{told}},
		{At: at(2000), GroupEpoch: 2, Cause: protocol.EventRelease, MemberID: new("a"), Shards: moves(1)},
		{
			At: at(4500), GroupEpoch: 2, Cause: protocol.EventRelease, MemberID: new("a"), Shards: moves(2, 3, 4, 5, 6, 7, 8, 9), ShardsLeftOut: 5,
			Changes: []protocol.EventChange{{Cause: protocol.EventRelease, MemberID: "slow", Shards: 1}},
		},
		{At: at(5000), GroupEpoch: 2, Cause: protocol.EventOther},
		{At: at(6000), GroupEpoch: 3, Cause: protocol.EventAdmin, Action: new(protocol.ActionFence), Actor: new("ann"), Reason: new("it hangs")},
		{At: at(7000), GroupEpoch: 3, Cause: protocol.EventGrant, Shards: moves(1)},
	}
	lines := model.NewTimeline(events, false).Lines
	require.Len(t, lines, 7)
	join := lines[5]
	require.Equal(t, []string{"a member joined", "b", "3.5 s", "slow"}, []string{join.What, join.Member, join.Took, join.Slowest})
	require.Empty(t, join.Moves, "told is not gone")
	require.Equal(t, []string{"2: a → b", "3: a → b", "4: a → b", "5: a → b", "and 9 more"}, lines[3].Moves)
	require.Empty(t, lines[1].Took, "it may not be over")
	require.Equal(t, []string{"a member was thrown out", "ann", "it hangs"}, []string{lines[1].What, lines[1].By, lines[1].Reason})
	require.Equal(t, "1.0 s", model.NewTimeline(events, true).Lines[1].Took)
	require.Empty(t, model.NewTimeline(events[2:], true).Lines[4].Took, "its beginning is not there")
	require.False(t, model.NewTimeline(nil, true).Known)
}

func TestEveryCauseAndActionHasWords(t *testing.T) {
	t.Parallel()
	for _, cause := range []protocol.EventCause{
		protocol.EventJoin, protocol.EventTakeover, protocol.EventLeave, protocol.EventSuspend, protocol.EventExpire, protocol.EventFenceReport,
		protocol.EventFenceTimeout, protocol.EventScale, protocol.EventRollback, protocol.EventSeal, protocol.EventReprovision, protocol.EventCorrection,
		protocol.EventAdmin, protocol.EventRelease, protocol.EventTold, protocol.EventHandBack, protocol.EventGrant, protocol.EventLingerOver,
		protocol.EventBarrierOver, protocol.EventRoundOver, protocol.EventGrace, protocol.EventForget, protocol.EventIdentity, protocol.EventOther, protocol.EventUnreadable,
	} {
		line := model.NewTimeline([]protocol.GroupEvent{{Cause: cause}}, true).Lines[0]
		require.NotEqual(t, model.Words(string(cause)), line.What)
	}
	for _, action := range []protocol.EventAction{
		protocol.ActionCreate, protocol.ActionDelete, protocol.ActionDiscard, protocol.ActionScale, protocol.ActionRollback,
		protocol.ActionConfirm, protocol.ActionBarrier, protocol.ActionUnbar, protocol.ActionFence,
	} {
		line := model.NewTimeline([]protocol.GroupEvent{{Action: &action}}, true).Lines[0]
		require.NotEqual(t, model.Words(string(action)), line.What)
	}
	require.Equal(t, "of a later one", model.NewTimeline([]protocol.GroupEvent{{Cause: "OF_A_LATER_ONE"}}, true).Lines[0].What)
}

func TestWhatWasAskedForSaysHowItEnded(t *testing.T) {
	t.Parallel()
	page := pageOf(sceneOf(nil, nil, func(_ *protocol.MonitoredGroup, d *model.GroupDetails) {
		d.Mutations = &[]protocol.RecentMutation{
			{Kind: protocol.AuditIntent, Operation: "SCALE_STREAM", Principal: "ops", RequestedBy: "ops", Reason: strings.Repeat("ä", 300)},
			{Kind: protocol.AuditOutcome, Result: protocol.AuditAllowed, Principal: "bot", RequestedBy: "ann"},
			{Kind: protocol.AuditOutcome, Result: protocol.AuditRefused, ErrorCode: "ACTIVE_MIGRATION_EXISTS"},
			{Kind: protocol.AuditOutcome, Result: protocol.AuditFailed},
		}
	}))
	lines := page.Changes.Lines
	require.Equal(t, []string{"scale stream", "ops", ""}, []string{lines[0].What, lines[0].Who, lines[0].For})
	require.Equal(t, strings.Repeat("ä", 100)+"…", lines[0].Reason)
	require.Equal(t, []string{"done", "ann"}, []string{lines[1].Outcome, lines[1].For})
	require.Equal(t, "refused: active migration exists", lines[2].Outcome)
	require.Equal(t, "not known whether it was done", lines[3].Outcome)
	require.False(t, pageOf(sceneOf(nil, nil)).Changes.Known)
}

func followed(s *model.Scene, round int64, fresh bool, lag *int64) *model.Scene {
	return s.Next(model.Update{Fresh: fresh, Groups: &protocol.GroupsEvent{Round: round, At: at(round * 1000), Groups: []protocol.GrafanaGroupRow{
		{StreamPrefix: "orders", ConsumerGroup: "billing", TotalLag: lag},
	}}})
}

func TestDetailsAreDueWhenTheStructureChangesOrAfterAWhile(t *testing.T) {
	t.Parallel()
	group := &protocol.GroupResponse{MetadataVersion: 4, Lineage: "L1"}
	scene := followed(nil, 1, true, nil)
	require.False(t, (*model.Scene)(nil).DetailsDue())
	require.False(t, scene.DetailsDue(), "the structure comes first")
	scene = scene.Next(model.Update{Group: group})
	require.True(t, scene.DetailsDue())
	scene = scene.WithDetails(&model.GroupDetails{At: scene.At, Version: 4, Lineage: "L1"})
	require.False(t, scene.DetailsDue())
	require.False(t, followed(scene, 10, false, nil).DetailsDue())
	require.True(t, followed(scene, 11, false, nil).DetailsDue(), "ten seconds have gone")
	require.True(t, scene.Next(model.Update{Group: &protocol.GroupResponse{MetadataVersion: 5, Lineage: "L1"}}).DetailsDue())
	require.True(t, scene.Next(model.Update{Group: &protocol.GroupResponse{MetadataVersion: 4, Lineage: "L2"}}).DetailsDue())

	fresh := followed(scene, 12, true, nil)
	require.NotNil(t, fresh.Details, "a new connection does not make the page forget")
	require.Nil(t, fresh.Group)
	gone := scene.Next(model.Update{Groups: &protocol.GroupsEvent{Round: 2, Removed: []protocol.GroupName{{StreamPrefix: "orders", ConsumerGroup: "billing"}}}})
	require.False(t, gone.DetailsDue(), "nobody asks for what is gone")
}
