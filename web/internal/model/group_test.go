package model_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
)

const start = 1_700_000_000_000

// at is a time of the tests, in milliseconds after their start.
func at(ms int64) protocol.Timestamp { return protocol.AtMillis(start + ms) }

// sceneOf is a scene of the group orders / billing with four shards.
func sceneOf(rows []protocol.GrafanaShardRow, members []protocol.MemberMetadata, change ...func(*protocol.MonitoredGroup, *model.GroupDetails)) *model.Scene {
	group := &protocol.MonitoredGroup{
		GroupResponse: protocol.GroupResponse{StreamPrefix: "orders", ConsumerGroup: "billing", State: protocol.GroupReconciling, ShardCount: 4},
		GroupSignals:  protocol.GroupSignals{ObservedAt: at(0)},
	}
	details := &model.GroupDetails{At: at(0), Members: members}
	for _, apply := range change {
		apply(group, details)
	}
	return model.SceneOf(group, rows, details)
}

func pageOf(scene *model.Scene, change ...func(*model.GroupQuery)) model.Group {
	query := model.GroupQuery{Stream: "orders", Group: "billing"}
	for _, apply := range change {
		apply(&query)
	}
	return model.NewGroup(scene, query, "/console")
}

func shard(index int, now, wanted string, state protocol.OwnerState) protocol.GrafanaShardRow {
	return protocol.GrafanaShardRow{
		ShardIndex: index, CurrentOwnerMemberIDs: now, TargetOwnerMemberIDs: wanted, OwnerState: state, Lag: new(int64(0)), LagKnown: true,
	}
}

func member(id string, state protocol.MemberState, detail string, change ...func(*protocol.MemberMetadata)) protocol.MemberMetadata {
	made := protocol.MemberMetadata{
		MemberID: id, State: state, StateDetail: detail, Incarnation: "I", LastHeartbeatAt: at(-2000), MemberLeaseExpiresAt: at(8000),
	}
	for _, apply := range change {
		apply(&made)
	}
	return made
}

