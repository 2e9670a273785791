package e2e_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func pythonRelease(t *testing.T, h *pythonHouse) {
	t.Helper()
	h.create(t, "py-release", 4)
	first, second := h.client.member("py-release", group, "first"), h.client.member("py-release", group, "second")
	require.Len(t, first.beat(t).shards, 4)
	require.Equal(t, protocol.StatusOK, second.beat(t).status)
	require.Empty(t, second.shards, "the first has them all")
	second.until(t, "has its half", func() bool {
		first.beat(t)
		require.True(t, first.reads(), "OK with fewer shards keeps the rest running")
		require.GreaterOrEqual(t, len(first.shards), 2)
		for _, shard := range second.shards {
			require.NotContains(t, first.shards, shard)
		}
		return len(second.shards) == 2
	})
	for _, status := range append(first.seen, second.seen...) {
		require.Equal(t, protocol.StatusOK, status)
	}
}

func pythonRestart(t *testing.T, h *pythonHouse) {
	t.Helper()
	h.create(t, "py-restart", 3)
	begun := time.Now()
	require.Len(t, h.client.member("py-restart", group, "pod-1").beat(t).shards, 3)
	again := h.client.member("py-restart", group, "pod-1")
	again.until(t, "is let in", again.reads)
	require.Len(t, again.shards, 3)
	require.Contains(t, again.seen, protocol.StatusRetry, "the former life may still read")
	require.GreaterOrEqual(t, time.Since(begun), pythonLease/2)
	require.Less(t, time.Since(begun), 4*pythonLease)
}

func pythonOutlasted(t *testing.T, h *pythonHouse) {
	t.Helper()
	h.create(t, "py-outlasted", 2)
	busy, other := h.client.member("py-outlasted", group, "busy"), h.client.member("py-outlasted", group, "other")
	require.Len(t, busy.beat(t).shards, 2)
	other.until(t, "has what the busy one does not heartbeat for", func() bool { return len(other.shards) == 2 })
	require.Contains(t, []protocol.HeartbeatStatus{protocol.StatusUnknownMemberID, protocol.StatusFencedMemberEpoch},
		busy.beat(t).status)
	require.Empty(t, busy.shards)
	busy.until(t, "has its half again", func() bool { other.beat(t); return len(busy.shards) == 1 && len(other.shards) == 1 })
}

func pythonSilence(t *testing.T, h *pythonHouse) {
	t.Helper()
	h.create(t, "py-silence", 2)
	stopped, other := h.client.member("py-silence", group, "stopped"), h.client.member("py-silence", group, "other")
	begun := time.Now()
	require.Len(t, stopped.beat(t).shards, 2)
	other.until(t, "has the shards of the stopped one", func() bool { return len(other.shards) == 2 })
	require.GreaterOrEqual(t, time.Since(begun), pythonLease/2, "nobody reads while the stopped one may")
	require.True(t, other.reads())
}

func pythonSync(t *testing.T, h *pythonHouse) {
	t.Helper()
	h.create(t, "py-sync", 2)
	member := h.client.member("py-sync", group, "ahead")
	require.Len(t, member.beat(t).shards, 2)
	member.version += 40 // it has seen more than the store has: writes were lost (M1)
	begun := time.Now()
	require.Equal(t, protocol.StatusSyncMetadata, member.beat(t).status)
	require.False(t, member.reads())
	member.until(t, "reads again", member.reads)
	require.Len(t, member.shards, 2)
	require.GreaterOrEqual(t, time.Since(begun), pythonLease/2, "the barrier (M3)")
	require.Contains(t, member.seen, protocol.StatusRevokePending)
	require.NotContains(t, member.seen, protocol.StatusFencedMemberEpoch)
}
