package e2e_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestPriorityNewCoordinatorResumesARebalanceOfOneThatWasKilled(t *testing.T) {
	t.Parallel()
	d := startDraining(t)
	d.coordinator.kill()
	d.startCoordinator()
	after, err := d.admin.Group(t.Context(), stream, group)
	require.NoError(t, err)
	require.Equal(t, d.group, after, "what it knows is what was recorded")
	before := d.heard()
	d.eventually(func() bool { return d.heard().After(before) }, "a has reported to the new one")
	require.ElementsMatch(t, d.moved, d.told())
	require.Zero(t, d.b.count(d.moved...))
	for _, shard := range d.moved {
		d.add(shard)
	}
	require.Equal(t, len(d.moved), d.givingBack())
	d.letGo()
	d.finish()
}

func TestPriorityConsumerKeepsRevokingWhileTheCoordinatorIsDead(t *testing.T) {
	t.Parallel()
	d := startDraining(t)
	d.coordinator.kill()
	killed := time.Now()
	for shard := range shards {
		d.add(shard)
	}
	d.letGo()
	kept := shards - len(d.moved)
	d.eventually(func() bool { return d.a.Status().Counters.Acked == int64(shards+kept) }, "a ends what it has and goes on with what it keeps")
	require.Equal(t, len(d.moved), d.a.count(d.moved...), "it resumes none that it was told to drop")
	require.Len(t, slices.DeleteFunc(d.a.Status().Members[0].Shards, func(one client.ShardStatus) bool { return one.Revoking }),
		kept, "it reads none that it was told to drop")
	require.Zero(t, d.b.count(d.moved...), "and b reads none on its own")
	d.startCoordinator()
	require.Less(t, time.Since(killed), awayLease, "the coordinator was away for longer than a client lease: the test shows nothing")
	d.finish()
}

// The owner dies with a record in hand while it drains.
func TestPriorityOwnerThatDiesWhileItDrainsIsFollowedByTheNew(t *testing.T) {
	t.Parallel()
	const records = 40
	s := startSuite(t)
	s.createStream()
	old := s.consume("a", "--work", "20s", "--batch", "1")
	s.stable(1)
	s.publish(records).wait()
	s.eventually(func() bool { return len(of("start", s.ledger("a"))) > 0 }, "a record is in hand")
	inHand := of("start", s.ledger("a"))[0]
	joined := s.consume("b")
	s.eventually(func() bool { return len(s.told()) > 0 }, "a was told to drop some")
	old.kill()
	members, err := s.admin.Members(t.Context(), stream, group)
	require.NoError(t, err)
	at := slices.IndexFunc(members, func(m protocol.MemberMetadata) bool { return m.MemberID == "a" })
	require.GreaterOrEqual(t, at, 0)
	free := members[at].MemberLeaseExpiresAt.Time
	s.eventually(func() bool { return s.handled("b") == records }, "the new owner handles all")
	for _, one := range of("start", s.ledger("b")) {
		if one.Shard == inHand.Shard {
			require.False(t, one.at().Before(free.Add(-grain)), "not before the lease of a was over (H3b)")
		}
	}
	require.Len(t, s.owners(), shards)
	joined.release()
}
