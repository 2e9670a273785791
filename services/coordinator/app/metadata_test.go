package app_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

// Protocol M6, field case F34: a group whose record is gone fails closed and is never
// rebuilt from heartbeats, while others live on; creating it again repairs it.
func TestLostMetadataFailsClosedAndOtherGroupsLiveOn(t *testing.T) {
	t.Parallel()
	redis := redisproc.Start(t)
	c := start(t, settings(redis), app.Deps{})
	c.createOrders("billing", "shipping")
	lost, other := newMember("m1", ordersURL), newMember("m2", "/coord/v1/streams/orders/groups/shipping")
	settle(c, lost)
	settle(c, other)
	healthy(c)

	rdb := redis.Client(t)
	require.NoError(t, rdb.Del(t.Context(), ordersKey).Err())

	require.Equal(t, protocol.StatusUnknownMemberID, lost.beat(c).Status)
	require.Equal(t, protocol.StatusUnknownMemberID, lost.beat(c).Status, "joining rebuilds nothing")
	require.Equal(t, int64(0), rdb.Exists(t.Context(), ordersKey).Val())
	for _, path := range []string{ordersURL, "/coord/v1/monitoring/streams/orders/groups/billing/members"} {
		require.Equal(t, protocol.CodeMetadataMissing, c.refused("GET", path, nil, http.StatusServiceUnavailable))
	}
	require.Eventually(t, func() bool {
		require.Equal(t, protocol.StatusOK, other.beat(c).Status, "the other group lives on")
		health := c.health()
		return health.Status == protocol.HealthDegraded && len(health.Problems) == 1 &&
			strings.Contains(health.Problems[0], `stream "orders" group "billing"`)
	}, patience, interval)

	repair(t, c)
	settle(c, lost)
	healthy(c)
}

// Protocol M6: what cannot be read decides nothing.
func TestCorruptMetadataFailsClosedAndCreatingAgainRepairsUnderABarrier(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string][]any{
		"aggregate is no JSON":  {"aggregate", "{"},
		"aggregate is empty":    {"aggregate", ""},
		"revision is no number": {"revision", "x"},
		"token is empty":        {"token", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis := redisproc.Start(t)
			c := start(t, settings(redis), app.Deps{})
			c.createOrders("billing")
			m := newMember("m1", ordersURL)
			settle(c, m)
			rdb := redis.Client(t)
			require.NoError(t, rdb.HSet(t.Context(), ordersKey, spoil...).Err())
			// The worker's snapshot may answer while nobody looked at the record: a second
			// coordinator has none.
			second := start(t, settings(redis), app.Deps{})
			require.Equal(t, protocol.StatusUnknownMemberID, newMember("m2", ordersURL).beat(second).Status)
			require.Equal(t, protocol.CodeMetadataCorrupt, second.refused("GET", ordersURL, nil, http.StatusServiceUnavailable))
			require.Eventually(t, func() bool {
				health := second.health()
				return health.Status == protocol.HealthDegraded && strings.Contains(strings.Join(health.Problems, " "), "billing")
			}, patience, interval)

			repair(t, second)
			settle(second, newMember("m3", ordersURL))
			healthy(second)
		})
	}
}

// repair creates the group again and sees that no member may start while the barrier is up.
func repair(t *testing.T, c *coordinator) {
	t.Helper()
	var made protocol.GroupResponse
	status, _ := c.call("POST", ordersURL, protocol.CreateGroupRequest{RequestedBy: "test"}, &made)
	require.Equal(t, http.StatusCreated, status)
	require.NotNil(t, made.BarrierUntil, "members of the lost record may still read")
	require.Equal(t, 4, made.ShardCount)
	early := newMember("early", ordersURL)
	answer := early.beat(c)
	require.Contains(t, []protocol.HeartbeatStatus{
		protocol.StatusRevokePending,
		protocol.StatusSyncMetadata, // by a coordinator that saw the lost record (M1)
	}, answer.Status)
	require.Empty(t, answer.Assignment.AssignedShards)
	early.epoch = protocol.EpochLeave
	early.beat(c)
}

func TestGroupThatNeverWasIsNotFound(t *testing.T) {
	t.Parallel()
	c := start(t, settings(redisproc.Start(t)), app.Deps{})
	require.Equal(t, protocol.CodeGroupNotFound, c.refused("GET", ordersURL, nil, http.StatusNotFound))
	require.Equal(t, protocol.StatusUnknownMemberID, newMember("m1", ordersURL).beat(c).Status)
	healthy(c)
}
