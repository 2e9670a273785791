package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// Protocol L4, L12, V3: a shard key that holds something else is nobody's to overwrite, so
// its shard waits for an operator. The others are made again, read and sealed.
func TestAShardKeyThatHoldsSomethingElseStopsNoOtherShard(t *testing.T) {
	t.Parallel()
	const (
		whole     = iota + 1 // nothing is lost
		groupless            // the group is lost, the records are there
		replaced             // the key holds something else
		count
	)
	d := startDrainage(t, count)
	entries := map[int][]string{}
	for index := whole; index < count; index++ {
		entries[index] = d.add(index, 5)
	}
	id := d.scale(1)
	d.until(id, func(l looked) bool { return l.State == protocol.MigrationActive }, "routing has changed")
	foreign := routing.StreamKey(stream, replaced)
	require.NoError(t, d.rdb.XGroupDestroy(t.Context(), routing.StreamKey(stream, groupless), group).Err())
	require.NoError(t, d.rdb.Set(t.Context(), foreign, "something else", 0).Err())

	reader := d.read("r")
	last := d.until(id, func(l looked) bool {
		return l.kept()[whole] == "SEALED" && l.kept()[groupless] == "SEALED" && l.Progress.LastError != nil
	}, "the others are sealed")
	require.True(t, reader.did(whole, entries[whole]...) && reader.did(groupless, entries[groupless]...), "all are read")
	t.Logf("%v, stopped by %s", last.kept(), stringOf(last.Progress.LastError))
	require.Equal(t, string(protocol.DrainStreamMissing), last.kept()[replaced])
	require.Equal(t, "something else", d.rdb.Get(t.Context(), foreign).Val(), "nobody's data is overwritten")
	d.requireUnconfirmable(id, replaced)
	require.NoError(t, d.rdb.Del(t.Context(), foreign).Err())
	d.over(id, protocol.MigrationDeprecated)
	d.requireSealed(id, indexRange(1, count)...)
}

// Protocol L5, V3: what is in the way of one seal is not overwritten, and stops no other.
func TestDataInTheWayOfOneSealStopsNoOther(t *testing.T) {
	t.Parallel()
	d := startDrainage(t, 3)
	ids := d.add(2, 1)
	reader := d.read("r", 2)
	d.eventually(func() bool { return reader.has(2, ids[0]) }, "the record is in hand")
	id := d.scale(1)
	foreign := retiredKey(1, id)
	require.NoError(t, d.rdb.Set(t.Context(), foreign, "something else", 0).Err())
	stopped := d.until(id, func(l looked) bool { return l.Progress.LastError != nil }, "what is in the way is told")
	t.Logf("%v, stopped by %s", stopped.kept(), stringOf(stopped.Progress.LastError))
	require.Equal(t, protocol.DrainClosing, stopped.drains()[1].Phase)
	reader.letGo(2)
	d.until(id, func(l looked) bool { return l.kept()[2] == "SEALED" }, "the other shard is sealed")
	require.Equal(t, "something else", d.rdb.Get(t.Context(), foreign).Val())
	require.NoError(t, d.rdb.Del(t.Context(), foreign).Err())
	d.over(id, protocol.MigrationDeprecated)
	d.requireSealed(id, 1, 2)
}
