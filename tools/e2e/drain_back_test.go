package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// stubborn is a member that gives nothing back and reads nothing: while it is there, its
// group is not at rest, and a scale-out is not over.
type stubborn struct {
	*guest
	owned []protocol.ShardID
}

// startStubborn has it join and own all shards.
func (d *drainage) startStubborn() *stubborn {
	d.t.Helper()
	g := &stubborn{guest: d.guest(1)}
	g.beat()
	g.beat()
	g.owned = g.request.OwnedShards
	require.NotEmpty(d.t, g.owned)
	return g
}

// insist reports once more what it owns.
func (g *stubborn) insist() {
	g.suite.t.Helper()
	g.request.OwnedShards = g.owned
	g.beat()
}

// leave ends it.
func (g *stubborn) leave() {
	g.suite.t.Helper()
	g.request.MemberEpoch, g.request.OwnedShards = protocol.EpochLeave, nil
	g.beat()
}

// while waits for something that needs the stubborn member to be alive.
func (g *stubborn) while(condition func() bool, what string) {
	g.suite.t.Helper()
	g.suite.eventually(func() bool {
		g.insist()
		return condition()
	}, what)
}

// Protocol L8: what was written to added shards while a scale-out was under way is read
// before they are sealed again. Nothing of it is orphaned.
func TestWhatWasWrittenToAddedShardsOutlivesTheRollbackOfTheirScaleOut(t *testing.T) {
	t.Parallel()
	const records, from, to = 3_000, 2, 5
	s := startSuite(t, drainTiming()...) // in which nobody is fenced for being stubborn
	d := &drainage{suite: s, rdb: s.connect()}
	d.create(stream, from)
	guest := d.startStubborn()
	consumer := d.consume("c1")
	guest.while(func() bool {
		members, err := d.admin.Members(t.Context(), stream, group)
		require.NoError(t, err)
		return len(members) == 2
	}, "the consumer has joined")

	id := d.scale(to)
	guest.while(func() bool { return d.look(id).State == protocol.MigrationActive }, "the added shards are in use")
	d.requireShards(to, to)
	publisher := d.publish(records)
	guest.while(publisher.ended, "records are published")
	publisher.wait()
	unread := 0
	for index := from; index < to; index++ {
		if !d.idle(group, index) {
			unread++
		}
	}
	require.Positive(t, unread, "something on the added shards is not handled")
	require.Equal(t, protocol.MigrationActive, d.look(id).State)

	guest.insist()
	d.rollBack(id)
	guest.while(func() bool {
		routes, err := d.admin.Routing(t.Context(), stream, group)
		require.NoError(t, err)
		return routes.ShardCount == from
	}, "producers are sent back")
	guest.while(func() bool {
		l := d.look(id)
		require.Equal(t, protocol.MigrationRollingBack, l.State, "%v", l.kept())
		waiting := 0
		for index := from; index < to; index++ {
			if l.kept()[index] == string(protocol.DrainUnread) {
				waiting++
			}
		}
		return waiting > 0
	}, "added shards wait to be read")
	require.False(t, d.look(id).RollbackAllowed)
	guest.leave()
	last := d.over(id, protocol.MigrationRolledBack)
	require.Len(t, last.Progress.Shards, to-from)
	d.requireSealed(id, indexRange(from, to)...)
	d.requireShards(from, to)

	r := d.finish(records, []string{"c1"}, []*process{consumer})
	written := 0
	for _, one := range of("ack", d.ledger("publisher")) {
		if one.Shard >= from {
			written++
		}
	}
	require.Positive(t, written)
	t.Logf("%d handled, %d of them from added shards, %d duplicates", r.Handled, written, r.Duplicates.Total)
	require.Zero(t, r.Duplicates.Total)
}
