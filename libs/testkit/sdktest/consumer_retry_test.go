package sdktest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// failing returns a handler that fails for the records of the list and acknowledges others.
func failing(book *ledger, poison ...string) client.Handler {
	return func(ctx context.Context, m *client.Message) error {
		book.note(m)
		if slices.Contains(poison, m.ID) {
			return errHandler
		}
		return m.Ack(ctx)
	}
}

func TestFieldF11PoisonRecordDoesNotHoldBackOthersAndEndsAsADeadLetter(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	ids := s.publish(0, 0, 101)
	s.coord.Assign("a", 0)
	var book ledger
	sub := subscription("a")
	sub.Retry.MaxDeliveries = 4
	sub.Retry.DeadLetter = "dead-letters"
	a := s.run(sub, failing(&book, ids[0]))
	eventually(t, func() bool { return book.count() == 104 && s.pending(0) == 0 }, "all are settled")
	require.Equal(t, 4, book.times(0), "and the others were handled once")
	require.Equal(t, int64(4), a.Status().Counters.Failed)
	eventually(t, func() bool { return a.Status().Counters.DeadLettered == 1 }, "counted")

	letters, err := s.rdb.XRange(t.Context(), "dead-letters", "-", "+").Result()
	require.NoError(t, err)
	require.Len(t, letters, 1)
	require.Equal(t, map[string]any{
		"_stream": stream, "_group": group, "_shard": "0", "_id": ids[0], "_deliveries": "4",
		"_error": errHandler.Error(), client.KeyField: "k0", "n": "0",
	}, letters[0].Values)
}

// The count of deliveries is Redis' own: three consumers that see the record once each.
func TestFieldF11DeliveriesAreCountedOverRestarts(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	ids := s.publish(0, 0, 5)
	var book ledger
	sub := subscription("a")
	sub.Retry = client.Retry{
		MinBackoff: time.Hour, MaxDeliveries: 3,
		OnDeadLetter: func(_ context.Context, m *client.Message, cause error) error {
			require.Equal(t, ids[0], m.ID)
			require.ErrorIs(t, cause, errHandler)
			return nil
		},
	}
	for life := 1; life <= 3; life++ {
		s.coord.Assign("a", 0)
		a := s.run(sub, failing(&book, ids[0]))
		eventually(t, func() bool { return book.times(0) == life }, "delivered once in each life")
		eventually(t, func() bool { return s.pending(0) == int64(1-life/3) }, "until the third")
		require.NoError(t, a.end())
		require.Equal(t, int64(life/3), a.Status().Counters.DeadLettered)
	}
	require.Equal(t, 7, book.count())
}

// A record that kills its process leaves no error behind. Those behind it, which were
// delivered as often, are innocent and must be handled.
func TestFieldF11RecordThatKillsItsProcessIsFoundAndItsNeighboursAreNot(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	ids := s.publish(0, 0, 20)
	var (
		book ledger
		mu   sync.Mutex
		dead []string
	)
	sub := subscription("a")
	sub.DrainTimeout = 20 * time.Millisecond
	sub.Retry.MaxDeliveries = 3
	sub.Retry.OnDeadLetter = func(_ context.Context, m *client.Message, cause error) error {
		mu.Lock()
		defer mu.Unlock()
		dead = append(dead, m.ID)
		require.ErrorIs(t, cause, client.ErrTooManyDeliveries)
		return nil
	}
	killed := make(chan struct{})
	t.Cleanup(func() { close(killed) })
	for life := 1; life <= 3; life++ {
		s.coord.Assign("a", 0)
		a := s.run(sub, func(ctx context.Context, m *client.Message) error {
			if book.note(m); m.ID == ids[0] {
				<-killed // as good as dead: it never returns
			}
			return m.Ack(ctx)
		})
		eventually(t, func() bool { return book.times(0) == life }, "it is tried in each life")
		require.ErrorIs(t, a.end(), client.ErrNotDrained)
		s.coord.Forget("a")
	}
	s.coord.Assign("a", 0)
	s.run(sub, book.acking)
	eventually(t, func() bool { return s.pending(0) == 0 }, "all are settled")
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []string{ids[0]}, dead)
	for n := 1; n < 20; n++ {
		require.Equal(t, 1, book.times(n))
	}
}

