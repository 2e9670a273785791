package loop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
)

// elder sends a heartbeat of a client without incarnation, sequence and lineage.
func elder(t *testing.T, m *member, l *loop.Loop) *protocol.HeartbeatResponse {
	t.Helper()
	m.incarnation, m.lineage = "", ""
	return m.beat(t, l)
}

// H3, H6, M1: between the decision on a cached state and its touch the lease
// of an old client ends, another coordinator gives its shard away, and the store fails over and
// loses that. The old client is not let on by the state that has come back.
func TestALapsedLeaseIsNotRenewedOnAStateThatCameBack(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 1)
		c1, c2 := m.coordinator(false), m.coordinator(false)
		a, b := &member{id: "a"}, &member{id: "b", incarnation: "i"}
		require.Equal(t, []int{0}, shardsOf(elder(t, a, c1)))
		b.beat(t, c1)
		elder(t, a, c2)
		for range 9 {
			m.pass(time.Second)
			b.beat(t, c2)
		}
		m.pass(999 * time.Millisecond)
		loads := m.door.loads.Load()
		m.door.mu.Lock()
		m.door.beforeWrite = func() {
			require.Equal(t, loads, m.door.loads.Load(), "the decision rests on the cached state")
			m.pass(time.Second)
			before := m.kept.Dump()
			b.beat(t, c1)
			require.Len(t, b.owned, 1, "b reads what a has lost")
			m.kept.Restore(before)
			m.kept.SetIdentity("another")
		}
		m.door.mu.Unlock()
		answer := elder(t, a, c2)
		require.Empty(t, shardsOf(answer))
		require.Equal(t, protocol.StatusSyncMetadata, answer.Status, "the loss is found, and the barrier is up")
	})
}

// T1: in the grace after nobody has served the group a lease that has run out is renewed, by a
// decision on a fresh state; from then on its heartbeats are one touch each again.
func TestALapsedLeaseIsRenewedInTheGrace(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 2)
		l := m.coordinator(false)
		a, b := &member{id: "a", incarnation: "i"}, &member{id: "b", incarnation: "i"}
		for range 3 {
			a.beat(t, l)
			b.beat(t, l)
		}
		m.pass(11 * time.Second)
		require.Equal(t, protocol.StatusOK, b.beat(t, l).Status)
		loads, touches, commits := m.door.loads.Load(), m.door.touches.Load(), m.door.commits.Load()
		require.Equal(t, protocol.StatusOK, a.beat(t, l).Status)
		require.EqualValues(t, 1, m.door.loads.Load()-loads)
		require.EqualValues(t, 2, m.door.touches.Load()-touches, "one is refused")
		require.Equal(t, protocol.StatusOK, a.beat(t, l).Status)
		require.EqualValues(t, 1, m.door.loads.Load()-loads)
		require.EqualValues(t, 3, m.door.touches.Load()-touches)
		require.Equal(t, commits, m.door.commits.Load())
		require.Equal(t, group.Active, stateOf(t, l, "a"))
	})
}

// E4, J1: outside a grace a member that comes after its lease is out, and begins anew.
func TestALapsedMemberThatNobodyExpiredBeginsAnew(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 2)
		l := m.coordinator(false)
		a, b := &member{id: "elder"}, &member{id: "b", incarnation: "i"}
		elder(t, a, l)
		b.beat(t, l)
		elder(t, a, l)
		for range 10 {
			m.pass(time.Second)
			b.beat(t, l)
		}
		answer := elder(t, a, l)
		require.Equal(t, protocol.StatusFencedMemberEpoch, answer.Status)
		require.Equal(t, protocol.ReasonLeaseExpired, answer.Reason)
		require.Equal(t, protocol.StatusOK, elder(t, a, l).Status)
		require.Equal(t, group.Active, stateOf(t, l, "elder"))
	})
}
