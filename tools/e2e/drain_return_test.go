package e2e_test

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// Protocol L8: a scale-in that is undone while some shards are sealed and others are not.
// Sealed ones come back with what they held, and take and give records again.
func TestSealedShardsComeBackWhenTheirScaleInIsUndone(t *testing.T) {
	t.Parallel()
	for _, retention := range []string{"1h", "0s"} {
		t.Run("retention "+retention, func(t *testing.T) {
			t.Parallel()
			s := startSuite(t, drainTiming("--coordination-drain-retention", retention)...)
			d := &drainage{suite: s, rdb: s.connect()}
			d.create(stream, 5)
			undo(d, retention != "0s")
		})
	}
}

// The same with shards on all nodes of a cluster.
func TestADrainAndItsRollbackOnACluster(t *testing.T) {
	t.Parallel()
	addresses := strings.Join(redisproc.StartCluster(t, 3).Addrs(), ",")
	s := newSuite(t, "redis+cluster://"+addresses, drainTiming("--redis-cluster=true", "--redis-addresses", addresses))
	d := &drainage{suite: s, rdb: s.connect()}
	d.create(stream, 5)
	undo(d, true)
}

// undo takes 5 shards to 1, has two sealed of which one held records, and rolls that back
// while a third is read and a fourth waits for a record in hand.
func undo(d *drainage, kept bool) {
	t := d.t
	t.Helper()
	handled := map[int][]string{1: d.add(1, 3), 3: d.add(3, 3), 4: d.add(4, 3)} // nothing on 2
	reader := d.read("r", 3, 4)
	d.eventually(func() bool {
		return reader.did(1, handled[1]...) && reader.has(3, handled[3][0]) && reader.has(4, handled[4][0])
	}, "the first shard is done, of the others a record each is in hand")
	d.stable(1)
	id := d.scale(1)
	last := d.until(id, func(l looked) bool {
		kept := l.kept()
		return kept[1] == "SEALED" && kept[2] == "SEALED" && kept[3] == "UNREAD" && kept[4] == "UNREAD"
	}, "two are sealed")
	require.True(t, last.RollbackAllowed)
	d.rollBack(id)
	end := d.until(id, func(l looked) bool { return l.State == protocol.MigrationRolledBack }, "it is rolled back")
	require.False(t, end.RollbackAllowed)
	d.requireShards(5, 5)
	require.Zero(t, d.rdb.Exists(t.Context(), retiredKey(1, id)).Val())
	for index := 1; index < 5; index++ {
		entries := d.rdb.XRange(t.Context(), routing.StreamKey(stream, index), "-", "+").Val()
		want := len(handled[index])
		if index == 1 && !kept {
			want = 0
		}
		require.Len(t, entries, want, "shard %d", index)
		require.Negative(t, d.rdb.PTTL(t.Context(), routing.StreamKey(stream, index)).Val(), "it does not run out")
	}
	reader.open()
	for index := 1; index < 5; index++ {
		more := d.add(index, 3)
		d.eventually(func() bool { return reader.did(index, handled[index]...) && reader.did(index, more...) }, "all shards are read again")
		require.Zero(t, reader.repeats(index), "shard %d goes on where it was", index)
	}
	d.stable(1)

	again := d.scale(1) // a later one does not know of the former's shards
	d.over(again, protocol.MigrationDeprecated)
	for index := 1; index < 5; index++ {
		key := routing.StreamKey(stream, index)
		require.Equal(t, "retired:"+again, d.rdb.Get(t.Context(), key).Val())
		err := d.rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: key, Values: []any{"late", 1}}).Err()
		require.ErrorContains(t, err, "WRONGTYPE")
	}
}