// Wire contract, Meaning of states; protocol H3, H4, J4, J5, L5, L12, M3.
func TestEveryShardThatIsNotReadByWhoShouldSaysWhatIsWaitedFor(t *testing.T) {
	t.Parallel()
	told := func(m *protocol.MemberMetadata) {
		by := at(60_000)
		m.RebalanceDeadlineAt = &by
		m.ShardProgress = []protocol.ShardProgress{{Shard: protocol.ShardID{ShardIndex: 1}, PendingCount: 3}}
	}
	barrier := func(g *protocol.MonitoredGroup, _ *model.GroupDetails) {
		until := at(5000)
		g.BarrierUntil = &until
	}
	lost := func(g *protocol.MonitoredGroup, _ *model.GroupDetails) { g.LostShards = []int{1} }
	active := member("a", protocol.MemberActive, "ACTIVE")
	for name, each := range map[string]struct {
		row     protocol.GrafanaShardRow
		members []protocol.MemberMetadata
		change  func(*protocol.MonitoredGroup, *model.GroupDetails)
		state   string
		why     string
		until   int64
	}{
		"read":              {row: shard(1, "a", "a", protocol.OwnerCurrent), state: "read"},
		"nobody alive":      {row: shard(1, "", "", protocol.OwnerUnassigned), state: "nobody's", why: "No member is alive"},
		"lost":              {row: shard(1, "", "", protocol.OwnerUnassigned), change: lost, state: "nobody's", why: "missing in Redis"},
		"lost and wanted":   {row: shard(1, "", "a", protocol.OwnerTransitioning), change: lost, state: "changing hands", why: "before a gets it"},
		"removed":           {row: shard(7, "", "", protocol.OwnerUnassigned), state: "nobody's", why: "being removed"},
		"not given yet":     {row: shard(1, "", "", protocol.OwnerUnassigned), members: []protocol.MemberMetadata{active}, state: "nobody's", why: "given to nobody yet"},
		"not confirmed":     {row: shard(1, "a", "a", protocol.OwnerPendingAck), members: []protocol.MemberMetadata{active}, state: "given, not confirmed", why: "a was given it and has to confirm", until: 8000},
		"not confirmed yet": {row: shard(1, "z", "z", protocol.OwnerPendingAck), state: "given, not confirmed", why: "z was given it and has to confirm"},
		"wanted":            {row: shard(1, "", "a", protocol.OwnerTransitioning), members: []protocol.MemberMetadata{active}, state: "changing hands", why: "a is to read it, and gets it with its next heartbeat"},
		"barrier":           {row: shard(1, "", "a", protocol.OwnerTransitioning), change: barrier, state: "changing hands", why: "nothing is given away before", until: 5000},
		"suspended": {
			row: shard(1, "", "a", protocol.OwnerTransitioning), members: []protocol.MemberMetadata{member("a", protocol.MemberLeaving, "SUSPENDED")},
			state: "changing hands", why: "a restarts", until: 8000,
		},
		"taken over": {
			row: shard(1, "", "a", protocol.OwnerTransitioning), members: []protocol.MemberMetadata{member("a", protocol.MemberExpired, "WAITING")},
			state: "changing hands", why: "takes the name a over",
		},
		"told": {
			row: shard(1, "a", "b", protocol.OwnerTransitioning), members: []protocol.MemberMetadata{member("a", protocol.MemberActive, "ACTIVE", told)},
			state: "changing hands", why: "a has to release it, and still works on 3 records of it. It is fenced if it has not by", until: 60_000,
		},
		"told in a barrier": {
			row: shard(1, "a", "b", protocol.OwnerTransitioning), members: []protocol.MemberMetadata{member("a", protocol.MemberActive, "ACTIVE")}, change: barrier,
			state: "changing hands", why: "a has to release it; its time stands still before", until: 5000,
		},
		"leaving": {
			row: shard(1, "a", "b", protocol.OwnerTransitioning), members: []protocol.MemberMetadata{member("a", protocol.MemberLeaving, "LEAVING")},
			state: "changing hands", why: "a has to release it; then b gets it.",
		},
		"fenced": {
			row: shard(1, "a", "b", protocol.OwnerTransitioning), members: []protocol.MemberMetadata{member("a", protocol.MemberFenced, "FENCED")},
			state: "changing hands", why: "a is fenced and may read on until its lease is over at", until: 8000,
		},
		"lingers for itself": {
			row: shard(1, "a", "a", protocol.OwnerTransitioning), members: []protocol.MemberMetadata{member("a", protocol.MemberLeaving, "SUSPENDED")},
			state: "changing hands", why: "a is restarting and may read on", until: 8000,
		},
		"of somebody unknown": {row: shard(1, "q", "", protocol.OwnerTransitioning), state: "changing hands", why: "q has to release it; then it is nobody's."},
		"read by two":         {row: shard(1, "a,b", "b", protocol.OwnerTransitioning), state: "changing hands", why: "More than one member may be reading it: a, b."},
		"a state of later":    {row: shard(1, "a", "a", "LOCKED_UP"), state: "locked up", why: "a has to release it; then a gets it again."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := each.change
			if change == nil {
				change = func(*protocol.MonitoredGroup, *model.GroupDetails) {}
			}
			line := pageOf(sceneOf([]protocol.GrafanaShardRow{each.row}, each.members, change)).Shards.Lines[0]
			require.Equal(t, each.state, line.State)
			if each.why == "" {
				require.Nil(t, line.Why)
				return
			}
			require.Contains(t, line.Why.Text+" "+line.Why.Then, each.why)
			if each.until == 0 {
				require.Empty(t, line.Why.Until.Machine)
			} else {
				require.Equal(t, at(each.until).UTC().Format("2006-01-02T15:04:05Z07:00"), line.Why.Until.Machine)
			}
		})
	}
}

