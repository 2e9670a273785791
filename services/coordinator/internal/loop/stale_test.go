package loop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
)

// T05: a fence from a cache that does not know of a renewal elsewhere is decided again.
func TestT05FenceRelyingOnMovedLivenessIsRefused(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 1)
		c1, c2 := m.coordinator(false), m.coordinator(false)
		a, b := &member{id: "a", incarnation: "i"}, &member{id: "b", incarnation: "i"}
		a.beat(t, c1)
		b.beat(t, c1)
		m.pass(3 * time.Second)
		bad := *a
		bad.owned = []protocol.ShardID{{ShardIndex: 0}, {ShardIndex: 7}}
		bad.epoch = epochOf(t, c1, "a")
		// The bad report was sent first; a renewal of the same member gets in between
		// the decision and the commit, through the other coordinator.
		bad.sequence += 5
		m.door.mu.Lock()
		m.door.beforeWrite = func() { a.beat(t, c2) }
		m.door.mu.Unlock()
		answer := bad.beat(t, c1)
		require.Equal(t, protocol.StatusFencedMemberEpoch, answer.Status)
		view, err := c1.View(t.Context(), orders)
		require.NoError(t, err)
		hold := view.Group.Holds[0]
		require.Equal(t, "a", hold.Member)
		require.Equal(t, view.Live["a"].Deadline, hold.Lingers, "the hold lingers until the deadline of the renewal")
	})
}

func epochOf(t *testing.T, l *loop.Loop, id string) int64 {
	t.Helper()
	view, err := l.View(t.Context(), orders)
	require.NoError(t, err)
	found, ok := view.Group.Find(id)
	require.True(t, ok)
	return found.Epoch
}

// T07: after a rollback another commit has the same revision; the token tells them apart.
func TestT07CachedRevisionOfADeadHistoryIsRefused(t *testing.T) {
	t.Parallel()
	bubble(t, func(m *machine) {
		t := m.t
		m.create(orders, 1)
		c1, c2 := m.coordinator(false), m.coordinator(false)
		before := m.kept.Dump()
		b := &member{id: "b", incarnation: "i"}
		b.beat(t, c1)
		require.NotEmpty(t, b.owned)
		m.kept.Restore(before)
		x := &member{id: "x", incarnation: "i"}
		x.beat(t, c2)
		require.NotEmpty(t, x.owned)
		answer := b.beat(t, c1)
		require.Empty(t, shardsOf(answer), "no answer from the dead state")
		require.NotEqual(t, protocol.StatusOK, answer.Status)
	})
}
