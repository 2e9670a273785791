package reshard_test

import (
	"testing"

	"github.com/stretchr/testify/require"
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