func TestMembersSayWhatTheirStateMeans(t *testing.T) {
	t.Parallel()
	for _, each := range []struct {
		state   protocol.MemberState
		detail  string
		words   string
		tone    string
		meaning bool
	}{
		{protocol.MemberActive, "ACTIVE", "active", "good", false},
		{protocol.MemberStarting, "ACTIVE", "starting", "busy", true},
		{protocol.MemberLeaving, "LEAVING", "leaving", "busy", true},
		{protocol.MemberLeaving, "SUSPENDED", "restarting", "busy", true},
		{protocol.MemberExpired, "EXPIRED", "expired", "warn", true},
		{protocol.MemberExpired, "WAITING", "being taken over", "busy", true},
		{protocol.MemberFenced, "FENCED", "fenced", "bad", true},
		{"ON_HOLIDAY", "", "on holiday", "warn", false},
	} {
		line := pageOf(sceneOf(nil, []protocol.MemberMetadata{member("a", each.state, each.detail)})).Members.Lines[0]
		require.Equal(t, each.words, line.State)
		require.Equal(t, each.tone, line.Tone, each.words)
		require.Equal(t, each.meaning, line.Meaning != "", each.words)
		require.Equal(t, []string{"8.0 s", "10.0 s", "2.0 s"}, []string{line.Left, line.Lease, line.Heartbeat})
	}
}

func TestWhatIsNotKnownOfAMemberIsADash(t *testing.T) {
	t.Parallel()
	page := pageOf(sceneOf(nil, []protocol.MemberMetadata{{MemberID: "a", State: protocol.MemberActive}}))
	line := page.Members.Lines[0]
	require.Equal(t, []string{"–", "–", "–", "–"}, []string{line.Left, line.Lease, line.Heartbeat, line.Wanted})
	require.True(t, line.OldClient)
	require.False(t, pageOf(sceneOf(nil, nil)).Members.Known)
	for _, fact := range pageOf(sceneOf(nil, nil)).Head.Facts {
		if fact.Name != "Shards owned" && fact.Name != "Pending" {
			require.Equal(t, "–", fact.Value, fact.Name)
		}
	}
}

// The monitor's clock and the store's are not the same.
func TestLeasesAreNeitherBelowNothingNorAboveAll(t *testing.T) {
	t.Parallel()
	for _, each := range []struct {
		now         int64
		left, heard string
	}{{-60_000, "10.0 s", "0 ms"}, {8000, "over", "10.0 s"}, {90_000, "over", "1 min 32 s"}} {
		scene := sceneOf(nil, []protocol.MemberMetadata{member("a", protocol.MemberActive, "ACTIVE")}, func(_ *protocol.MonitoredGroup, d *model.GroupDetails) {
			d.At = at(each.now)
		})
		line := pageOf(scene).Members.Lines[0]
		require.Equal(t, each.left, line.Left)
		require.Equal(t, each.heard, line.Heartbeat)
	}
}

func TestMembersThatSomebodyShouldLookAtComeFirst(t *testing.T) {
	t.Parallel()
	members := []protocol.MemberMetadata{
		member("a", protocol.MemberActive, "ACTIVE"), member("z", protocol.MemberFenced, "FENCED"), member("b", protocol.MemberExpired, "EXPIRED"),
	}
	model.SortMembers(members)
	require.Equal(t, []string{"z", "b", "a"}, []string{members[0].MemberID, members[1].MemberID, members[2].MemberID})
}

func TestAMembersShardsAreListedAndCut(t *testing.T) {
	t.Parallel()
	var many []protocol.ShardID
	for i := range 4096 {
		many = append(many, protocol.ShardID{ShardIndex: i})
	}
	scene := sceneOf(nil, []protocol.MemberMetadata{member("a", protocol.MemberActive, "ACTIVE", func(m *protocol.MemberMetadata) {
		m.CurrentAssignment, m.Revoking = many[:3], many[2:3]
	})}, func(_ *protocol.MonitoredGroup, d *model.GroupDetails) {
		d.Assignments = &protocol.AssignmentsResponse{TargetAssignment: map[string][]protocol.ShardID{"a": many}}
	})
	line := pageOf(scene).Members.Lines[0]
	require.Equal(t, []string{"3", "4\u202f096", "0, 1, 2", "2"}, []string{line.Now, line.Wanted, line.Shards, line.Returns})
	require.Equal(t, "3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, and 4\u202f081 more", line.Wants)
}

