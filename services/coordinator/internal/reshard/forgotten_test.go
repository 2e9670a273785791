package reshard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// The records of the stream and of its group are both put back behind a finished scale-out,
// as a backup does it: nobody that is asked knows of the added shards, and they hold records
// that were acknowledged. They are found by their markers (L1).
func TestL1ShardsThatEveryRecordForgotAreReadAgain(t *testing.T) {
	t.Parallel()
	b := alert(t, 2, "a")
	m := b.join("a", "a-1")
	b.settled()
	putBack, putBackGroup := b.save(b.recordKey()), b.save(b.groupKey("a"))
	id := b.scaled(4)
	b.becomes(id, "DEPRECATED")
	m.skips = []int{2, 3}
	b.publish(2, 3)
	b.publish(3, 2)
	before, _ := b.handledBy("a")
	putBack()
	putBackGroup()
	m.skips = nil
	b.await("the forgotten records are handled", func() bool { n, _ := b.handledBy("a"); return n == before+5 })
	b.converges(4)
	require.Equal(t, 4, b.stream().ShardCount)
}

// Between the loss and the first look an operator orders a scale-in below what was forgotten:
// it waits until the forgotten shards are known (L1).
func TestL1OrderWaitsForShardsThatTheRecordForgot(t *testing.T) {
	t.Parallel()
	b := newBench(t, redisproc.Start(t).Client(t))
	first := b.still()
	b.lead = first
	b.create(2, "a")
	putBack, putBackGroup := b.save(b.recordKey()), b.save(b.groupKey("a"))
	id := b.scaled(3)
	first.driver.Start()
	b.await("producers are told", func() bool { return b.migration(id).State == protocol.MigrationDeprecated })
	require.NoError(t, first.driver.Close(t.Context()))
	b.publish(2, 3)
	putBack()
	putBackGroup()

	b.lead = b.still()
	_, err := b.scale(1)
	requireCode(t, err, protocol.CodeMetadataSyncInProgress)
	b.lead.driver.Start()
	m := b.join("a", "a-1")
	b.await("the order is taken", func() bool { id, err = b.scale(1); return err == nil })
	b.becomes(id, protocol.MigrationDeprecated)
	n, _ := b.handledBy("a")
	require.Equal(t, 3, n)
	require.Equal(t, []int{0}, m.owned)
}

// The same behind the order of a scale-out that producers have been told of, and then it is
// rolled back: the added shards are not given up while they hold records (L8).
func TestL8RollbackDoesNotForgetRecordsOfShardsThatTheRecordForgot(t *testing.T) {
	t.Parallel()
	b := newBench(t, redisproc.Start(t).Client(t))
	first := b.still()
	b.lead = first
	b.create(2, "a")
	id := b.scaled(4)
	putBack, putBackGroup := b.save(b.recordKey()), b.save(b.groupKey("a"))
	first.driver.Start()
	b.await("producers are told", func() bool { return b.stream().ShardCount == 4 })
	require.NoError(t, first.driver.Close(t.Context()))
	b.publish(2, 3)
	putBack()
	putBackGroup()

	b.lead = b.still() // one that has seen nothing of it
	require.NoError(t, b.rollback(id))
	b.lead.driver.Start()
	b.join("a", "a-1")
	b.becomes(id, protocol.MigrationRolledBack)
	n, _ := b.handledBy("a")
	require.Equal(t, 3, n)
	require.Equal(t, 2, b.stream().ShardCount)
	require.Equal(t, "string", b.rdb.Type(t.Context(), b.key(2)).Val(), "sealed")
}
