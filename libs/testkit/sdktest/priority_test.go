package sdktest

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/scriptcoord"
)

// holding is a handler that keeps the records of one shard in hand until open is closed.
func (l *ledger) holding(shard int, open <-chan struct{}) client.Handler {
	return func(ctx context.Context, m *client.Message) error {
		l.note(m)
		if m.Shard == shard {
			<-open
		}
		return m.Ack(ctx)
	}
}

// revoking returns the shards that the consumer gives back.
func (r *running) revoking() []int {
	var shards []int
	for _, member := range r.Status().Members {
		for _, shard := range member.Shards {
			if shard.Revoking {
				shards = append(shards, shard.Index)
			}
		}
	}
	return shards
}

// Priority flow: the drain was delivered, then nobody answers. The consumer ends what it has
// in hand, reads no more of the shard although it is within its lease, and reports REVOKED
// to whoever answers next.
func TestPriorityConsumerKeepsRevokingWhileTheCoordinatorIsAway(t *testing.T) {
	t.Parallel()
	s := newStand(t, 2)
	s.coord.SetTiming(50*time.Millisecond, time.Minute)
	s.coord.Assign("a", 0, 1)
	open := make(chan struct{})
	var book, taken ledger
	sub := subscription("a")
	sub.ClientLease = time.Minute
	a := s.run(sub, book.holding(0, open))
	eventually(t, func() bool { return len(a.owns()) == 2 }, "it owns both")
	s.publish(0, 0, 1)
	eventually(t, func() bool { return book.count() == 1 }, "a record is in hand")
	b := s.run(subscription("b"), taken.acking)
	s.coord.Assign("b", 0)
	s.coord.Assign("a", 1)
	eventually(t, func() bool { return slices.Equal(a.revoking(), []int{0}) }, "the drain was delivered")
	draining := func(r scriptcoord.Request) bool {
		return len(r.RevokingShards) == 1 && r.RevokingShards[0].State == protocol.Draining && r.RevokingShards[0].InFlight == 1
	}
	eventually(t, func() bool { return draining(s.coord.Last("a")) }, "and it says that it drains")

	s.coord.SetDown(true)
	s.publish(0, 1, 4)
	close(open)
	asked := len(s.coord.Requests("a"))
	s.publish(1, 10, 11)
	eventually(t, func() bool { return book.times(10) == 1 && len(s.coord.Requests("a")) >= asked+5 }, "the other shard goes on")
	require.Equal(t, []int{0}, book.numbers(0), "nothing more of the drained shard was begun")
	require.Equal(t, []int{1}, a.owns())
	require.Positive(t, a.Status().Members[0].LeaseLeft, "its lease was no reason")
	require.Zero(t, taken.count())
	require.Equal(t, "a", s.coord.Holder(0), "nobody could hear that it is done")

	s.coord.SetDown(false)
	eventually(t, func() bool { return taken.count() == 3 }, "the next answer hands it over")
	require.Equal(t, []int{0}, book.numbers(0))
	require.Equal(t, []int{1, 2, 3}, taken.numbers(0))
	require.Equal(t, []int{0}, b.owns())
	require.Zero(t, a.Status().Counters.Lapses)
}

// Priority flow: SYNC_METADATA takes shard 1 away and names shard 2. The consumer keeps what
// is still assigned, drains the rest, and starts nothing before OK (A3, M4).
func TestPrioritySynchronisedConsumerDrainsAndStartsNothingBeforeOK(t *testing.T) {
	t.Parallel()
	const lineage, version = "L2", 7
	s := newStand(t, 3)
	s.coord.Assign("a", 0, 1)
	open := make(chan struct{})
	var book ledger
	sub := subscription("a")
	sub.Workers = 2
	a := s.run(sub, book.holding(1, open))
	eventually(t, func() bool { return len(a.owns()) == 2 }, "it owns both")
	s.publish(1, 0, 1)
	eventually(t, func() bool { return book.count() == 1 }, "a record is in hand")

	var let atomic.Bool // the round is over
	s.coord.SetHook(func(request *protocol.HeartbeatRequest, answer *protocol.HeartbeatResponse) int {
		answer.Lineage, answer.MetadataVersion = lineage, version
		answer.Assignment.AssignedShards = []protocol.ShardID{{ShardIndex: 0}, {ShardIndex: 2}}
		switch {
		case request.Lineage != lineage || request.MetadataVersion != version:
			answer.Status = protocol.StatusSyncMetadata
		case !let.Load():
			answer.Status = protocol.StatusRevokePending
		}
		return 0
	})
	s.coord.Assign("a", 0, 2)
	reports := func(state protocol.RevokingState) func(scriptcoord.Request) bool {
		return func(r scriptcoord.Request) bool {
			return r.Lineage == lineage && r.MetadataVersion == version && len(r.RevokingShards) == 1 &&
				r.RevokingShards[0].Shard.ShardIndex == 1 && r.RevokingShards[0].State == state &&
				r.Answer.Status == protocol.StatusRevokePending
		}
	}
	eventually(t, func() bool { return s.coord.First("a", reports(protocol.Draining)) != nil }, "it drains under the new version")
	s.publish(0, 10, 12)
	s.publish(1, 1, 2)
	s.publish(2, 20, 22)
	eventually(t, func() bool { return len(book.numbers(0)) == 2 }, "it goes on with what it keeps")

	close(open)
	eventually(t, func() bool { return s.coord.First("a", reports(protocol.Revoked)) != nil }, "it reports that it is done")
	s.publish(0, 12, 13)
	eventually(t, func() bool { return len(book.numbers(0)) == 3 }, "and reads on")
	require.Equal(t, []int{0}, book.numbers(1), "no more of what was taken away")
	require.Empty(t, book.numbers(2), "nothing of what is new")
	require.Equal(t, []int{0}, a.owns())

	let.Store(true)
	eventually(t, func() bool { return len(book.numbers(2)) == 2 }, "OK lets it start")
	require.Equal(t, []int{0, 2}, a.owns())
	require.Equal(t, []int{0}, book.numbers(1))
	require.Zero(t, a.Status().Counters.Lapses)
}
