package recorder_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/recorder"
)

// heard are beats of members, each with the request id "r-<member>".
func heard(members ...string) []group.Beat {
	beats := make([]group.Beat, len(members))
	for i, m := range members {
		beats[i] = group.Beat{Request: &protocol.HeartbeatRequest{MemberID: m, RequestID: "r-" + m}}
	}
	return beats
}

func about(cause group.Cause, member, request string) group.Change {
	return group.Change{Cause: cause, Member: member, Shard: -1, RequestID: request}
}

func on(shard int, cause group.Cause, member string) group.Change {
	return group.Change{Cause: cause, Member: member, Shard: shard}
}

func TestCauseIsWhatLedToTheOtherChanges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		changes []group.Change
		heard   []group.Beat
		want    string // cause member request
	}{
		"a join and its grants": {
			[]group.Change{about(group.CauseJoin, "a", "r1"), on(0, group.CauseGrant, "a")}, heard("a"), "JOIN a r1",
		},
		"the state lost comes before the join (J3)": {
			[]group.Change{on(0, group.CauseRelease, "a"), about(group.CauseJoin, "a", "r1")}, heard("a"), "JOIN a r1",
		},
		"a hand-off is the release by a request": {
			[]group.Change{on(1, group.CauseRelease, "a"), on(1, group.CauseGrant, "b")}, heard("b", "a"), "RELEASE a r-a",
		},
		"what only time did has no request": {
			[]group.Change{about(group.CauseExpire, "a", ""), on(0, group.CauseRelease, "a"), on(0, group.CauseGrant, "b")},
			heard("b"), "EXPIRE a ",
		},
		"holds of an expired member end by time, whatever it says later": {
			[]group.Change{about(group.CauseExpire, "a", ""), on(0, group.CauseRelease, "a"), about(group.CauseJoin, "a", "r1")},
			heard("a"), "EXPIRE a ",
		},
		"a fence by time ends holds first": {
			[]group.Change{on(0, group.CauseRelease, "a"), about(group.CauseFenceTimeout, "a", "")}, heard("b"), "FENCE_TIMEOUT a ",
		},
		"bookkeeping steps back": {
			[]group.Change{about(group.CauseBarrierOver, "", ""), about(group.CauseForget, "x", ""), about(group.CauseLeave, "a", "r1")},
			heard("a"), "LEAVE a r1",
		},
		"bookkeeping alone": {
			[]group.Change{about(group.CauseBarrierOver, "", ""), on(0, group.CauseGrant, "a")}, nil, "BARRIER_OVER  ",
		},
		"evidence comes first (T2)": {
			[]group.Change{about(group.CauseIdentity, "", ""), about(group.CauseCorrection, "a", "r1"), about(group.CauseJoin, "b", "r2")},
			heard("a", "b"), "CORRECTION a r1",
		},
		"a change without a name": {nil, heard("a"), "OTHER  "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			event := recorder.Step(groupOf(2), group.Output{Next: groupOf(2), Changes: c.changes, Beats: c.heard})
			require.Equal(t, c.want, fmt.Sprintf("%s %s %s", event.Cause, text(event.MemberID), text(event.RequestID)))
			require.Nil(t, event.Action)
			require.Nil(t, event.Actor)
		})
	}
}

func TestChangesOfManyShardsAreToldOnce(t *testing.T) {
	t.Parallel()
	event := recorder.Step(groupOf(4), group.Output{Next: groupOf(4), Beats: heard("a"), Changes: []group.Change{
		about(group.CauseJoin, "b", "r1"), on(0, group.CauseRelease, "a"), on(3, group.CauseRelease, "a"),
		on(0, group.CauseGrant, "b"), on(3, group.CauseGrant, "b"), on(1, group.CauseTold, "a"),
	}})
	require.Equal(t, []protocol.EventChange{
		{Cause: protocol.EventJoin, MemberID: "b", RequestID: "r1"},
		{Cause: protocol.EventRelease, MemberID: "a", RequestID: "r-a", Shards: 2},
		{Cause: protocol.EventGrant, MemberID: "b", Shards: 2},
		{Cause: protocol.EventTold, MemberID: "a", Shards: 1},
	}, event.Changes)
	require.Zero(t, event.ChangesLeftOut)
}

