package reshard_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/provision"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// brief is a routing lease that a producer on a slow machine can use now and then.
const brief = 300 * time.Millisecond

// regretful is a bench with two groups that read.
func regretful(t *testing.T, shards int, routing time.Duration, retention provision.Retention) *bench {
	t.Helper()
	b := newBench(t, redisproc.Start(t).Client(t))
	b.cfg.RoutingLease, b.cfg.Retention = routing, retention
	b.begin(shards, "a", "b")
	b.join("a", "a-1")
	b.join("b", "b-1")
	b.settled()
	return b
}

// T23: routing returns when every shard that it names is there again, so that no record
// is refused at any moment (L8).
func TestL8RollbackOfAScaleInNeverRefusesARecord(t *testing.T) {
	t.Parallel()
	partlySealed := func(b *bench, id string) {
		b.await("one shard sealed and one not", func() bool {
			return b.drain(id, 2).Phase == protocol.DrainSealed && b.drain(id, 3).Phase == protocol.DrainReading
		})
	}
	tests := map[string]struct {
		routing   time.Duration
		retention provision.Retention
		until     func(b *bench, id string)
	}{
		"preparing": {brief, provision.RetainForever, func(b *bench, id string) {
			b.await("a problem", func() bool { return b.migration(id).Progress.LastError != nil })
			require.Equal(b.t, protocol.MigrationPreparing, b.migration(id).State)
		}},
		"active":               {time.Hour, provision.RetainForever, func(b *bench, id string) { b.becomes(id, protocol.MigrationActive) }},
		"draining":             {brief, provision.Retention(time.Hour), partlySealed},
		"draining, data gone":  {brief, provision.RetainNothing, partlySealed},
		"draining, data stays": {brief, provision.RetainForever, partlySealed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := regretful(t, 4, test.routing, test.retention)
			for _, m := range b.crew {
				m.skips = []int{3}
			}
			if name == "preparing" {
				b.lead.shards.fail(func(string) error { return errors.New("away") }, nil)
			}
			p := b.produce()
			b.await("records on all shards", func() bool { return p.sentTo(b.key(2)) > 0 && p.sentTo(b.key(3)) > 0 })
			id := b.scaled(2)
			test.until(b, id)
			require.True(t, b.migration(id).RollbackAllowed)
			require.NoError(t, b.rollback(id))
			b.lead.shards.fail(nil, nil) // not before: what goes on again may end before the order
			b.becomes(id, protocol.MigrationRolledBack)
			for _, m := range b.crew {
				m.skips = nil
			}
			before := p.sentTo(b.key(2))
			b.await("records on the shards that are back", func() bool { return p.sentTo(b.key(2)) > before })
			faults, sent := p.end()
			require.Empty(t, faults)
			require.Equal(t, 4, b.stream().ShardCount)
			for _, in := range []string{"a", "b"} {
				b.await("everything handled", func() bool { n, _ := b.handledBy(in); return n == sent })
			}
			b.settled()
			for index := range 4 {
				require.EqualValues(t, -1, b.rdb.TTL(t.Context(), b.key(index)).Val(), "shards do not run out")
			}
			requireCode(t, b.rollback(id), protocol.CodeRollbackNotAllowed)
		})
	}
}

