package e2e_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// Protocol L12, field case F14: a group that is made again goes on where it was, as far as
// that is on record; what it had handled does not come again.
func TestFieldF14AGroupMadeAgainGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	const records = 1_000
	d := startDrainage(t, 1)
	r := d.read("r")
	d.stable(1)
	ids := d.add(0, records)
	d.eventually(func() bool { return r.did(0, ids...) && d.idle(group, 0) }, "all are handled")
	d.eventually(func() bool {
		members, err := d.admin.Members(t.Context(), stream, group)
		require.NoError(t, err)
		progress := members[0].ShardProgress
		return len(progress) == 1 && progress[0].LastAckedID != nil && *progress[0].LastAckedID == ids[records-1]
	}, "it has reported that")
	require.NoError(t, d.rdb.XGroupDestroy(t.Context(), routing.StreamKey(stream, 0), group).Err())
	d.eventually(func() bool {
		groups, err := d.rdb.XInfoGroups(t.Context(), routing.StreamKey(stream, 0)).Result()
		require.NoError(t, err)
		return len(groups) == 1
	}, "the group is made again")
	more := d.add(0, 20)
	d.eventually(func() bool { return r.did(0, more...) }, "reading goes on")
	require.Zero(t, r.repeats(0))
	count, told := d.causes()
	require.Positive(t, count[protocol.EventReprovision], told)
}

// Protocol L12: ids of a new key may be below those of the lost one, for example after a
// failover to a server whose clock is behind. What is added then is not passed over.
func TestNothingIsPassedOverWhenIdsStartAgainBelowThoseOfALostShard(t *testing.T) {
	t.Parallel()
	d := startDrainage(t, 1)
	r := d.read("r")
	d.stable(1)
	key := routing.StreamKey(stream, 0)
	ahead := fmt.Sprintf("%d-0", time.Now().Add(time.Hour).UnixMilli())
	require.NoError(t, d.rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: key, ID: ahead, Values: []any{"n", 0}}).Err())
	d.eventually(func() bool {
		members, err := d.admin.Members(t.Context(), stream, group)
		require.NoError(t, err)
		progress := members[0].ShardProgress
		return len(progress) == 1 && progress[0].LastAckedID != nil && *progress[0].LastAckedID == ahead
	}, "the record is handled, and the coordinator knows")
	require.NoError(t, d.rdb.Del(t.Context(), key).Err())
	d.eventually(func() bool { return d.rdb.Exists(t.Context(), key).Val() == 1 }, "the shard is made again")
	ids := d.add(0, 10)
	d.eventually(func() bool { return r.did(0, ids...) }, "what is added afterwards is read")
}

// Protocol L4, L12: a removed shard that is lost is not taken for an empty one. It is made
// again, though nobody reads who could tell, and what is left of it is read before its seal.
func TestRemovedShardsThatAreLostAreMadeAgainBeforeTheirSeal(t *testing.T) {
	t.Parallel()
	const (
		whole     = iota + 1 // nothing is lost
		groupless            // the group is lost, the records are there
		keyless              // all is lost
		count
	)
	d := startDrainage(t, count)
	entries := map[int][]string{}
	for index := whole; index < count; index++ {
		entries[index] = d.add(index, 5)
	}
	id := d.scale(1)
	d.until(id, func(l looked) bool { return l.State == protocol.MigrationActive }, "routing has changed")
	require.NoError(t, d.rdb.XGroupDestroy(t.Context(), routing.StreamKey(stream, groupless), group).Err())
	require.NoError(t, d.rdb.Del(t.Context(), routing.StreamKey(stream, keyless)).Err())

	last := d.until(id, func(l looked) bool {
		return l.kept()[whole] == "UNREAD" && l.kept()[groupless] == "UNREAD" && l.kept()[keyless] == "SEALED"
	}, "what is made again is read from its beginning")
	require.Equal(t, protocol.MigrationDraining, last.State)
	d.requireUnconfirmable(id, whole, groupless)
	causes, told := d.causes()
	require.Positive(t, causes[protocol.EventReprovision], told)

	reader := d.read("r")
	end := d.over(id, protocol.MigrationDeprecated)
	require.Len(t, end.Progress.Shards, count-1)
	require.True(t, reader.did(whole, entries[whole]...) && reader.did(groupless, entries[groupless]...), "all are read")
	d.requireSealed(id, indexRange(1, count)...)
}
