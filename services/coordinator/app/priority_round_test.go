package app_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// versions prepares a flow whose record falls back from version N to N-1 when the test
// calls back: at N-1 member a was told to drop two shards for b, at N b has them and a has
// heard of it.
func versions(t *testing.T) (f *flow, back func()) {
	t.Helper()
	f = startFlow(t)
	f.a.heard(f.c, all(f.kept, f.moved))
	older := f.hash()
	f.a.heard(f.c, f.kept, revoked(f.moved)...)
	require.ElementsMatch(t, f.moved, f.b.beat(f.c).Assignment.AssignedShards)
	return f, func() { f.putBack(older) }
}

func TestPriorityStoreThatFallsBackByOneVersionIsSynchronisedTo(t *testing.T) {
	t.Parallel()
	for name, memory := range map[string]bool{"by the coordinator that wrote it": true, "by one that never saw it": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, back := versions(t)
			lost := f.group(f.c)
			c := f.c
			if !memory {
				c = f.another()
			}
			back()

			require.Equal(t, lost.MetadataVersion, f.b.version)
			answer := f.b.heard(c, f.moved)
			require.Equal(t, protocol.StatusSyncMetadata, answer.Status)
			require.NotEqual(t, lost.Lineage, answer.Lineage)
			require.Equal(t, lost.MetadataVersion, answer.MetadataVersion, "that of N-1, and one for the round itself (M2)")
			require.Empty(t, answer.Assignment.AssignedShards, "at N-1 it had nothing")
			require.ElementsMatch(t, f.moved, answer.Assignment.PendingShards)
			requireHeld(t, f.holders(c), map[string][]protocol.ShardID{"ma": all(f.kept, f.moved)})

			settle(c, f.a, f.b)
			require.Nil(t, f.group(c).BarrierUntil)
		})
	}
}

func TestPrioritySyncIsAnsweredAgainWhenItWasLost(t *testing.T) {
	t.Parallel()
	f, back := versions(t)
	back()
	lost := f.b.report(f.c, f.moved)
	require.Equal(t, protocol.StatusSyncMetadata, lost.Status)
	before := f.revision()
	requireSame(t, lost, f.b.report(f.c, f.moved))
	requireSame(t, lost, f.b.report(f.another(), f.moved))
	require.Equal(t, before, f.revision(), "the claim counted once (M1)")

	requireSame(t, lost, f.b.heard(f.c, f.moved))
	require.Equal(t, protocol.StatusRevokePending, f.b.heard(f.c, f.b.owned, draining(f.moved)...).Status,
		"it speaks of the current version now")
}

func TestPrioritySynchronisedMemberDrainsUntilItReportsRevoked(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	f.a.heard(f.c, all(f.kept, f.moved))
	f.a.heard(f.c, f.kept, draining(f.moved)...)
	older := f.hash() // a drains for b …
	f.b.epoch, f.b.owned = protocol.EpochLeave, nil
	require.Equal(t, protocol.StatusOK, f.b.heard(f.c, nil).Status)
	require.Len(t, f.a.heard(f.c, f.kept).Assignment.AssignedShards, shards) // … and had it all back
	f.putBack(older)

	answer := f.a.heard(f.c, all(f.kept, f.moved))
	require.Equal(t, protocol.StatusSyncMetadata, answer.Status)
	require.ElementsMatch(t, f.kept, answer.Assignment.AssignedShards)
	f.b.epoch = protocol.EpochJoin
	require.Equal(t, protocol.StatusSyncMetadata, f.b.heard(f.c, nil).Status)

	pending := func() {
		require.Equal(t, protocol.StatusRevokePending, f.a.heard(f.c, f.kept, draining(f.moved)...).Status)
		waiting := f.b.heard(f.c, nil)
		require.Equal(t, protocol.StatusRevokePending, waiting.Status)
		require.ElementsMatch(t, f.moved, waiting.Assignment.PendingShards)
		require.Empty(t, waiting.Assignment.AssignedShards)
	}
	require.Eventually(t, func() bool {
		pending()
		return f.group(f.c).BarrierUntil == nil
	}, patience, interval)
	for range 5 { // the barrier is over: a's drain alone holds both back
		pending()
	}
	done := f.a.heard(f.c, f.kept, revoked(f.moved)...)
	require.Equal(t, protocol.StatusOK, done.Status)
	require.ElementsMatch(t, f.kept, done.Assignment.AssignedShards)
	granted := f.b.heard(f.c, nil)
	require.Equal(t, protocol.StatusOK, granted.Status)
	require.ElementsMatch(t, f.moved, granted.Assignment.AssignedShards)
}

// Three members report at once that they have given up what they hold and what they do not,
// after the store fell back to a moment at which only one shard was to be dropped. In the
// lost history it had been granted to the third.
func TestPriorityStaleRevokesOfARoundAreNotAccepted(t *testing.T) {
	t.Parallel()
	f := startFlow(t)
	settle(f.c, f.a, f.b)
	third := newMember("mc", ordersURL)
	moved := third.heard(f.c, nil).Assignment.PendingShards
	require.Len(t, moved, 1)
	teller, other := f.a, f.b
	if slices.Contains(f.b.owned, moved[0]) {
		teller, other = f.b, f.a
	}
	had := all(teller.owned)
	kept := teller.heard(f.c, had).Assignment.AssignedShards
	require.Len(t, kept, 1)
	require.Equal(t, protocol.StatusOK, other.heard(f.c, other.owned).Status)
	older := f.hash()
	teller.heard(f.c, kept, revoked(moved)...)
	require.Equal(t, moved, third.heard(f.c, nil).Assignment.AssignedShards)
	f.putBack(older)

	together := func(want protocol.HeartbeatStatus) {
		everything := revoked(all(had, other.owned))
		answers := make([]protocol.HeartbeatResponse, 3)
		var running sync.WaitGroup
		for i, m := range []*member{teller, other, third} {
			running.Go(func() { answers[i] = m.report(f.c, nil, everything...) })
		}
		running.Wait()
		for i, m := range []*member{teller, other, third} {
			require.Equal(t, want, answers[i].Status, m.id)
			m.learn(&answers[i])
		}
	}
	together(protocol.StatusSyncMetadata)
	requireHeld(t, f.holders(f.c), map[string][]protocol.ShardID{teller.id: had, other.id: other.owned})
	together(protocol.StatusRevokePending)
	requireHeld(t, f.holders(f.c), map[string][]protocol.ShardID{teller.id: kept, other.id: other.owned})

	require.Eventually(t, func() bool {
		one, two, three := teller.heard(f.c, teller.owned), other.heard(f.c, other.owned), third.heard(f.c, third.owned)
		return one.Status == protocol.StatusOK && two.Status == protocol.StatusOK && three.Status == protocol.StatusOK
	}, patience, interval)
	require.Equal(t, moved, third.heard(f.c, third.owned).Assignment.AssignedShards)
	requireHeld(t, f.holders(f.c), map[string][]protocol.ShardID{teller.id: kept, other.id: other.owned, third.id: moved})
}
