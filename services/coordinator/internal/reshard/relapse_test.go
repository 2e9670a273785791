package reshard_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/storetest"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// alert is a bench whose driver looks through all streams all the time, and whose leases and
// barriers are those of quick.
func alert(t *testing.T, shards int, groups ...string) *bench {
	t.Helper()
	b := newBench(t, redisproc.Start(t).Client(t))
	b.core.Lease, b.core.ClientLease, b.core.HeartbeatInterval = 2*time.Second, 1600*time.Millisecond, 500*time.Millisecond
	b.core.RebalanceTimeout = 4 * time.Second
	b.cfg.Scan, b.cfg.Sweep = 20*time.Millisecond, 20*time.Millisecond
	b.begin(shards, groups...)
	return b
}

func (b *bench) recordKey() string { return protocol.DefaultKeyPrefix + ":{" + b.prefix + "}:stream" }

func (b *bench) groupKey(name string) string {
	return protocol.DefaultKeyPrefix + ":{" + b.prefix + ":" + name + "}:metadata"
}

// save returns what a hash holds now, to be put back later in place of what it holds then.
func (b *bench) save(key string) (putBack func()) {
	b.t.Helper()
	held, err := b.rdb.HGetAll(b.t.Context(), key).Result()
	require.NoError(b.t, err)
	require.NotEmpty(b.t, held)
	return func() {
		b.t.Helper()
		pipe := b.rdb.TxPipeline()
		pipe.Del(b.t.Context(), key)
		pipe.HSet(b.t.Context(), key, held)
		_, err := pipe.Exec(b.t.Context())
		require.NoError(b.t, err)
	}
}

// converges waits until no work is left, and shards, groups and routing agree.
func (b *bench) converges(shards int) {
	b.t.Helper()
	b.await("nothing is left to do", func() bool {
		s := b.stream()
		for _, name := range s.Active() {
			if g := b.group(name); !loop.Follows(g, s) || !g.Settled() || len(g.Holds) != shards {
				return false
			}
		}
		for index := range shards {
			if b.rdb.Type(b.t.Context(), b.key(index)).Val() != "stream" {
				return false
			}
		}
		return s.Resharding == nil && len(s.Lost) == 0 && s.ShardCount == shards
	})
	before, _ := b.handledBy("a")
	for index := range shards {
		b.publish(index, 1)
	}
	b.await("what is published now is read", func() bool { n, _ := b.handledBy("a"); return n == before+shards })
}

// The stream's record is put back behind seals and behind the end (L1, L5): what it says
// then is what holds, and its groups follow.
func TestL1RecordPutBackBehindASealEndsTheSame(t *testing.T) {
	t.Parallel()
	b := alert(t, 4, "a")
	m := b.join("a", "a-1")
	m.skips = []int{2, 3}
	b.publish(2, 1)
	b.publish(3, 1)
	b.settled()
	id := b.scaled(2)
	b.keptFor(id, 2, protocol.DrainUnread)
	b.keptFor(id, 3, protocol.DrainUnread)
	putBack := b.save(b.recordKey())
	m.skips = nil
	b.becomes(id, protocol.MigrationDeprecated)
	retired := *b.drain(id, 2).RetiredKey
	putBack()
	b.converges(2)
	require.Equal(t, protocol.MigrationDeprecated, b.migration(id).State)
	require.EqualValues(t, 1, b.rdb.XLen(t.Context(), retired).Val(), "the entries are kept")
	require.Equal(t, "string", b.rdb.Type(t.Context(), b.key(2)).Val())
}

func TestL1RecordPutBackBeforeAReshardingConverges(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ from, to int }{"scale-in": {4, 2}, "scale-out": {2, 4}}
	const widest = 4 // no shard that a group reads, or producers may know of, is given up
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := alert(t, test.from, "a", "b")
			b.join("a", "a-1")
			b.join("b", "b-1")
			b.settled()
			putBack := b.save(b.recordKey())
			b.becomes(b.scaled(test.to), protocol.MigrationDeprecated)
			for index := range test.to {
				b.publish(index, 1)
			}
			b.await("all read", func() bool { n, _ := b.handledBy("b"); return n == test.to })
			putBack()
			b.converges(widest)
			b.becomes(b.scaled(2), protocol.MigrationDeprecated)
			b.converges(2)
			b.becomes(b.scaled(5), protocol.MigrationDeprecated)
			b.converges(5)
		})
	}
}