func TestOrderOfAnOperatorIsRecordedWithItsAuthor(t *testing.T) {
	t.Parallel()
	order := recorder.Order{Action: protocol.ActionDelete, Actor: "ops", Reason: "done", RequestID: "r1"}
	gone := groupOf(2)
	gone.Holds[1] = group.Hold{Member: "a", Incarnation: "i"}
	event := recorder.Ordered(order, gone, nil)
	require.Equal(t, protocol.EventAdmin, event.Cause)
	require.Equal(t, protocol.ActionDelete, *event.Action)
	require.Equal(t, "ops done r1", text(event.Actor)+" "+text(event.Reason)+" "+text(event.RequestID))
	require.Equal(t, gone.MetadataVersion, event.MetadataVersion, "of a group that goes the last numbers are told")
	require.Equal(t, []protocol.ShardChange{
		{Shard: 1, Hold: &protocol.HoldChange{Before: &protocol.HoldState{MemberID: "a", Incarnation: "i"}}},
	}, event.Shards)

	made := recorder.Ordered(recorder.Order{Action: protocol.ActionCreate}, nil, groupOf(3))
	require.Equal(t, 3, made.ShardCount)
	require.Nil(t, made.Actor)
	unreadable := recorder.Ordered(recorder.Order{Action: protocol.ActionDiscard}, nil, nil)
	require.Empty(t, unreadable.Lineage)
	require.NotNil(t, unreadable.Shards)
}

func TestEventSurvivesTheStoreWithItsIDAndTime(t *testing.T) {
	t.Parallel()
	next := groupOf(2)
	next.Target[0], next.Holds[0] = "a", group.Hold{Member: "a", Incarnation: "i", Told: true, Lingers: 1_700_000_000_001}
	event := recorder.Step(groupOf(2), group.Output{Next: next, Changes: []group.Change{about(group.CauseJoin, "a", "r1")}})
	data, err := recorder.Encode(event)
	require.NoError(t, err)
	require.NotContains(t, string(data), `"id"`)
	require.NotContains(t, string(data), `"at"`)

	read := recorder.Decode(data, "17-1", 1_700_000_000_000)
	event.ID, event.At = "17-1", protocol.AtMillis(1_700_000_000_000)
	require.Equal(t, event, read)
}

func TestEventThatCannotBeReadSaysSo(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "{", "[]", "{}", `{"cause":7}`, `{"cause":""}`, "null", `{"cause":"JOIN","shards":{}}`} {
		event := recorder.Decode([]byte(data), "17-1", 5)
		require.Equal(t, protocol.EventUnreadable, event.Cause, data)
		require.Equal(t, "17-1", event.ID)
		require.Equal(t, protocol.AtMillis(5), event.At)
		require.NotNil(t, event.Changes)
		require.NotNil(t, event.Shards)
	}
	newer := recorder.Decode([]byte(`{"cause":"TELEPORT","metadataVersion":7,"color":"red"}`), "17-1", 5)
	require.Equal(t, protocol.EventCause("TELEPORT"), newer.Cause, "a newer coordinator's event is shown as far as it is known")
}

func TestEventIsBoundedHoweverLargeTheGroup(t *testing.T) {
	t.Parallel()
	const shards = 10_000
	prev, next := groupOf(shards), groupOf(shards)
	changes := []group.Change{about(group.CauseJoin, "m0", "r1")}
	for i := range shards {
		member := strings.Repeat("x", 245) + fmt.Sprint(i)
		prev.Target[i], prev.Holds[i] = "old"+member, group.Hold{Member: "old" + member, Incarnation: member}
		next.Target[i], next.Holds[i] = member, group.Hold{Member: member, Incarnation: member, Lingers: 9}
		changes = append(changes, on(i, group.CauseGrant, member))
	}
	event := recorder.Step(prev, group.Output{Next: next, Changes: changes})
	data, err := recorder.Encode(event)
	require.NoError(t, err)
	require.Less(t, len(data), 16<<10)
	require.NotEmpty(t, event.Shards)
	require.Equal(t, shards, len(event.Shards)+event.ShardsLeftOut)
	require.Equal(t, len(changes), len(event.Changes)+event.ChangesLeftOut)
	require.Equal(t, protocol.EventJoin, event.Cause)

	// Where names are short all of it fits.
	small := groupOf(32)
	for i := range small.Target {
		small.Target[i], small.Holds[i] = fmt.Sprintf("orders-m%d", i%8), group.Hold{Member: fmt.Sprintf("orders-m%d", i%8)}
	}
	require.Zero(t, recorder.Step(groupOf(32), group.Output{Next: small}).ShardsLeftOut)
}

func TestEventHasNoNullList(t *testing.T) {
	t.Parallel()
	data, err := recorder.Encode(recorder.Step(groupOf(1), group.Output{Next: groupOf(1)}))
	require.NoError(t, err)
	require.JSONEq(t, `{"cause":"OTHER","memberId":null,"requestId":null,"action":null,"actor":null,"reason":null,
		"groupEpoch":5,"assignmentEpoch":4,"metadataVersion":9,"lineage":"L","shardCount":1,
		"changes":[],"changesLeftOut":0,"shards":[],"shardsLeftOut":0}`, string(data))
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// groupOf is a group without members.
func groupOf(shards int) *group.Group {
	return &group.Group{
		GroupEpoch: 5, AssignmentEpoch: 4, MetadataVersion: 9, Lineage: "L", ShardCount: shards,
		Target: make([]string, shards), Holds: make([]group.Hold, shards),
	}
}
