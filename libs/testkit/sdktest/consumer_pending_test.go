package sdktest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Servers before 7.0 answer a claim of a trimmed record with nil, or with a nil body, and
// keep it pending.
func TestFieldF06NilBodiesOfAnOldServerAreAcknowledgedAndCounted(t *testing.T) {
	t.Parallel()
	for name, entry := range map[string]func(id string) string{
		"nil entry": func(string) string { return "$-1\r\n" },
		"nil body":  func(id string) string { return "*2\r\n$" + strconv.Itoa(len(id)) + "\r\n" + id + "\r\n*-1\r\n" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t, 1)
			id := s.publish(0, 0, 1)[0]
			s.leavePending(0, "dead", 1)
			require.NoError(t, s.rdb.XDel(t.Context(), key(0), id).Err())
			var claims atomic.Int64
			tap := &wiretap{answer: func(command string) string {
				if !strings.HasPrefix(command, "xclaim") {
					return ""
				}
				claims.Add(1)
				return "*1\r\n" + entry(id)
			}}
			rdb := tap.client(s.redis.Addr())
			t.Cleanup(func() { _ = rdb.Close() })
			s.coord.Assign("a", 0)
			var book ledger
			sub := subscription("a")
			sub.SweepInterval = 20 * time.Millisecond
			a := s.runOn(s.newClient(rdb), sub, book.acking)
			eventually(t, func() bool { return s.pending(0) == 0 }, "the entry is acknowledged")
			s.publish(0, 1, 2)
			eventually(t, func() bool { return book.count() == 1 }, "and the shard is read")
			require.Equal(t, []int{1}, book.numbers(0), "the handler never saw the lost one")
			require.Equal(t, int64(1), a.Status().Counters.LostByTrim)
			require.Equal(t, int64(1), claims.Load())
		})
	}
}

func TestFieldF07EntryWithoutBodyIsAcknowledgedOnceAndNotClaimedForEver(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	ids := s.publish(0, 0, 3)
	s.leavePending(0, "dead", 3)
	require.NoError(t, s.rdb.XDel(t.Context(), key(0), ids[1]).Err())
	s.coord.Assign("a", 0)
	var book ledger
	sub := subscription("a")
	sub.SweepInterval = 20 * time.Millisecond
	a := s.run(sub, book.acking)
	eventually(t, func() bool { return s.pending(0) == 0 && book.count() == 2 }, "nothing stays pending")
	require.Equal(t, []int{0, 2}, book.numbers(0))
	require.Equal(t, int64(1), a.Status().Counters.LostByTrim)
}

// A claim that another consumer made just now has reset the idle time; the loss is seen all
// the same, in the first reply.
func TestFieldF08LostEntryIsSeenThoughItsIdleTimeWasReset(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	ids := s.publish(0, 0, 2)
	s.leavePending(0, "dead", 2)
	err := s.rdb.XClaim(t.Context(), &redis.XClaimArgs{
		Stream: key(0), Group: group, Consumer: "other", Messages: ids,
	}).Err()
	require.NoError(t, err)
	require.NoError(t, s.rdb.XDel(t.Context(), key(0), ids[0]).Err())
	s.coord.Assign("a", 0)
	var book ledger
	a := s.run(subscription("a"), book.acking)
	eventually(t, func() bool { return a.Status().Counters.LostByTrim == 1 }, "the loss is counted")
	eventually(t, func() bool { return s.pending(0) == 0 && book.count() == 1 }, "the other is handled")
}

func TestFieldF09FormerConsumersGoOnlyWhenNothingOfThemIsPending(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	s.publish(0, 0, 110)
	s.leavePending(0, "dead", 110)
	require.NoError(t, s.rdb.XGroupCreateConsumer(t.Context(), key(0), group, "idle").Err())
	s.coord.Assign("a", 0)
	var book ledger
	first := make(chan struct{})
	sub := subscription("a")
	sub.FormerConsumerIdle = time.Millisecond
	s.run(sub, func(ctx context.Context, m *client.Message) error {
		if book.note(m); book.count() == 1 {
			<-first
		}
		return m.Ack(ctx)
	})
	eventually(t, func() bool { return book.count() == 1 }, "the first is in its handler")
	require.Equal(t, []string{"a", "dead", "idle"}, s.consumers(0), "ten are still pending for the dead one")
	close(first)
	eventually(t, func() bool { return book.count() == 110 && s.pending(0) == 0 }, "all are handled")
	require.Equal(t, upTo(110), book.numbers(0))
	eventually(t, func() bool { return slices.Equal(s.consumers(0), []string{"a"}) }, "then the names go")
}

// A former owner's late read arrives when the names are about to be removed.
func TestFieldF09NameWithSomethingPendingStays(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	require.NoError(t, s.rdb.XGroupCreateConsumer(t.Context(), key(0), group, "late").Err())
	var once sync.Once
	tap := &wiretap{seen: func(command string) {
		if strings.HasPrefix(command, "eval") {
			once.Do(func() {
				s.publish(0, 0, 1)
				s.leavePending(0, "late", 1)
			})
		}
	}}
	rdb := tap.client(s.redis.Addr())
	t.Cleanup(func() { _ = rdb.Close() })
	s.coord.Assign("a", 0)
	var book ledger
	sub := subscription("a")
	sub.FormerConsumerIdle = time.Nanosecond
	sub.SweepInterval = 100 * time.Millisecond
	s.runOn(s.newClient(rdb), sub, book.acking)
	eventually(t, func() bool { return book.count() == 1 }, "its record is handled, not thrown away")
	eventually(t, func() bool { return slices.Equal(s.consumers(0), []string{"a"}) }, "then the name goes")
}

