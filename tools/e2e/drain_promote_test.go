package e2e_test

import (
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// Protocol L4, L9, M1, M3, field case F05: replicas do not know how many entries groups
// have read. When one takes over during a drain, shards whose lag is unknown then wait, and
// nothing is sealed on what the former master said, or behind a barrier.
func TestFieldF05ADrainOutlivesThePromotionOfAReplica(t *testing.T) {
	t.Parallel()
	const (
		readOn  = iota + 1 // half read, and read to its end afterwards
		deleted            // half read, and what was not read is deleted afterwards
		done               // read to its end before, with a record in hand
		count
	)
	master, replica := redisproc.Start(t), redisproc.Start(t)
	replica.Follow(t, master)
	between := startProxy(t, master.Addr())
	host, port, err := net.SplitHostPort(between.address())
	require.NoError(t, err)
	s := newSuite(t, "redis://"+between.address()+"/0", append(drainTiming(sceneTiming()...), "--redis-host", host, "--redis-port", port))
	d := &drainage{suite: s, rdb: s.connect()}
	d.create(stream, count)
	ids := map[int][]string{readOn: d.add(readOn, 4), deleted: d.add(deleted, 4), done: d.add(done, 2)}

	reader := d.read("r", readOn, deleted, done)
	for index := range ids {
		reader.letGo(index)
	}
	for _, index := range []int{readOn, deleted} { // the second is in hand
		d.eventually(func() bool { return reader.has(index, ids[index][1]) }, "the half is read")
	}
	d.eventually(func() bool { return reader.has(done, ids[done][1]) }, "the last record is in hand")
	id := d.scale(1)
	before := d.until(id, func(l looked) bool {
		return l.is(map[int]protocol.DrainReason{readOn: protocol.DrainUnread, deleted: protocol.DrainUnread, done: protocol.DrainPending})
	}, "none of them is empty")
	require.NotNil(t, before.drains()[readOn].Lag)
	require.EqualValues(t, 2, *before.drains()[readOn].Lag)
	lineage := d.lineage()

	promoted := replica.Client(t)
	last := d.rdb.XInfoGroups(t.Context(), routing.StreamKey(stream, readOn)).Val()[0].LastDeliveredID
	d.eventually(func() bool {
		return promoted.XInfoGroups(t.Context(), routing.StreamKey(stream, readOn)).Val()[0].LastDeliveredID == last
	},
		"the replica has what was read")
	turned := time.Now()
	replica.Promote(t)
	between.turn(replica.Addr())
	master.Kill()
	var after looked
	d.eventually(func() bool {
		seen, err := d.admin.Migration(t.Context(), stream, group, id)
		if err != nil {
			return false // the coordinator finds the new master
		}
		after = looked{*seen}
		return after.kept()[readOn] == string(protocol.DrainUnread) && after.drains()[readOn].Pending != nil && d.lineage() != lineage
	}, "the coordinator has seen that another Redis has taken over")
	require.Nil(t, after.drains()[readOn].Lag, "nobody knows how many entries were read")
	require.NoError(t, promoted.XDel(t.Context(), routing.StreamKey(stream, deleted), ids[deleted][2:]...).Err())
	reader.open()

	waits := func(l looked) bool {
		kept := l.kept()
		return l.State == protocol.MigrationDraining && kept[readOn] == "SEALED" && kept[done] == "SEALED" && kept[deleted] == "LAG_UNKNOWN"
	}
	sealed := d.until(id, waits, "what was read to its end is sealed")
	d.stays(id, 2*time.Second, waits, "the other waits to be confirmed")
	for _, index := range []int{readOn, done} {
		require.Equal(t, protocol.ProofLag, *sealed.drains()[index].Proof)
		require.Greater(t, sealed.drains()[index].Since.Sub(turned), sceneLease-grain, "not behind the barrier")
	}
	require.NoError(t, d.confirm(id, deleted))
	end := d.over(id, protocol.MigrationDeprecated)
	require.Equal(t, protocol.ProofConfirmed, *end.drains()[deleted].Proof)
	require.True(t, reader.did(readOn, ids[readOn]...) && reader.did(done, ids[done]...) && reader.did(deleted, ids[deleted][:2]...))
	d.requireSealedOn(promoted, id, indexRange(1, count)...)
	identity, told := d.causes()
	require.Equal(t, 1, identity[protocol.EventCorrection], "one round for one failover: %s", told)
	t.Logf("flight recorder: %s", told)
}

func (d *drainage) lineage() string {
	view, err := d.admin.Group(d.t.Context(), stream, group)
	if err != nil {
		return ""
	}
	return view.Lineage
}

// requireSealedOn is requireSealed on a certain server.
func (d *drainage) requireSealedOn(rdb redis.UniversalClient, id string, indexes ...int) {
	d.t.Helper()
	(&drainage{suite: d.suite, rdb: rdb}).requireSealed(id, indexes...)
}