// Monitoring, Console: 10,000 members or 4,096 shards stay usable.
func TestAPageOfALargeGroupIsAsLongAsOneOfASmallGroup(t *testing.T) {
	t.Parallel()
	var rows []protocol.GrafanaShardRow
	var members []protocol.MemberMetadata
	for i := range 10_000 {
		members = append(members, member(fmt.Sprintf("m%05d", i), protocol.MemberFenced, "FENCED"))
	}
	for i := range 4096 {
		row := shard(i, members[i].MemberID, members[i+1].MemberID, protocol.OwnerTransitioning)
		row.TrimmedUnreadAlarm = true
		rows = append(rows, row)
	}
	page := pageOf(sceneOf(rows, members))
	require.Len(t, page.Shards.Lines, 100)
	require.Len(t, page.Members.Lines, 100)
	require.Equal(t, []int{4096, 4096, 10_000}, []int{page.Shards.Total, page.Shards.Open, page.Members.Pager.Total})
	require.Equal(t, []int{20, 4076}, []int{len(page.Problems[0].Shards), page.Problems[0].More})
	require.Equal(t, []int{20, 9980}, []int{len(page.Problems[1].Members), page.Problems[1].More})
	require.Len(t, page.Problems, 2)
}

func TestShardsAndMembersArePagedOnTheirOwn(t *testing.T) {
	t.Parallel()
	var rows []protocol.GrafanaShardRow
	var members []protocol.MemberMetadata
	for i := range 250 {
		state := protocol.OwnerCurrent
		if i%2 == 0 {
			state = protocol.OwnerPendingAck
		}
		rows = append(rows, shard(249-i, "a", "a", state))
		members = append(members, member(fmt.Sprintf("m%03d", i), protocol.MemberActive, "ACTIVE"))
	}
	scene := sceneOf(rows, members)
	page := pageOf(scene, func(q *model.GroupQuery) { q.At, q.Members = 3, 2 })
	require.Len(t, page.Shards.Lines, 50)
	require.Equal(t, "200", page.Shards.Lines[0].Index)
	require.Equal(t, "m100", page.Members.Lines[0].ID)
	require.Equal(t, "/console/streams/orders/groups/billing?at=2&members=2#shards", page.Shards.Pager.Previous)
	require.Empty(t, page.Shards.Pager.Next)
	require.Equal(t, "/console/streams/orders/groups/billing?at=3&members=3#members", page.Members.Pager.Next)
	require.Equal(t, 125, page.Shards.Open)

	page = pageOf(scene, func(q *model.GroupQuery) { q.Shard = "17" })
	require.Len(t, page.Shards.Lines, 1)
	require.Equal(t, "17", page.Shards.Lines[0].Index)
	page = pageOf(scene, func(q *model.GroupQuery) { q.Open, q.At = true, 2 })
	require.Len(t, page.Shards.Lines, 25)
	require.Empty(t, pageOf(scene, func(q *model.GroupQuery) { q.Shard = "4096" }).Shards.Lines)
}

// Monitoring, Console: what is pending is one click away, shard by shard.
func TestPendingOfAShardLeadsToItsEntries(t *testing.T) {
	t.Parallel()
	waits, idle, gone := shard(3, "a", "a", protocol.OwnerCurrent), shard(4, "a", "a", protocol.OwnerCurrent), shard(5, "a", "a", protocol.OwnerCurrent)
	waits.PendingCount, gone.PendingCount, gone.Problem = 7, 7, new("UNREACHABLE")
	lines := pageOf(sceneOf([]protocol.GrafanaShardRow{waits, idle, gone}, nil)).Shards.Lines
	require.Equal(t, "/console/streams/orders/groups/billing/pending?shard=3", lines[0].PendingAt)
	require.Equal(t, "/console/streams/orders/groups/billing/messages?shard=3", lines[0].Messages)
	require.Empty(t, lines[1].PendingAt, "nothing is pending")
	require.Empty(t, lines[2].PendingAt, "nobody knows what is pending")
}
