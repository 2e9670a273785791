package views_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/views"
)

// TestStateOfAMember folds the states into those that dashboards know, and tells the
// whole state beside it.
func TestStateOfAMember(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]protocol.MemberState{
		"ACTIVE": protocol.MemberActive, "LEAVING": protocol.MemberLeaving, "SUSPENDED": protocol.MemberLeaving,
		"WAITING": protocol.MemberExpired, "EXPIRED": protocol.MemberExpired, "FENCED": protocol.MemberFenced,
	} {
		members := views.Members(changed(func(s views.Source) { s.Group.Members[0].State = group.MemberState(state) }))
		require.Len(t, members, 2)
		require.Equal(t, want, members[0].State, state)
		require.Equal(t, state, members[0].StateDetail)
	}
	left := views.Members(changed(func(s views.Source) { s.Group.Members[0].State = group.Left }))
	require.Len(t, left, 1, "LEFT is not listed")
	require.Equal(t, "b", left[0].MemberID)
}

// TestMemberIsStartingUntilItsFirstReport: a join knows no version yet.
func TestMemberIsStartingUntilItsFirstReport(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(views.Source){
		"has only joined":        func(s views.Source) { s.Detail["a"] = codec.Detail{Max: 8, Free: 8} },
		"nothing is known of it": func(s views.Source) { delete(s.Detail, "a") },
	} {
		members := views.Members(changed(change))
		require.Equal(t, protocol.MemberStarting, members[0].State, name)
		require.Equal(t, "ACTIVE", members[0].StateDetail, name)
		require.Equal(t, protocol.MemberActive, members[1].State, name)
	}
	suspended := views.Members(changed(func(s views.Source) { s.Group.Members[0].State = group.Suspended; delete(s.Detail, "a") }))
	require.Equal(t, protocol.MemberLeaving, suspended[0].State)
}

func TestMemberShowsAllThatIsKnownOfIt(t *testing.T) {
	t.Parallel()
	s := changed(func(s views.Source) {
		s.Group.Holds[1].Told, s.Group.Target[1] = true, "b"
		s.Group.Members[0].DropBy = 60_500
		l := s.Live["a"]
		l.Successor, l.SuccessorAt = "ia2", 9_000
		s.Live["a"] = l
	})
	by, successor := protocol.AtMillis(60_500), "ia2"
	require.Equal(t, protocol.MemberMetadata{
		MemberID: "a", MemberName: "node a", State: protocol.MemberActive, MemberEpoch: 8, MetadataVersion: 11,
		RuntimeMaxConcurrency: 8, ActiveConsumerWorkers: 5, CurrentAssignment: ids(0, 1), GrantedAssignment: ids(0), Revoking: ids(1),
		LastHeartbeatAt:      protocol.Timestamp{Time: time.UnixMilli(123).UTC()},
		MemberLeaseExpiresAt: protocol.Timestamp{Time: time.UnixMilli(10_123).UTC()},
		RebalanceTimeoutMs:   60_000, RebalanceDeadlineAt: &by, ShardProgress: []protocol.ShardProgress{},
		StateDetail: "ACTIVE", Incarnation: "ia", Successor: &successor,
	}, views.Members(s)[0])
	b := views.Members(s)[1]
	require.Nil(t, b.RebalanceDeadlineAt, "null, not 1970")
	require.Nil(t, b.Successor)
	require.Zero(t, b.ActiveConsumerWorkers)
}

func TestH4LingeringHoldsAreShownAsGivenBack(t *testing.T) {
	t.Parallel()
	s := changed(func(s views.Source) { everyone(s, group.Suspended) })
	a := views.Members(s)[0]
	require.Equal(t, ids(0, 1), a.CurrentAssignment)
	require.Equal(t, ids(), a.GrantedAssignment)
	require.Equal(t, ids(0, 1), a.Revoking)
}

func TestMoreIdleHandlersThanHandlersAreNoWorkers(t *testing.T) {
	t.Parallel()
	s := changed(func(s views.Source) { s.Detail["a"] = codec.Detail{Version: 1, Max: 2, Free: 7} })
	require.Zero(t, views.Members(s)[0].ActiveConsumerWorkers)
}

// TestE3ProgressOfShardsNoLongerHeldIsDropped, and what is shown is a copy.
func TestE3ProgressOfShardsNoLongerHeldIsDropped(t *testing.T) {
	t.Parallel()
	all := []protocol.ShardProgress{}
	for _, shard := range []int{-1, 0, 1, 2, 3, 1 << 40} {
		all = append(all, protocol.ShardProgress{Shard: protocol.ShardID{ShardIndex: shard}, PendingCount: int64(shard)})
	}
	told := append([]protocol.ShardProgress{}, all...)
	s := changed(func(s views.Source) {
		s.Group.Holds[1] = group.Hold{}
		s.Detail["a"] = codec.Detail{Version: 11, Progress: told}
	})
	require.Equal(t, all[1:2], views.Members(s)[0].ShardProgress, "of a's shards 0 and, once, 1")
	require.Equal(t, all, told, "the source is not written")
}

func TestAssignmentsShowWantedHeldAndGivenBack(t *testing.T) {
	t.Parallel()
	s := changed(func(s views.Source) {
		s.Group.Target = append(s.Group.Target, "", "b", "b")
		s.Group.Holds = append(s.Group.Holds, group.Hold{Member: "x", Lingers: 7}, group.Hold{Member: "a", Told: true}, group.Hold{})
	})
	require.Equal(t, protocol.AssignmentsResponse{
		TargetAssignment:    map[string][]protocol.ShardID{"a": ids(0, 1), "b": ids(2, 4, 5)},
		CurrentAssignments:  map[string][]protocol.ShardID{"a": ids(0, 1, 4), "b": ids(2), "x": ids(3)},
		RevokeProgress:      map[string][]protocol.ShardID{"a": ids(4), "x": ids(3)},
		InvariantViolations: []string{},
	}, views.Assignments(s))
}