// L8: what was published to the added shards is read before they are sealed.
func TestL8RollbackOfAScaleOutReadsWhatWasWrittenToTheAddedShards(t *testing.T) {
	t.Parallel()
	b := regretful(t, 2, brief, provision.Retention(time.Hour))
	b.crew[0].keeps = []int{0, 1}
	b.join("a", "a-2")
	b.await("a hand-over", func() bool { return !b.group("a").Settled() })
	p := b.produce()
	id := b.scaled(4)
	b.await("records on the added shards", func() bool { return p.sentTo(b.key(2)) > 0 && p.sentTo(b.key(3)) > 0 })
	require.Equal(t, protocol.MigrationActive, b.migration(id).State)
	require.NoError(t, b.rollback(id))
	b.await("routing returns", func() bool { return b.stream().ShardCount == 2 })
	shown := b.migration(id)
	require.Equal(t, protocol.MigrationRollingBack, shown.State)
	require.False(t, shown.RollbackAllowed)
	require.Equal(t, "regret", *shown.Reason)
	requireCode(t, b.rollback(id), protocol.CodeRollbackNotAllowed)
	b.crew[0].keeps = nil
	b.becomes(id, protocol.MigrationRolledBack)
	faults, sent := p.end()
	require.Empty(t, faults)
	for _, in := range []string{"a", "b"} {
		b.await("everything handled", func() bool { n, _ := b.handledBy(in); return n == sent })
	}
	for _, index := range []int{2, 3} {
		require.Equal(t, protocol.DrainSealed, b.drain(id, index).Phase)
		require.EqualValues(t, p.sent[b.key(index)], b.rdb.XLen(t.Context(), *b.drain(id, index).RetiredKey).Val())
	}
}

func TestL8FinishedAndForeignReshardingsAreNotRolledBack(t *testing.T) {
	t.Parallel()
	b := open(t, 2, "a")
	id := b.scaled(3)
	b.becomes(id, protocol.MigrationDeprecated)
	requireCode(t, b.rollback(id), protocol.CodeRollbackNotAllowed)
	other := &bench{t: t, rdb: b.rdb, prefix: "others", lead: b.lead}
	other.create(1, "a")
	requireCode(t, other.rollback(id), protocol.CodeMigrationNotFound)
	requireCode(t, b.rollback("unknown"), protocol.CodeMigrationNotFound)
	_, err := b.lead.service.Rollback(t.Context(), b.prefix, "nobody", id, protocol.RollbackRequest{})
	requireCode(t, err, protocol.CodeGroupNotFound)
	_, err = b.lead.service.Migration(t.Context(), "others", "a", id)
	requireCode(t, err, protocol.CodeMigrationNotFound)
}

// T22: whoever is first, all groups end on one side (L1, L8).
func TestL8RollbackThatMeetsTheEndIsDecidedByTheRecordAlone(t *testing.T) {
	t.Parallel()
	b := open(t, 1, "a", "b")
	second := b.start()
	count := 1
	for range 8 {
		id := b.scaled(count + 1)
		_, refused := second.service.Rollback(t.Context(), b.prefix, "b", id, protocol.RollbackRequest{RequestedBy: "ops"})
		want := protocol.MigrationRolledBack
		if refused != nil {
			requireCode(t, refused, protocol.CodeRollbackNotAllowed)
			want = protocol.MigrationDeprecated
			count++
		}
		b.becomes(id, want)
		b.settled()
		require.Equal(t, count, b.stream().ShardCount)
		for _, name := range []string{"a", "b"} {
			require.Equal(t, count, b.group(name).ShardCount)
			require.Len(t, b.group(name).Holds, count)
		}
	}
}

// T25, L2: a script of the way forward that comes late does nothing.
func TestL2LateScriptOfTheWayForwardDoesNothing(t *testing.T) {
	t.Parallel()
	b := open(t, 2, "a")
	b.publish(1, 1)
	id := b.scaled(1)
	b.keptFor(id, 1, protocol.DrainUnread)
	forward := provision.Token{Mark: b.stream().Resharding.Mark, ReshardingID: id, Phase: "forward"}
	b.join("a", "a-1").skips = []int{1}
	require.NoError(t, b.rollback(id))
	b.becomes(id, protocol.MigrationRolledBack)
	b.crew[0].skips = nil
	b.await("handled", func() bool { n, _ := b.handledBy("a"); return n == 1 })
	found, err := b.lead.shards.Seal(t.Context(), b.prefix, []int{1}, forward, []string{"a"}, provision.RetainForever, nil)
	require.NoError(t, err)
	require.True(t, found[0].Stale)
	_, err = b.lead.shards.Make(t.Context(), b.prefix, []int{1}, forward, []stream.Group{{Name: "late"}}, nil)
	require.ErrorIs(t, err, provision.ErrStale)
	b.publish(1, 1)
}