func TestFieldF09ConsumersThatWereActiveLatelyKeepTheirName(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	require.NoError(t, s.rdb.XGroupCreateConsumer(t.Context(), key(0), group, "lately").Err())
	s.publish(0, 0, 1)
	s.coord.Assign("a", 0)
	var book ledger
	s.run(subscription("a"), book.acking)
	eventually(t, func() bool { return book.count() == 1 }, "adoption is over")
	require.Equal(t, []string{"a", "lately"}, s.consumers(0))
}

func TestFieldF10RecordThatTheApplicationHoldsIsNotClaimedAgain(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	s.publish(0, 0, 20)
	s.coord.Assign("a", 0)
	var book ledger
	held := make(chan *client.Message, 21)
	sub := subscription("a")
	sub.SweepInterval = 10 * time.Millisecond
	s.run(sub, func(_ context.Context, m *client.Message) error {
		book.note(m)
		held <- m // acknowledged later, by somebody else
		return nil
	})
	eventually(t, func() bool { return book.count() == 20 }, "all are handed out")
	s.publish(0, 20, 21)
	eventually(t, func() bool { return book.times(20) == 1 }, "the shard goes on")
	sweeps := s.calls("xpending")
	eventually(t, func() bool { return s.calls("xpending") > sweeps+10 }, "the recovery runs ten times")
	require.Equal(t, upTo(21), book.numbers(0), "each handler ran once")
	for range 21 {
		require.NoError(t, (<-held).Ack(t.Context()))
	}
	require.Zero(t, s.pending(0))
}

// The member is fenced while its handler is stuck and gets the shard back: the record in the
// handler is left alone until the handler is done.
func TestFieldF10StuckHandlerOfAnEarlierGrantKeepsItsRecord(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	s.publish(0, 0, 3)
	s.coord.Assign("a", 0)
	var book ledger
	stuck, late := make(chan struct{}), make(chan error, 1)
	sub := subscription("a")
	sub.Workers = 2
	sub.DrainTimeout = 50 * time.Millisecond
	sub.SweepInterval = 20 * time.Millisecond
	s.run(sub, func(ctx context.Context, m *client.Message) error {
		if book.note(m); book.times(0) == 1 && m.Fields["n"] == "0" {
			<-stuck
			late <- m.Ack(ctx)
			return nil
		}
		return m.Ack(ctx)
	})
	eventually(t, func() bool { return book.count() == 1 }, "the first is in its handler")
	s.coord.Forget("a")
	eventually(t, func() bool { return book.count() == 3 }, "the new grant reads on")
	sweeps := s.calls("xpending")
	eventually(t, func() bool { return s.calls("xpending") > sweeps+5 }, "the recovery runs")
	require.Equal(t, 1, book.times(0), "the record in the handler was not taken")
	entries, err := s.rdb.XPendingExt(t.Context(), &redis.XPendingExtArgs{Stream: key(0), Group: group, Start: "-", End: "+", Count: 9}).Result()
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, int64(1), entries[0].RetryCount, "nor claimed")
	close(stuck)
	refusal := <-late
	require.True(t, errors.Is(refusal, context.Canceled) || errors.Is(refusal, client.ErrNotOwner), "%v", refusal)
	eventually(t, func() bool { return s.pending(0) == 0 }, "then it is delivered again")
	require.Equal(t, 2, book.times(0))
}

func TestFieldF24TrimmedEntriesLeaveThePendingList(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	s.publish(0, 0, 5)
	s.leavePending(0, "a", 5)
	require.NoError(t, s.rdb.XTrimMaxLen(t.Context(), key(0), 0).Err())
	require.Equal(t, int64(5), s.pending(0))
	s.coord.Assign("a", 0)
	var book ledger
	a := s.run(subscription("a"), book.acking)
	eventually(t, func() bool { return a.Status().Counters.LostByTrim == 5 }, "the loss is counted")
	require.Zero(t, s.pending(0), "a drain proof can pass")
	require.Zero(t, book.count())
}

// The record is trimmed between its failure and its next try.
func TestFieldF24RecordTrimmedBetweenTwoTriesIsLostOnce(t *testing.T) {
	t.Parallel()
	for _, strict := range []bool{false, true} {
		s := newStand(t, 1)
		id := s.publish(0, 0, 1)[0]
		s.coord.Assign("a", 0)
		var book ledger
		sub := subscription("a")
		sub.StrictOrder = strict
		a := s.run(sub, func(ctx context.Context, m *client.Message) error {
			book.note(m)
			s.rdb.XDel(ctx, key(0), id)
			return errHandler
		})
		eventually(t, func() bool { return a.Status().Counters.LostByTrim == 1 }, "the loss is counted")
		require.Zero(t, s.pending(0))
		require.Equal(t, 1, book.count())
		require.NoError(t, a.end())
	}
}

func TestProgressGoesWithHeartbeats(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	ids := s.publish(0, 0, 3)
	s.coord.Assign("a", 0)
	var book ledger
	s.run(subscription("a"), func(ctx context.Context, m *client.Message) error {
		if book.note(m); m.ID == ids[2] {
			return nil // left pending
		}
		return m.Ack(ctx)
	})
	eventually(t, func() bool {
		progress := s.coord.Last("a").ShardProgress
		return len(progress) == 1 && progress[0].PendingCount == 1 && sameID(progress[0].LastAckedID, ids[1])
	}, "pending and acked are reported")
	progress := s.coord.Last("a").ShardProgress[0]
	require.Equal(t, protocol.ShardID{ShardIndex: 0}, progress.Shard)
	require.Equal(t, key(0), progress.StreamKey)
	require.True(t, sameID(progress.LastDeliveredID, ids[2]))
	require.Empty(t, progress.Error)
}

func sameID(got *string, want string) bool { return got != nil && *got == want }