func TestFieldF12OddRecordAmongTenIsReportedAndTheOthersAreHandled(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	s.publish(0, 0, 4)
	odd, err := s.rdb.Do(t.Context(), "XADD", key(0), "*", "\xff\x00", "\xfe{", "n", "NaN").Text()
	require.NoError(t, err)
	s.publish(0, 4, 9)
	s.leavePending(0, "dead", 10)
	s.coord.Assign("a", 0)
	var book ledger
	reported := make(chan string, 1)
	sub := subscription("a")
	sub.Retry.MaxDeliveries = 3
	sub.Retry.OnDeadLetter = func(_ context.Context, m *client.Message, cause error) error {
		require.ErrorContains(t, cause, "panicked: odd")
		reported <- m.ID
		return nil
	}
	a := s.run(sub, func(ctx context.Context, m *client.Message) error {
		if m.Fields["n"] == "NaN" {
			require.Equal(t, "\xfe{", m.Fields["\xff\x00"], "bytes arrive as they are")
			panic("odd")
		}
		return book.acking(ctx, m)
	})
	require.Equal(t, odd, <-reported)
	eventually(t, func() bool { return s.pending(0) == 0 }, "all are settled")
	require.Equal(t, upTo(9), book.numbers(0))
	require.Equal(t, int64(2), a.Status().Counters.Failed, "deliveries two and three")
}

func TestFailedRecordsAreRepeatedWithoutAPolicy(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	ids := s.publish(0, 0, 10)
	s.coord.Assign("a", 0)
	var book ledger
	s.run(subscription("a"), func(ctx context.Context, m *client.Message) error {
		book.note(m)
		if m.ID == ids[3] && m.Deliveries < 6 {
			return errHandler
		}
		return m.Ack(ctx)
	})
	eventually(t, func() bool { return s.pending(0) == 0 && book.count() == 15 }, "it succeeds in the end")
	require.Equal(t, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 3, 3, 3, 3, 3}, book.numbers(0))
}

func TestStrictOrderLetsNothingPassAFailedRecord(t *testing.T) {
	t.Parallel()
	for name, give := range map[string]func(m *client.Message) error{
		"by an error": func(*client.Message) error { return errHandler },
		"by Nack": func(m *client.Message) error {
			m.Nack(time.Millisecond)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t, 2)
			ids := s.publish(0, 0, 6)
			s.publish(1, 0, 6)
			s.coord.Assign("a", 0, 1)
			var book ledger
			sub := subscription("a")
			sub.StrictOrder = true
			s.run(sub, func(ctx context.Context, m *client.Message) error {
				book.note(m)
				if m.Shard == 0 && m.ID == ids[2] && m.Deliveries < 4 {
					return give(m)
				}
				return m.Ack(ctx)
			})
			eventually(t, func() bool { return s.pending(0)+s.pending(1) == 0 && book.count() == 15 }, "all are settled")
			require.Equal(t, []int{0, 1, 2, 2, 2, 2, 3, 4, 5}, book.numbers(0))
			require.Equal(t, upTo(6), book.numbers(1), "another shard is not held back")
		})
	}
}

func TestNackAfterTheHandlerHasReturnedDeliversAgain(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	s.publish(0, 0, 1)
	s.coord.Assign("a", 0)
	var book ledger
	held := make(chan *client.Message, 1)
	s.run(subscription("a"), func(ctx context.Context, m *client.Message) error {
		if book.note(m); m.Deliveries == 1 {
			held <- m
			return nil
		}
		return m.Ack(ctx)
	})
	m := <-held
	m.Nack(time.Millisecond)
	m.Nack(time.Millisecond)
	require.NoError(t, m.Ack(t.Context()), "the first decision stands")
	eventually(t, func() bool { return s.pending(0) == 0 }, "it is handled")
	require.Equal(t, 2, book.count())
}

// A hand-over in the middle of a batch leaves what was not handled as if it had not been
// delivered.
func TestHandingOverDoesNotBringRecordsNearerToTheirLimit(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	s.publish(0, 0, 50)
	var book ledger
	sub := subscription("a")
	for life := range 5 {
		s.coord.Assign("a", 0)
		a := s.run(sub, func(ctx context.Context, m *client.Message) error {
			require.Equal(t, int64(1), m.Deliveries)
			book.note(m)
			select {
			case <-ctx.Done():
			case <-time.After(2 * time.Millisecond):
			}
			return m.Ack(ctx)
		})
		eventually(t, func() bool { return book.count() >= 5*(life+1) }, "some are handled")
		require.NoError(t, a.end())
	}
	s.coord.Assign("a", 0)
	s.run(sub, func(ctx context.Context, m *client.Message) error {
		require.Equal(t, int64(1), m.Deliveries)
		return book.acking(ctx, m)
	})
	eventually(t, func() bool { return book.count() == 50 && s.pending(0) == 0 }, "all are handled")
	require.Equal(t, upTo(50), book.numbers(0))
}