// L2: a rollback that the record has forgotten has left higher marks.
func TestL2RecordPutBackBeforeARollbackGoesForwardWithAHigherMark(t *testing.T) {
	t.Parallel()
	b := alert(t, 3, "a")
	m := b.join("a", "a-1")
	m.skips = []int{2}
	b.publish(2, 1)
	b.settled()
	id := b.scaled(1)
	b.keptFor(id, 2, protocol.DrainUnread)
	b.await("one is sealed", func() bool { return b.drain(id, 1).Phase == protocol.DrainSealed })
	putBack := b.save(b.recordKey())
	require.NoError(t, b.rollback(id))
	b.becomes(id, protocol.MigrationRolledBack)
	m.skips = nil
	putBack()
	b.converges(1)
	require.Equal(t, protocol.MigrationDeprecated, b.migration(id).State)
	require.Equal(t, []string{"string", "string"}, []string{
		b.rdb.Type(t.Context(), b.key(1)).Val(), b.rdb.Type(t.Context(), b.key(2)).Val(),
	}, "both are sealed in Redis too")
}

// L1: a group that fell back behind a finished resharding copies its layout again.
func TestL1GroupPutBackBehindAReshardingFollowsAgain(t *testing.T) {
	t.Parallel()
	for _, to := range []int{2, 5} {
		b := alert(t, 4, "a")
		m := b.join("a", "a-1")
		b.settled()
		putBack := b.save(b.groupKey("a"))
		b.becomes(b.scaled(to), protocol.MigrationDeprecated)
		b.settled()
		putBack()
		b.await("the loss is noticed", func() bool { return b.causes("a", protocol.EventCorrection) > 0 })
		b.converges(to)
		require.Len(t, m.owned, to)
	}
}

// L2: a group is created though the record has forgotten the marks of a later phase, and a
// shard that is lost then is made again.
func TestL2CreationAndRepairGoAboveMarksThatTheRecordForgot(t *testing.T) {
	t.Parallel()
	b := alert(t, 3, "a")
	b.join("a", "a-1")
	b.settled()
	putBack := b.save(b.recordKey())
	id := b.scaled(4)
	b.becomes(id, protocol.MigrationDeprecated)
	b.becomes(b.scaled(3), protocol.MigrationDeprecated)
	putBack()
	_, err := b.lead.catalog.CreateGroup(t.Context(), b.prefix, "b", protocol.CreateGroupRequest{RequestedBy: "t"})
	require.NoError(t, err)
	b.join("b", "b-1")
	b.do("DEL", b.key(1))
	b.await("made again", func() bool { return b.causes("b", protocol.EventReprovision) > 0 && len(b.stream().Lost) == 0 })
	b.converges(3)
	b.publish(1, 1)
	b.await("read", func() bool { n, _ := b.handledBy("b"); return n == 4 })
}

// L6, L8: all shards were sealed, and then a rollback that the record has forgotten put
// them back: what was published to them since is read before they are sealed once more.
func TestL6SealsThatALostRollbackUndidAreNotTrusted(t *testing.T) {
	t.Parallel()
	b := alert(t, 3, "a")
	m := b.join("a", "a-1")
	b.settled()
	m.at = b.still()
	var sealed atomic.Bool
	b.lead.shards.fail(nil, func(call string) error { sealed.Store(sealed.Load() || call == "Seal"); return nil })
	b.lead.kept.Before(func(_ context.Context, call storetest.Call) error {
		if sealed.Load() && call.Op == "Load" && call.Key.Group == "a" {
			return &store.UnavailableError{State: "TIMEOUT", Cause: errors.New("away")}
		}
		return nil
	})
	id := b.scaled(1)
	b.await("all are sealed", func() bool {
		return b.stream().Resharding != nil && b.stream().ShardCount == 1 && b.stream().Removed == 0
	})
	require.Equal(t, []int{1, 2}, b.stream().Resharding.At(stream.StepSealed))
	putBack := b.save(b.recordKey())
	require.NoError(t, b.rollback(id)) // before the group is readable, at which the resharding would end
	b.lead.kept.Before(nil)
	b.becomes(id, protocol.MigrationRolledBack)
	m.skips = []int{1, 2}
	b.publish(1, 1)
	b.publish(2, 1)
	putBack()
	b.keptFor(id, 1, protocol.DrainUnread)
	b.keptFor(id, 2, protocol.DrainUnread)
	m.skips = nil
	b.converges(1)
	n, _ := b.handledBy("a")
	require.Equal(t, 3, n)
	require.Equal(t, "string", b.rdb.Type(t.Context(), b.key(2)).Val())
}

