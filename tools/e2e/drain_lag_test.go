package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// Shards of a stream on which Redis tells the lag wrongly or not at all.
const (
	plainShard   = iota + 1 // nothing is wrong
	unknownShard            // the last unread entry is deleted: no lag (field case F04)
	trimmedShard            // trimmed past the group: a lag of nothing (field case F02)
	claimedShard            // ENTRIESREAD given by hand: lag 0 in front of entries (field case F03)
	guestShard              // another Redis group reads it
	deletedShard            // entries deleted on both sides of the cursor (field case F01)
	endOfLying
)

// Protocol L4, L9, field cases F01–F04: a lag that cannot be believed proves nothing, an
// operator's word ends it, and that is taken only where nothing is unread or pending.
func TestADrainWithALagThatLiesWaitsForAnOperator(t *testing.T) {
	t.Parallel()
	d := startDrainage(t, endOfLying)
	d.create("others", 1)
	entries := d.lie()
	id := d.scale(1)
	unread := map[int]protocol.DrainReason{}
	for index := plainShard; index < endOfLying; index++ {
		unread[index] = protocol.DrainUnread
	}
	last := d.until(id, func(l looked) bool { return l.is(unread) }, "all are unread")
	require.Nil(t, last.drains()[claimedShard].Lag, "lag 0 in front of entries is unknown (F03)")
	require.Nil(t, last.drains()[deletedShard].Lag, "more lag than entries is unknown (F01)")
	require.EqualValues(t, 5, *last.drains()[plainShard].Lag)
	d.requireUnconfirmable(id, plainShard, unknownShard, trimmedShard, claimedShard, guestShard, deletedShard)
	d.requireUnconfirmable(id, 0, endOfLying, protocol.DefaultMaxShards)
	d.requireUnknownTo("others", id)

	reader := d.read("r", unknownShard, trimmedShard)
	d.settleGuest(id)
	d.loseLag(id, reader, entries)
	stuck := map[int]string{
		plainShard: "SEALED", unknownShard: "LAG_UNKNOWN", trimmedShard: "LAG_CONTRADICTS_TAIL",
		claimedShard: "LAG_UNKNOWN", guestShard: "SEALED",
	}
	waits := func(l looked) bool {
		for index, kept := range stuck {
			if l.kept()[index] != kept {
				return false
			}
		}
		return l.State == protocol.MigrationDraining
	}
	last = d.until(id, waits, "what can be proven is sealed, what cannot says why")
	d.stays(id, 2*time.Second, waits, "nothing changes by itself")
	t.Logf("stuck: %v", last.kept())
	require.Nil(t, last.drains()[unknownShard].Lag)
	require.EqualValues(t, 3, *last.drains()[trimmedShard].Lag)
	d.requireUnconfirmable(id, plainShard)

	for index := range last.kept() {
		if last.kept()[index] != "SEALED" {
			require.Zero(t, *last.drains()[index].Pending)
			require.NoError(t, d.confirm(id, index))
		}
	}
	end := d.over(id, protocol.MigrationDeprecated)
	for _, index := range []int{unknownShard, trimmedShard, claimedShard} {
		require.Equal(t, protocol.ProofConfirmed, *end.drains()[index].Proof)
	}
	require.Equal(t, protocol.ProofLag, *end.drains()[plainShard].Proof)
	d.requireSealed(id, indexRange(1, endOfLying)...)
	d.requireUnconfirmable(id, unknownShard)
	_, err := d.admin.Rollback(t.Context(), stream, group, id, protocol.RollbackRequest{RequestedBy: "e2e", Reason: "test"})
	requireCode(t, err, http.StatusUnprocessableEntity, protocol.CodeRollbackNotAllowed)
	for index, ids := range entries {
		for _, at := range ids {
			require.True(t, reader.did(index, at), "record %s of shard %d was handled", at, index)
		}
	}
}

// lie fills the shards, and returns by shard the entries that are to be handled.
func (d *drainage) lie() map[int][]string {
	d.t.Helper()
	ctx := d.t.Context()
	entries := map[int][]string{plainShard: d.add(plainShard, 5), unknownShard: d.add(unknownShard, 3), guestShard: d.add(guestShard, 2)}
	d.add(trimmedShard, 5)
	entries[claimedShard] = d.add(claimedShard, 5)
	claimed := []any{"XGROUP", "SETID", routing.StreamKey(stream, claimedShard), group, "0", "ENTRIESREAD", 5}
	require.NoError(d.t, d.rdb.Do(ctx, claimed...).Err())
	require.NoError(d.t, d.rdb.XGroupCreate(ctx, routing.StreamKey(stream, guestShard), "guests", "0").Err())
	d.guestReads(1)

	deleted := routing.StreamKey(stream, deletedShard)
	read := d.add(deletedShard, 2)
	require.NoError(d.t, d.rdb.XReadGroup(ctx, &redis.XReadGroupArgs{
		Group: group, Consumer: "before", Streams: []string{deleted, ">"}, Count: 2, Block: -1,
	}).Err())
	require.EqualValues(d.t, 2, d.rdb.XAck(ctx, deleted, group, read...).Val())
	more := d.add(deletedShard, 2)
	require.EqualValues(d.t, 3, d.rdb.XDel(ctx, deleted, read[0], read[1], more[0]).Val())
	entries[deletedShard] = more[1:]
	return entries
}

