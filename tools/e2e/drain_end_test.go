package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// Protocol L3, L4: what is removed is not sealed while nobody has read it, however long
// that takes, and it says why.
func TestAScaleInWithoutAConsumerWaitsUnreadUntilOneComes(t *testing.T) {
	t.Parallel()
	const records = 3_000
	d := startDrainage(t, 4)
	d.publish(records).wait()
	id := d.scale(1)
	unread := map[int]protocol.DrainReason{1: protocol.DrainUnread, 2: protocol.DrainUnread, 3: protocol.DrainUnread}
	waits := func(l looked) bool { return l.is(unread) }
	last := d.until(id, waits, "every removed shard is UNREAD")
	d.stays(id, 2*time.Second, waits, "nobody reads, so nothing ends")

	for index, one := range last.drains() {
		require.Positive(t, *one.Lag, "shard %d", index)
		require.Zero(t, *one.Pending)
		require.Equal(t, group, *one.BlockingGroup)
		require.NotNil(t, one.TailID)
		require.Empty(t, one.Owners)
	}
	require.True(t, last.RollbackAllowed)
	target := 2
	_, err := d.admin.Scale(t.Context(), stream, protocol.ScaleRequest{TargetShardCount: &target, RequestedBy: "e2e", Reason: "test"})
	requireCode(t, err, http.StatusConflict, protocol.CodeActiveMigrationExists)
	_, err = d.admin.CreateGroup(t.Context(), stream, "another", protocol.CreateGroupRequest{RequestedBy: "e2e"})
	requireCode(t, err, http.StatusConflict, protocol.CodeActiveMigrationExists)
	_, err = d.admin.DeleteGroup(t.Context(), stream, group, protocol.DeleteRequest{RequestedBy: "e2e", Reason: "test"})
	requireCode(t, err, http.StatusConflict, protocol.CodeActiveMigrationExists)

	consumer := d.consume("c1")
	d.over(id, protocol.MigrationDeprecated)
	d.requireSealed(id, 1, 2, 3)
	d.requireShards(1, 4)
	r := d.finish(records, []string{"c1"}, []*process{consumer})
	t.Logf("%d handled, %d duplicates", r.Handled, r.Duplicates.Total)
	require.Zero(t, r.Duplicates.Total, "nobody died and nothing went wrong")
}

// Protocol L7: consumers that died give nothing back. When their leases have run out, the
// drain ends by what Redis says alone.
func TestConsumersThatDiedAfterTheBacklogDoNotKeepADrain(t *testing.T) {
	t.Parallel()
	const records, from, to = 3_000, 6, 2
	s := startSuite(t, drainTiming("--coordination-member-lease-ttl", "12s", "--coordination-client-lease", "9600ms",
		"--coordination-rebalance-timeout", "30s")...) // leases outlast the routing lease
	d := &drainage{suite: s, rdb: s.connect()}
	d.create(stream, from)
	names := []string{"c1", "c2", "c3"}
	var consumers []*process
	for _, name := range names {
		consumers = append(consumers, d.consume(name))
	}
	d.stable(len(names))
	d.publish(records).wait()
	d.handleAll(records, names)
	d.eventually(func() bool { return d.idle(group, indexRange(0, from)...) }, "everything is acknowledged")

	id := d.scale(to)
	for _, one := range consumers {
		one.kill()
	}
	members, err := d.admin.Members(t.Context(), stream, group)
	require.NoError(t, err)
	require.Len(t, members, len(names))
	free := map[string]time.Time{}
	for _, one := range members {
		free[one.MemberID] = one.MemberLeaseExpiresAt.Time
	}
	owners := d.owners()
	owned := d.until(id, func(l looked) bool {
		for _, reason := range l.kept() {
			if reason != string(protocol.DrainStillOwned) {
				return false
			}
		}
		return l.State == protocol.MigrationDraining
	}, "all removed shards are empty, and the dead still own them")
	for index, one := range owned.drains() {
		require.Equal(t, []protocol.ShardOwner{{ConsumerGroup: group, MemberID: owners[index]}}, one.Owners)
	}

	last := d.over(id, protocol.MigrationDeprecated)
	for index, one := range last.drains() {
		require.False(t, one.Since.Before(free[owners[index]]), "shard %d is sealed before the lease of %s is over", index, owners[index])
		require.LessOrEqual(t, one.Since.Sub(free[owners[index]]), 2*sceneLease, "nothing else is waited for")
	}
	d.requireSealed(id, indexRange(to, from)...)
	d.requireShards(to, from)
	d.eventually(func() bool { // also of one that owned none of the removed shards
		count, _ := d.causes()
		return count[protocol.EventExpire] >= len(names)
	}, "all have expired")
	count, told := d.causes()
	require.Zero(t, d.givenBack(last.CreatedAt.Time), "nobody is left to give anything back: %s", told)
	require.Equal(t, len(names), count[protocol.EventExpire], told)
	require.Zero(t, count[protocol.EventFenceTimeout], told)
	t.Logf("flight recorder: %s", told)
}

