package reshard_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/provision"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/storetest"
)

// quick is a bench whose leases and barriers run out while a test waits. On a slow machine
// they do so between any two lines: nothing may rest on one that is not over yet.
func quick(t *testing.T, shards int, groups ...string) *bench {
	t.Helper()
	b := newBench(t, redisproc.Start(t).Client(t))
	b.core.Lease, b.core.ClientLease, b.core.HeartbeatInterval = 2*time.Second, 1600*time.Millisecond, 500*time.Millisecond
	b.core.RebalanceTimeout = 4 * time.Second
	b.begin(shards, groups...)
	return b
}

func TestL4UnreadShardsWaitForAConsumerAndThenEnd(t *testing.T) {
	t.Parallel()
	b := open(t, 3, "a")
	b.publish(2, 3)
	id := b.scaled(1)
	b.keptFor(id, 2, protocol.DrainUnread)
	b.await("the empty shard is sealed", func() bool { return b.drain(id, 1).Phase == protocol.DrainSealed })
	shown := b.drain(id, 2)
	require.Equal(t, protocol.DrainReading, shown.Phase)
	require.EqualValues(t, 3, *shown.Lag)
	require.EqualValues(t, 0, *shown.Pending)
	require.Equal(t, "a", *shown.BlockingGroup)
	require.NotNil(t, shown.TailID)
	require.NotNil(t, shown.Since)
	require.Empty(t, shown.Owners)
	require.Nil(t, shown.Proof)
	require.Equal(t, 1, b.migration(id).Progress.Done)
	require.Equal(t, 2, b.migration(id).Progress.Total)
	b.join("a", "a-1")
	b.becomes(id, protocol.MigrationDeprecated)
	shown = b.drain(id, 2)
	require.Equal(t, protocol.DrainSealed, shown.Phase)
	require.Equal(t, protocol.ProofLag, *shown.Proof)
	require.Nil(t, shown.Reason)
	require.EqualValues(t, 3, b.rdb.XLen(t.Context(), *shown.RetiredKey).Val())
	n, _ := b.handledBy("a")
	require.Equal(t, 3, n)
}

// T24: nothing can be added to a sealed shard, with or without NOMKSTREAM (L5).
func TestL5NothingCanBeAddedToASealedShard(t *testing.T) {
	t.Parallel()
	b := open(t, 2, "a")
	b.becomes(b.scaled(1), protocol.MigrationDeprecated)
	for _, noMake := range []bool{false, true} {
		err := b.rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: b.key(1), NoMkStream: noMake, Values: []string{"f", "v"}}).Err()
		require.ErrorContains(t, err, "WRONGTYPE")
	}
}

func TestL4PendingRecordsNameTheConsumerThatHasThem(t *testing.T) {
	t.Parallel()
	b := open(t, 2, "a")
	b.publish(1, 2)
	b.do("XREADGROUP", "GROUP", "a", "busy", "STREAMS", b.key(1), ">")
	id := b.scaled(1)
	b.keptFor(id, 1, protocol.DrainPending)
	shown := b.drain(id, 1)
	require.EqualValues(t, 2, *shown.Pending)
	require.Equal(t, "busy", *shown.BlockingConsumer)
	requireCode(t, b.confirm(id, 1), protocol.CodeDrainNotConfirmable)
	b.join("a", "a-1")
	b.becomes(id, protocol.MigrationDeprecated)
}

// L5: of two groups the slow one decides, and holds count as well as records.
func TestL5ShardIsSealedWhenTheSlowerGroupHasReleasedIt(t *testing.T) {
	t.Parallel()
	b := open(t, 2, "a", "b")
	b.publish(1, 2)
	b.join("a", "a-1")
	slow := b.join("b", "b-1")
	slow.idle, slow.keeps = true, []int{1}
	b.settled()
	early := b.sealsHeld("b", 1)
	id := b.scaled(1)
	b.keptFor(id, 1, protocol.DrainUnread)
	require.Equal(t, "b", *b.drain(id, 1).BlockingGroup)
	slow.idle = false
	b.keptFor(id, 1, protocol.DrainStillOwned)
	b.await("the quick group has released it", func() bool { return len(b.drain(id, 1).Owners) == 1 })
	b.looksAgain()
	require.Equal(t, []protocol.ShardOwner{{ConsumerGroup: "b", MemberID: "b-1"}}, b.drain(id, 1).Owners)
	require.Equal(t, protocol.DrainClosing, b.drain(id, 1).Phase)
	require.Equal(t, "stream", b.rdb.Type(t.Context(), b.key(1)).Val())
	slow.keeps = nil
	b.becomes(id, protocol.MigrationDeprecated)
	require.False(t, early.Load(), "no seal while the shard was held")
}

// L5, H4: a member that was thrown out may go on reading until its lease is over.
func TestL5LingeringHoldKeepsAShardFromBeingSealed(t *testing.T) {
	t.Parallel()
	b := open(t, 2, "a")
	m := b.join("a", "a-1")
	m.keeps = []int{0, 1}
	b.settled()
	id := b.scaled(1)
	b.keptFor(id, 1, protocol.DrainStillOwned)
	m.mute = true
	_, err := b.lead.catalog.Fence(t.Context(), b.prefix, "a", "a-1", protocol.FenceRequest{RequestedBy: "ops", Reason: "stuck"})
	require.NoError(t, err)
	require.NotZero(t, b.group("a").Holds[1].Lingers)
	require.Equal(t, protocol.DrainClosing, b.drain(id, 1).Phase)
	early := b.sealsHeld("a", 1)
	b.becomes(id, protocol.MigrationDeprecated)
	require.False(t, early.Load())
}

