package sdktest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/scriptcoord"
)

func TestConsumerReadsHandlesAndAcknowledges(t *testing.T) {
	t.Parallel()
	s := newStand(t, 2)
	s.publish(0, 0, 50)
	s.publish(1, 0, 50)
	s.coord.Assign("a", 0, 1)
	var book ledger
	a := s.run(subscription("a"), func(ctx context.Context, m *client.Message) error {
		require.Equal(t, stream, m.Stream)
		require.NotEmpty(t, m.Key)
		require.Len(t, m.Fields, 1, "the key is not repeated")
		require.Equal(t, int64(1), m.Deliveries)
		require.Positive(t, m.FenceToken)
		return book.acking(ctx, m)
	})
	eventually(t, func() bool { return book.count() == 100 }, "all are handled")
	require.Equal(t, upTo(50), book.numbers(0), "in the order of the shard")
	require.Equal(t, upTo(50), book.numbers(1))
	eventually(t, func() bool { return s.pending(0)+s.pending(1) == 0 }, "all are acknowledged")
	require.Equal(t, []int{0, 1}, a.owns())
	require.NoError(t, a.end())
	require.Equal(t, int64(100), a.Status().Counters.Handled)
	eventually(t, func() bool { return s.coord.Holder(0) == "" }, "the leave has released the shard")
}

func TestConsumerAcknowledgesAfterTheHandler(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	s.publish(0, 0, 250)
	s.coord.Assign("a", 0)
	sub := subscription("a")
	sub.AckMode = client.AckAfterHandler
	var book ledger
	a := s.run(sub, func(_ context.Context, m *client.Message) error {
		book.note(m)
		return nil
	})
	eventually(t, func() bool { return book.count() == 250 && s.pending(0) == 0 }, "all are acknowledged")
	require.NoError(t, a.end())
	require.Equal(t, int64(250), a.Status().Counters.Acked)
}

func TestHandOverMovesAShardWithoutLossOrDuplicates(t *testing.T) {
	t.Parallel()
	s := newStand(t, 2)
	s.coord.Assign("a", 0, 1)
	var bookA, bookB ledger
	a := s.run(subscription("a"), bookA.acking)
	b := s.run(subscription("b"), bookB.acking)
	s.publish(0, 0, 100)
	s.publish(1, 0, 100)
	eventually(t, func() bool { return bookA.count() > 20 }, "a reads")
	s.coord.Assign("b", 1)
	eventually(t, func() bool { return s.coord.Holder(1) == "b" }, "a has released")
	s.publish(1, 100, 200)
	eventually(t, func() bool { return bookA.count()+bookB.count() == 300 }, "all are handled once")
	require.Equal(t, upTo(100), bookA.numbers(0))
	require.Equal(t, upTo(200), append(bookA.numbers(1), bookB.numbers(1)...), "in order over the hand-over")
	require.Greater(t, bookB.all()[0].fence, bookA.all()[0].fence, "the token grows with the owner")
	require.Equal(t, []int{0}, a.owns())
	require.Equal(t, []int{1}, b.owns())

	revoked := s.coord.First("a", func(r scriptcoord.Request) bool { return len(r.RevokingShards) > 0 })
	require.NotNil(t, revoked)
	require.NoError(t, a.end())
	require.NoError(t, b.end())
	require.Zero(t, bookA.count()+bookB.count()-300, "nothing was handled twice")
}

func TestTakeOverAdoptsWhatFormerOwnersLeftPendingFirst(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	s.publish(0, 0, 230)
	s.leavePending(0, "dead", 120)
	s.leavePending(0, "a", 90)
	s.coord.Assign("a", 0)
	var book ledger
	s.run(subscription("a"), book.acking)
	eventually(t, func() bool { return s.pending(0) == 0 && book.count() == 230 }, "all are handled")
	require.Equal(t, upTo(230), book.numbers(0), "in id order, before new records")
	require.Equal(t, int64(2), book.all()[0].deliveries)
	require.Equal(t, int64(1), book.all()[229].deliveries)
}

func TestMembersOfOneConsumerAreNumbered(t *testing.T) {
	t.Parallel()
	s := newStand(t, 2)
	s.publish(0, 0, 10)
	s.publish(1, 0, 10)
	s.coord.Assign("pod-m0", 0)
	s.coord.Assign("pod-m1", 1)
	sub := subscription("pod")
	sub.Concurrency = 2
	var book ledger
	c := s.run(sub, book.acking)
	eventually(t, func() bool { return book.count() == 20 }, "both members read")
	require.ElementsMatch(t, []string{"pod-m0"}, s.consumers(0))
	require.ElementsMatch(t, []string{"pod-m1"}, s.consumers(1))
	require.NoError(t, c.end())
	for _, id := range []string{"pod-m0", "pod-m1"} {
		eventually(t, func() bool { return s.coord.Last(id).MemberEpoch == protocol.EpochLeave }, "each has left")
	}
}

// A read of a minute is out on an idle shard that moves.
func TestHandOverDoesNotWaitForAReadThatIsOut(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	s.coord.SetTiming(50*time.Millisecond, time.Minute)
	s.coord.Assign("a", 0)
	var book ledger
	var members []*running
	for _, id := range []string{"a", "b"} {
		sub := subscription(id)
		sub.PollTimeout, sub.ClientLease = time.Minute, time.Minute
		members = append(members, s.run(sub, book.acking))
	}
	eventually(t, func() bool { return s.blocked() == 1 }, "a waits for records")
	began := time.Now()
	s.coord.Assign("b", 0)
	eventually(t, func() bool { return s.coord.Holder(0) == "b" && s.blocked() == 1 }, "b waits for records")
	require.Less(t, time.Since(began), 30*time.Second)
	s.publish(0, 0, 10)
	eventually(t, func() bool { return book.count() == 10 && s.blocked() == 1 }, "nothing is stranded")
	began = time.Now()
	for _, one := range members {
		require.NoError(t, one.end())
	}
	require.Less(t, time.Since(began), 30*time.Second, "the end does not wait either")
}