// Protocol L4: what dead consumers had in hand was not handled. It keeps the drain, which
// names them, until somebody takes it over.
func TestRecordsInTheHandsOfTheDeadKeepADrain(t *testing.T) {
	t.Parallel()
	const records, from, to = 800, 4, 1
	s := startSuite(t, drainTiming(sceneTiming()...)...)
	d := &drainage{suite: s, rdb: s.connect()}
	d.create(stream, from)
	dead := []*process{d.consume("c1", "--work", "20ms", "--batch", "1000"), d.consume("c2", "--work", "20ms", "--batch", "1000")}
	d.stable(len(dead))
	d.publish(records, "--publish-batch", "800").wait()
	removed := indexRange(to, from)
	d.eventually(func() bool { return d.handled("c1", "c2") > records/20 && d.delivered(removed...) }, "all are delivered, some are handled")
	for _, one := range dead {
		one.kill()
	}
	id := d.scale(to)
	waits := func(l looked) bool {
		return l.is(map[int]protocol.DrainReason{1: protocol.DrainPending, 2: protocol.DrainPending, 3: protocol.DrainPending})
	}
	last := d.until(id, waits, "what they had in hand is pending")
	for index, one := range last.drains() {
		require.Contains(t, []string{"c1", "c2"}, *one.BlockingConsumer, "shard %d", index)
		require.Positive(t, *one.Pending)
	}
	d.eventually(func() bool {
		count, _ := d.causes()
		return count[protocol.EventExpire] == len(dead)
	}, "their leases are over")
	d.stays(id, time.Second, waits, "that changes nothing")
	d.requireUnconfirmable(id, removed...)

	heir := d.consume("heir")
	d.over(id, protocol.MigrationDeprecated)
	d.requireSealed(id, removed...)
	d.handleAll(records, []string{"c1", "c2", "heir"})
	heir.release()
	proof := prove(d.allLedgers())
	require.Zero(t, proof.lost)
	t.Logf("%d handled, %d begun twice", proof.handled, proof.handlings-proof.handled)
}

// delivered tells whether nothing on the shards is left to be given to the group.
func (d *drainage) delivered(indexes ...int) bool {
	d.t.Helper()
	for _, index := range indexes {
		groups, err := d.rdb.XInfoGroups(d.t.Context(), routing.StreamKey(stream, index)).Result()
		require.NoError(d.t, err)
		if groups[0].Lag != 0 || groups[0].Pending == 0 {
			return false
		}
	}
	return true
}

// givenBack counts the shards that members gave back by a report since then.
func (d *drainage) givenBack(since time.Time) int {
	d.t.Helper()
	page, err := d.admin.Events(d.t.Context(), stream, group, "", protocol.MaxEvents)
	require.NoError(d.t, err)
	count := 0
	for _, event := range page.Events {
		for _, change := range event.Changes {
			if change.Cause == protocol.EventRelease && change.RequestID != "" && event.At.After(since) {
				count += change.Shards
			}
		}
	}
	return count
}