func TestAckDelRemovesTheRecord(t *testing.T) {
	t.Parallel()
	for _, fenced := range []bool{false, true} {
		s := newStand(t, 1)
		s.publish(0, 0, 3)
		s.coord.Assign("a", 0)
		var book ledger
		sub := subscription("a")
		sub.FencedAcks = fenced
		a := s.run(sub, func(ctx context.Context, m *client.Message) error {
			book.note(m)
			return m.AckDel(ctx)
		})
		eventually(t, func() bool { return book.count() == 3 && s.pending(0) == 0 }, "all are acknowledged")
		require.Zero(t, s.rdb.XLen(t.Context(), key(0)).Val())
		require.NoError(t, a.end())
	}
}

func TestFencedAckLeavesARecordThatAnotherConsumerHas(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	ids := s.publish(0, 0, 2)
	s.coord.Assign("a", 0)
	sub := subscription("a")
	sub.FencedAcks = true
	results := make(chan error, 2)
	a := s.run(sub, func(ctx context.Context, m *client.Message) error {
		if m.ID == ids[0] {
			require.NoError(t, s.rdb.Do(ctx, "XCLAIM", key(0), group, "other", 0, m.ID).Err())
		}
		results <- m.Ack(ctx)
		return nil
	})
	require.ErrorIs(t, <-results, client.ErrNotOwner)
	require.NoError(t, <-results)
	require.Equal(t, int64(1), s.pending(0))
	require.NoError(t, a.end())
	require.Equal(t, int64(1), a.Status().Counters.AckFailed)
}

// The application acknowledges after the shard has been handed over: the record is its next
// owner's.
func TestAcknowledgementAfterTheHandOverIsRefused(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	s.publish(0, 0, 1)
	s.coord.Assign("a", 0)
	held := make(chan *client.Message, 1)
	s.run(subscription("a"), func(_ context.Context, m *client.Message) error {
		held <- m
		return nil
	})
	m := <-held
	var book ledger
	working := make(chan struct{})
	t.Cleanup(func() { close(working) })
	s.coord.Assign("b", 0)
	s.run(subscription("b"), func(_ context.Context, m *client.Message) error {
		book.note(m)
		<-working
		return nil
	})
	eventually(t, func() bool { return book.count() == 1 }, "the next owner has it")
	require.ErrorIs(t, m.Ack(t.Context()), client.ErrNotOwner)
	require.Equal(t, int64(1), s.pending(0))
}

func TestFailedRecordKeepsItsCountOverAHandOver(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	s.publish(0, 0, 3)
	var book ledger
	sub := subscription("a")
	sub.StrictOrder = true
	sub.Retry.MinBackoff = time.Hour
	for life := int64(1); life <= 3; life++ {
		s.coord.Assign("a", 0)
		a := s.run(sub, func(_ context.Context, m *client.Message) error {
			require.Equal(t, life, m.Deliveries)
			book.note(m)
			return errHandler
		})
		eventually(t, func() bool { return book.count() == int(life) }, "the first fails")
		require.NoError(t, a.end())
	}
	require.Equal(t, []int{0, 0, 0}, book.numbers(0))
	s.coord.Assign("a", 0)
	s.run(sub, func(ctx context.Context, m *client.Message) error {
		require.Equal(t, m.Fields["n"] == "0", m.Deliveries == 4, "the others have been delivered once")
		return book.acking(ctx, m)
	})
	eventually(t, func() bool { return s.pending(0) == 0 && book.count() == 6 }, "all are handled")
}

func TestDeadLetterThatNobodyTakesIsTriedAgain(t *testing.T) {
	t.Parallel()
	for _, strict := range []bool{false, true} {
		s := newStand(t, 1)
		s.publish(0, 0, 1)
		require.NoError(t, s.rdb.Set(t.Context(), "dead-letters", "another type", 0).Err())
		s.coord.Assign("a", 0)
		var book ledger
		sub := subscription("a")
		sub.StrictOrder = strict
		sub.Retry.MaxDeliveries = 1
		sub.Retry.DeadLetter = "dead-letters"
		a := s.run(sub, failing(&book, firstID(s)))
		eventually(t, func() bool { return book.count() == 1 && s.pending(0) == 1 }, "it fails")
		eventually(t, func() bool { return s.calls("xadd") >= 4 }, "handing it over is tried again")
		eventually(t, func() bool { return len(s.coord.Last("a").ShardProgress) == 1 }, "heartbeats go on")
		require.Empty(t, s.coord.Last("a").ShardProgress[0].Error, "the shard itself is well")
		require.NoError(t, s.rdb.Del(t.Context(), "dead-letters").Err())
		eventually(t, func() bool { return s.pending(0) == 0 }, "until it works")
		require.Equal(t, 1, book.count())
		require.NoError(t, a.end())
	}
}

func firstID(s *stand) string {
	records, err := s.rdb.XRangeN(s.t.Context(), key(0), "-", "+", 1).Result()
	require.NoError(s.t, err)
	return records[0].ID
}
