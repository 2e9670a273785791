package app_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// The priority flows of failure handling, on a real Redis through HTTP. "Lost" is an answer
// that the test does not look at on the member's behalf.

func TestPriorityDrainIsToldAgainAfterALostAnswer(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	before := f.revision()
	had := all(f.kept, f.moved)
	lost := f.a.report(f.c, had)
	require.Equal(t, protocol.StatusOK, lost.Status)
	require.ElementsMatch(t, f.kept, lost.Assignment.AssignedShards, "the drain: the shard is in neither list (A2)")
	require.Empty(t, lost.Assignment.PendingShards)

	requireSame(t, lost, f.a.report(f.c, had))
	requireSame(t, lost, f.a.report(f.another(), had))
	require.Equal(t, before, f.revision(), "telling it again is no commit (A1)")
	require.Empty(t, f.b.beat(f.c).Assignment.AssignedShards, "nothing was released")
}

func TestPriorityConsumerKeepsRevokingWhileTheCoordinatorIsAway(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	require.ElementsMatch(t, f.kept, f.a.heard(f.c, all(f.kept, f.moved)).Assignment.AssignedShards)
	f.a.heard(f.c, f.kept, draining(f.moved)...)
	last := f.now()
	f.c.close()
	require.Equal(t, protocol.CodeTerminating, f.c.refused("POST", ordersURL+"/members/ma/heartbeat",
		protocol.HeartbeatRequest{ProtocolVersion: 1, RequestID: "r", MemberID: "ma"}, http.StatusServiceUnavailable))
	require.Eventually(t, func() bool { return f.now().Sub(last) > lease }, patience, interval)

	next := f.another()
	for range 3 { // the first word after the outage does not give it back, nor expire anybody (T1)
		answer := f.a.heard(next, f.kept, draining(f.moved)...)
		require.Equal(t, protocol.StatusOK, answer.Status)
		require.ElementsMatch(t, f.kept, answer.Assignment.AssignedShards)
		waiting := f.b.beat(next)
		require.Empty(t, waiting.Assignment.AssignedShards)
		require.ElementsMatch(t, f.moved, waiting.Assignment.PendingShards)
	}
	f.a.heard(next, f.kept, revoked(f.moved)...)
	require.ElementsMatch(t, f.moved, f.b.beat(next).Assignment.AssignedShards)
}

func TestPriorityReleaseIsRecordedThoughItsAnswerWasLost(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	f.a.heard(f.c, all(f.kept, f.moved))
	lost := f.a.report(f.c, f.kept, revoked(f.moved)...)
	require.Equal(t, protocol.StatusOK, lost.Status)
	granted := f.b.beat(f.c)
	require.Equal(t, protocol.StatusOK, granted.Status)
	require.ElementsMatch(t, f.moved, granted.Assignment.AssignedShards, "the next heartbeat has them")

	before := f.revision()
	requireSame(t, lost, f.a.heard(f.c, f.kept, revoked(f.moved)...))
	require.Equal(t, before, f.revision(), "a release that was accepted is not one again (R2)")
	requireHeld(t, f.holders(f.c), map[string][]protocol.ShardID{"ma": f.kept, "mb": f.moved})
}

func TestPriorityOwnerThatExpiresWhileItDrainsIsFollowedByTheNew(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	f.a.heard(f.c, all(f.kept, f.moved))
	from := f.now()
	f.a.heard(f.c, f.kept, draining(f.moved)...)
	require.Eventually(t, func() bool {
		answer := f.b.beat(f.c)
		require.Equal(t, protocol.StatusOK, answer.Status)
		if len(answer.Assignment.AssignedShards) == 0 {
			return false
		}
		require.Len(t, answer.Assignment.AssignedShards, shards, "all that it held came free")
		return true
	}, patience, interval)
	require.GreaterOrEqual(t, f.now().Sub(from), lease, "not before the lease was over (H3b)")

	require.Equal(t, protocol.StatusFencedMemberEpoch, f.a.heard(f.c, f.kept, revoked(f.moved)...).Status)
	requireHeld(t, f.holders(f.c), map[string][]protocol.ShardID{"mb": all(f.kept, f.moved)})
}

func TestPriorityDeletedMetadataIsNotBuiltFromHeartbeats(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	f.a.heard(f.c, all(f.kept, f.moved))
	require.NoError(t, f.rdb.Del(t.Context(), ordersKey).Err())

	for _, c := range []*coordinator{f.c, f.another()} { // with and without a memory of the group
		for range 2 { // first as members, then as joiners
			require.Equal(t, protocol.StatusUnknownMemberID, f.a.heard(c, f.a.owned, draining(f.moved)...).Status)
			require.Equal(t, protocol.StatusUnknownMemberID, f.b.heard(c, nil).Status)
		}
		require.Equal(t, protocol.CodeMetadataMissing, c.refused("GET", ordersURL, nil, http.StatusServiceUnavailable))
	}
	require.Empty(t, f.hash())
	status, _ := f.c.call("GET", ordersURL+"/producer-routing", nil, nil)
	require.Equal(t, http.StatusOK, status, "producers go on: where records go is the stream's (L1)")
	repair(t, f.c)
	settle(f.c, f.a, f.b)
}

func TestPriorityProducerRoutingFailsClosedWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	var routing protocol.ProducerRouting
	status, _ := f.c.call("GET", ordersURL+"/producer-routing", nil, &routing)
	require.Equal(t, http.StatusOK, status)
	require.Positive(t, routing.LeaseMs, "a producer knows how long it may act alone")

	f.redis.Kill()
	require.Equal(t, protocol.CodeStoreUnavailable, f.c.refused("GET", ordersURL+"/producer-routing", nil, http.StatusServiceUnavailable),
		"an answer from memory would give a lease that nobody recorded")
	f.redis.Restart()
	f.c.close()
	require.Equal(t, protocol.CodeTerminating, f.c.refused("GET", ordersURL+"/producer-routing", nil, http.StatusServiceUnavailable))
}

func TestPriorityNewCoordinatorResumesARebalance(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	before := f.group(f.c)
	f.c.close()
	next := f.another()
	after := f.group(next)
	require.Equal(t, protocol.GroupReconciling, after.State)
	require.Equal(t, before, after, "what it knows is what was recorded")

	told := f.a.heard(next, all(f.kept, f.moved))
	require.Equal(t, protocol.StatusOK, told.Status)
	require.ElementsMatch(t, f.kept, told.Assignment.AssignedShards)
	require.ElementsMatch(t, f.moved, f.b.beat(next).Assignment.PendingShards)
	f.a.heard(next, f.kept, revoked(f.moved)...)
	require.ElementsMatch(t, f.moved, f.b.beat(next).Assignment.AssignedShards)
	settle(next, f.a, f.b)
	require.Equal(t, before.GroupEpoch, f.group(next).GroupEpoch, "nobody joined, left or expired for it")
}