// guestReads has the other group read entries of its shard without acknowledging them.
func (d *drainage) guestReads(count int64) {
	d.t.Helper()
	read, err := d.rdb.XReadGroup(d.t.Context(), &redis.XReadGroupArgs{
		Group: "guests", Consumer: "nobody", Streams: []string{routing.StreamKey(stream, guestShard), ">"}, Count: count, Block: -1,
	}).Result()
	require.NoError(d.t, err)
	require.Len(d.t, read[0].Messages, int(count))
}

// settleGuest has the other Redis group finish: it counts as those of the stream do.
func (d *drainage) settleGuest(id string) {
	d.t.Helper()
	waits := func(reason protocol.DrainReason) {
		d.t.Helper()
		last := d.until(id, func(l looked) bool {
			one := l.drains()[guestShard]
			return one.BlockingGroup != nil && *one.BlockingGroup == "guests" && l.kept()[guestShard] == string(reason) &&
				(reason != protocol.DrainPending || *one.Pending == 2) // the reader has none any more
		}, "the other group is waited for")
		if reason == protocol.DrainPending {
			require.Equal(d.t, "nobody", *last.drains()[guestShard].BlockingConsumer)
		}
		d.requireUnconfirmable(id, guestShard)
	}
	waits(protocol.DrainUnread)
	d.guestReads(1)
	waits(protocol.DrainPending)
	key := routing.StreamKey(stream, guestShard)
	pending, err := d.rdb.XPendingExt(d.t.Context(), &redis.XPendingExtArgs{Stream: key, Group: "guests", Start: "-", End: "+", Count: 9}).Result()
	require.NoError(d.t, err)
	for _, one := range pending {
		require.NoError(d.t, d.rdb.XAck(d.t.Context(), key, "guests", one.ID).Err())
	}
}

// loseLag makes Redis lose the lag of two shards while the reader has a record of each in
// hand, and lets it read them to their ends.
func (d *drainage) loseLag(id string, reader *shardReader, entries map[int][]string) {
	d.t.Helper()
	ctx, ids := d.t.Context(), entries[unknownShard]
	reader.letGo(unknownShard)
	reader.letGo(unknownShard)
	d.eventually(func() bool { return reader.has(unknownShard, ids[2]) }, "its last record is in hand")
	last := d.until(id, func(l looked) bool { return l.kept()[unknownShard] == string(protocol.DrainPending) }, "it is pending")
	require.Equal(d.t, "r", *last.drains()[unknownShard].BlockingConsumer)
	d.requireUnconfirmable(id, unknownShard)
	_, err := d.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error { // nobody sees the entry
		p.XAdd(ctx, &redis.XAddArgs{Stream: routing.StreamKey(stream, unknownShard), ID: "99999999999999-1", Values: []any{"n", 1}})
		p.XDel(ctx, routing.StreamKey(stream, unknownShard), "99999999999999-1")
		return nil
	})
	require.NoError(d.t, err)
	d.requireUnconfirmable(id, unknownShard)
	reader.letGo(unknownShard)

	trimmed := routing.StreamKey(stream, trimmedShard)
	left, err := d.rdb.XRange(ctx, trimmed, "-", "+").Result()
	require.NoError(d.t, err)
	d.eventually(func() bool { return reader.has(trimmedShard, left[0].ID) }, "its first record is in hand")
	require.EqualValues(d.t, 4, d.rdb.XTrimMaxLen(ctx, trimmed, 1).Val())
	reader.letGo(trimmedShard)
	reader.letGo(trimmedShard)
	entries[trimmedShard] = []string{left[0].ID, left[4].ID}
}

// requireUnconfirmable looks whether an operator's word is refused for shards (protocol L9).
func (d *drainage) requireUnconfirmable(id string, indexes ...int) {
	d.t.Helper()
	for _, index := range indexes {
		requireCode(d.t, d.confirm(id, index), http.StatusUnprocessableEntity, protocol.CodeDrainNotConfirmable)
	}
}

// requireUnknownTo looks whether another stream knows nothing of a resharding.
func (d *drainage) requireUnknownTo(other, id string) {
	d.t.Helper()
	ctx, index := d.t.Context(), 0
	_, err := d.admin.Migration(ctx, other, group, id)
	requireCode(d.t, err, http.StatusNotFound, protocol.CodeMigrationNotFound)
	_, err = d.admin.Rollback(ctx, other, group, id, protocol.RollbackRequest{RequestedBy: "e2e", Reason: "test"})
	requireCode(d.t, err, http.StatusNotFound, protocol.CodeMigrationNotFound)
	_, err = d.admin.PlanRollback(ctx, other, group, id, protocol.RollbackRequest{RequestedBy: "e2e", Reason: "test"})
	requireCode(d.t, err, http.StatusNotFound, protocol.CodeMigrationNotFound)
	_, err = d.admin.ConfirmDrain(ctx, other, group, id, protocol.ConfirmDrainRequest{ShardIndex: &index, RequestedBy: "e2e", Reason: "test"})
	requireCode(d.t, err, http.StatusNotFound, protocol.CodeMigrationNotFound)
}