// sealsHeld tells later whether a seal was tried while a group held the shard.
func (b *bench) sealsHeld(name string, index int) *atomic.Bool {
	early := &atomic.Bool{}
	b.lead.shards.fail(func(call string) error {
		if call == "Seal" && b.group(name).Holds[index].Member != "" {
			early.Store(true)
		}
		return nil
	}, nil)
	return early
}

// looksAgain waits until the driver has taken up the stream three times more.
func (b *bench) looksAgain() {
	b.t.Helper()
	var looks atomic.Int64
	b.lead.kept.Before(func(_ context.Context, call storetest.Call) error {
		if call.Op == "Lease" {
			looks.Add(1)
		}
		return nil
	})
	b.await("the driver has looked again", func() bool { return looks.Load() >= 3 })
	b.lead.kept.Before(nil)
}

// T28: the proof is made once more in the step that renames (L4, L5).
func TestL5RecordAddedBehindTheProofIsReadBeforeTheSeal(t *testing.T) {
	t.Parallel()
	b := open(t, 2, "a")
	b.join("a", "a-1")
	b.settled()
	var added atomic.Bool
	b.lead.shards.fail(func(call string) error {
		if call == "Seal" && added.CompareAndSwap(false, true) {
			return b.rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: b.key(1), NoMkStream: true, Values: []string{"f", "v"}}).Err()
		}
		return nil
	}, nil)
	id := b.scaled(1)
	b.becomes(id, protocol.MigrationDeprecated)
	require.True(t, added.Load())
	n, _ := b.handledBy("a")
	require.Equal(t, 1, n)
	require.EqualValues(t, 1, b.rdb.XLen(t.Context(), *b.drain(id, 1).RetiredKey).Val())
}

func TestL6ScaleToNoShardsAndBack(t *testing.T) {
	t.Parallel()
	b := open(t, 3, "a", "b")
	b.join("a", "a-1")
	b.join("b", "b-1")
	b.publish(2, 1)
	sent := 1
	for _, to := range []int{12, 0, 4} {
		b.becomes(b.scaled(to), protocol.MigrationDeprecated)
		b.settled()
		s := b.stream()
		require.Equal(t, to, s.ShardCount)
		require.Zero(t, s.Removed)
		routing, err := b.lead.catalog.Routing(t.Context(), b.prefix, "a")
		require.NoError(t, err)
		require.Len(t, routing.Shards, to)
		for index := range to {
			b.publish(index, 1)
			sent++
		}
		for _, in := range []string{"a", "b"} {
			require.Len(t, b.group(in).Holds, to)
			b.await("all records handled", func() bool { n, _ := b.handledBy(in); return n == sent })
		}
	}
	_, twice := b.handledBy("a")
	require.Zero(t, twice)
	require.Len(t, b.stream().Past, 3)
}

// L5: more shards than are looked at in one go.
func TestL5ManyShardsAreProvenAndSealed(t *testing.T) {
	t.Parallel()
	b := open(t, 1200, "a", "b")
	b.join("a", "a-1")
	b.publish(1100, 1)
	id := b.scaled(1)
	b.keptFor(id, 1100, protocol.DrainUnread)
	b.await("all others sealed", func() bool { return b.migration(id).Progress.Done == 1198 })
	require.Equal(t, "b", *b.drain(id, 1100).BlockingGroup)
	b.join("b", "b-1")
	b.becomes(id, protocol.MigrationDeprecated)
	require.Len(t, b.group("a").Holds, 1)
}

// L7: nobody is left to be told: proof and leases decide.
func TestL7ScaleInEndsWhenAllMembersHaveExpired(t *testing.T) {
	t.Parallel()
	b := open(t, 3, "a", "b")
	b.join("a", "a-1")
	b.join("a", "a-2")
	b.join("b", "b-1")
	b.publish(2, 2)
	b.settled()
	for _, m := range b.crew {
		m.keeps = []int{1, 2}
	}
	id := b.scaled(1)
	b.keptFor(id, 1, protocol.DrainStillOwned)
	b.keptFor(id, 2, protocol.DrainStillOwned)
	for _, m := range b.crew {
		m.mute = true
	}
	b.becomes(id, protocol.MigrationDeprecated)
	require.False(t, b.group("a").HasListening())
	require.Equal(t, 1, b.stream().ShardCount)
}

// L5: what becomes of the entries of sealed shards.
func TestL5RetentionDecidesAboutTheEntries(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		retention provision.Retention
		keeps     bool
		least     time.Duration // that the entries are kept, -1 for ever
	}{
		"nothing": {provision.RetainNothing, false, 0},
		"a time":  {provision.Retention(time.Hour), true, 50 * time.Minute},
		"ever":    {provision.RetainForever, true, -1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, redisproc.Start(t).Client(t))
			b.cfg.Retention = test.retention
			b.begin(2, "a")
			b.join("a", "a-1")
			b.publish(1, 2)
			id := b.scaled(1)
			b.becomes(id, protocol.MigrationDeprecated)
			key := b.drain(id, 1).RetiredKey
			require.Equal(t, test.keeps, key != nil)
			if !test.keeps {
				require.Empty(t, b.rdb.Keys(t.Context(), protocol.DefaultKeyPrefix+":retired:*").Val())
				return
			}
			require.EqualValues(t, 2, b.rdb.XLen(t.Context(), *key).Val())
			left := b.rdb.TTL(t.Context(), *key).Val()
			require.Equal(t, test.least < 0, left < 0)
			require.GreaterOrEqual(t, left, test.least)
		})
	}
}