// L2, L12: a marker from the future, as after a clock that went back, is passed by.
func TestL12LostShardIsMadeAgainAboveAHigherMark(t *testing.T) {
	t.Parallel()
	b := open(t, 2, "a")
	b.join("a", "a-1")
	b.settled()
	marker := protocol.DefaultKeyPrefix + ":shard:{" + b.key(1) + "}"
	mark := b.stream().Mark + time.Hour.Milliseconds()
	b.do("SET", marker, fmt.Sprintf("%d:other:forward", mark))
	b.do("DEL", b.key(1))
	b.await("made again", func() bool { return b.rdb.Exists(t.Context(), b.key(1)).Val() == 1 && len(b.stream().Lost) == 0 })
	require.Greater(t, b.stream().Mark, mark)
}

// L8: a scale-out that the record only prepares, though its shards were written to, is
// rolled back: they are read to their end.
func TestL8RollbackOfAScaleOutThatTheRecordForgotReadsItsShards(t *testing.T) {
	t.Parallel()
	b := newBench(t, redisproc.Start(t).Client(t))
	b.lead = b.still()
	b.create(2, "a")
	m := b.join("a", "a-1")
	b.settled()
	id := b.scaled(4)
	putBack := b.save(b.recordKey())
	look := func(what string, come func() bool) {
		t.Helper()
		b.await(what, func() bool {
			_, err := b.lead.driver.Look(b.prefix, false)
			require.NoError(t, err)
			return come()
		})
	}
	look("routing", func() bool { return b.stream().ShardCount == 4 })
	m.skips = []int{2, 3}
	b.publish(2, 1)
	b.publish(3, 1)
	putBack()
	require.Equal(t, protocol.MigrationPreparing, b.migration(id).State)
	require.NoError(t, b.rollback(id))
	look("they are read", func() bool {
		r := b.stream().Resharding
		return r != nil && len(r.Shards) == 2 && r.Shards[0].Reason == "UNREAD" && r.Shards[1].Reason == "UNREAD"
	})
	m.skips = nil
	look("the end", func() bool { return b.stream().Resharding == nil })
	require.Equal(t, protocol.MigrationRolledBack, b.migration(id).State)
	n, _ := b.handledBy("a")
	require.Equal(t, 2, n)
}

// L1, L12: no consumer has to complain before producers can publish again.
func TestL1RecordPutBackBehindSealsMakesTheShardsAgainByItself(t *testing.T) {
	t.Parallel()
	b := alert(t, 4, "a")
	putBack := b.save(b.recordKey())
	b.becomes(b.scaled(2), protocol.MigrationDeprecated)
	require.Equal(t, "string", b.rdb.Type(t.Context(), b.key(3)).Val())
	putBack()
	b.await("the shards are there", func() bool {
		s := b.stream()
		return b.rdb.Type(t.Context(), b.key(2)).Val() == "stream" && b.rdb.Type(t.Context(), b.key(3)).Val() == "stream" &&
			len(s.Lost) == 0 && loop.Follows(b.group("a"), s)
	})
	require.Equal(t, 4, b.stream().ShardCount)
	b.publish(3, 1)
	b.join("a", "a-1")
	b.await("read", func() bool { n, _ := b.handledBy("a"); return n == 1 })
}
