package sdktest

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/scriptcoord"
)

// Each round stops the consumer while a read is out and adds a record at once.
func TestFieldF25NoHandlerStartsAfterRunHasReturned(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	var (
		book ledger
		over atomic.Bool
		late atomic.Int64
	)
	for round := range 30 {
		over.Store(false)
		s.coord.Assign("a", 0)
		a := s.run(subscription("a"), func(ctx context.Context, m *client.Message) error {
			if over.Load() {
				late.Add(1)
			}
			return book.acking(ctx, m)
		})
		eventually(t, func() bool { return s.blocked() == 1 }, "a read is out")
		added := make(chan struct{})
		go func() {
			defer close(added)
			s.publish(0, round, round+1)
		}()
		require.NoError(t, a.end())
		over.Store(true)
		<-added
	}
	require.Zero(t, late.Load())
	s.coord.Assign("b", 0)
	s.run(subscription("b"), book.acking)
	eventually(t, func() bool { return book.count() == 30 && s.pending(0) == 0 }, "nothing is lost")
	require.Equal(t, upTo(30), book.numbers(0))
}

// The shard moves to and fro while records come; nobody starts a handler after the report
// that says REVOKED.
func TestFieldF25NoHandlerStartsAfterRevokedWasReported(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	var books [2]ledger
	ids := []string{"a", "b"}
	for at, id := range ids {
		s.run(subscription(id), books[at].acking)
	}
	n := 0
	for move := range 20 {
		owner := ids[move%2]
		s.coord.Assign(owner, 0)
		s.publish(0, n, n+5)
		n += 5
		eventually(t, func() bool { return s.coord.Holder(0) == owner }, "the shard moves")
		s.publish(0, n, n+5)
		n += 5
	}
	eventually(t, func() bool { return books[0].count()+books[1].count() == n && s.pending(0) == 0 }, "all are handled once")
	for at, id := range ids {
		for _, span := range reading(s.coord.Requests(id)) {
			for _, one := range books[at].all() {
				require.False(t, one.at.After(span.until) && one.at.Before(span.next), "handled while not owned: %v", one)
			}
		}
	}
}

// gap is a time in which a member had reported the shard as released and was not granted it.
type gap struct{ until, next time.Time }

func reading(requests []scriptcoord.Request) []gap {
	var gaps []gap
	for at, request := range requests {
		released := len(request.RevokingShards) == 1 && request.RevokingShards[0].State == protocol.Revoked
		if !released || len(request.Answer.Assignment.AssignedShards) > 0 {
			continue
		}
		one := gap{until: request.At, next: time.Now()}
		for _, later := range requests[at:] {
			if len(later.Answer.Assignment.AssignedShards) > 0 {
				one.next = later.At
				break
			}
		}
		gaps = append(gaps, one)
	}
	return gaps
}

// The member has a full batch in hand when it loses its shards, in each of the ways there are.
func TestFieldF29BufferedRecordsAreDroppedWhenTheMemberIsOut(t *testing.T) {
	t.Parallel()
	answerWith := func(status protocol.HeartbeatStatus) func(*stand) {
		return func(s *stand) {
			s.coord.SetHook(func(_ *protocol.HeartbeatRequest, answer *protocol.HeartbeatResponse) int {
				answer.Status = status
				answer.Assignment.AssignedShards = nil
				return 0
			})
		}
	}
	for name, expel := range map[string]func(*stand){
		"unknown member":   answerWith(protocol.StatusUnknownMemberID),
		"fenced":           answerWith(protocol.StatusFencedMemberEpoch),
		"lease runs out":   func(s *stand) { s.coord.SetDown(true) },
		"errors only":      func(s *stand) { s.coord.SetHook(refuse) },
		"only RETRY comes": answerWith(protocol.StatusRetry),
		"INVALID_REQUEST":  answerWith(protocol.StatusInvalidRequest),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t, 1)
			s.publish(0, 0, 500)
			s.coord.SetTiming(50*time.Millisecond, shortLease)
			s.coord.Assign("a", 0)
			var book ledger
			sub := subscription("a")
			sub.BatchSize = 500
			quick := make(chan struct{})
			var late atomic.Int64
			a := s.run(sub, func(ctx context.Context, m *client.Message) error {
				if book.note(m); ctx.Err() != nil {
					late.Add(1)
				}
				select {
				case <-quick:
				case <-ctx.Done():
				case <-time.After(20 * time.Millisecond):
				}
				return m.Ack(ctx)
			})
			eventually(t, func() bool { return book.count() >= 5 }, "it handles its batch")
			expel(s)
			eventually(t, func() bool { return len(a.owns()) == 0 }, "the shard is dropped")
			handled := book.count()
			requests := len(s.coord.Requests("a"))
			eventually(t, func() bool { return len(s.coord.Requests("a")) >= requests+3 }, "time passes")
			// The one that was being called at that moment may have come to its first line later.
			require.LessOrEqual(t, book.count(), handled+1, "no handler has started since")
			require.LessOrEqual(t, late.Load(), int64(1), "and none with its shard already lost")
			require.Equal(t, protocol.EpochJoin, s.coord.Last("a").MemberEpoch, "it asks to join again")
			require.Empty(t, s.coord.Last("a").OwnedShards)

			close(quick)
			s.coord.SetHook(nil)
			s.coord.SetDown(false)
			eventually(t, func() bool { return book.count() >= 500 }, "after a new grant it goes on")
			eventually(t, func() bool { return s.pending(0) == 0 }, "and loses nothing")
		})
	}
}

// shortLease is one whose end a test waits for. It outlasts a machine that stalls.
const shortLease = 4 * time.Second

func refuse(*protocol.HeartbeatRequest, *protocol.HeartbeatResponse) int {
	return http.StatusServiceUnavailable
}

func TestAcknowledgementAfterTheLeaseIsRefused(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	s.publish(0, 0, 1)
	s.coord.SetTiming(50*time.Millisecond, shortLease)
	s.coord.Assign("a", 0)
	entered, results := make(chan struct{}, 10), make(chan error, 10)
	a := s.run(subscription("a"), func(ctx context.Context, m *client.Message) error {
		entered <- struct{}{}
		<-ctx.Done()
		results <- m.Ack(context.WithoutCancel(ctx))
		return nil
	})
	<-entered
	s.coord.SetDown(true)
	require.ErrorIs(t, <-results, client.ErrNotOwner)
	require.Equal(t, int64(1), s.pending(0))
	eventually(t, func() bool { return a.Status().Counters.Lapses == 1 }, "it says so")
}

func TestFieldF30SecondProcessWithTheSameIDBacksOff(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	s.publish(0, 0, 10)
	s.coord.Assign("m", 0)
	var book, none ledger
	first := s.run(subscription("m"), book.acking)
	eventually(t, func() bool { return book.count() == 10 }, "the first reads")
	changes := s.coord.Changes()

	var lines lineBuffer
	twin, err := client.New(client.Options{CoordinatorURL: s.coord.URL(), Redis: s.rdb, Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	require.NoError(t, err)
	t.Cleanup(func() { _ = twin.Close() })
	second := s.runOn(twin, subscription("m"), none.acking)
	inUse := func() (requests []scriptcoord.Request) {
		for _, request := range s.coord.Requests("m") {
			if request.Answer.Reason == protocol.ReasonMemberIDInUse {
				requests = append(requests, request)
			}
		}
		return requests
	}
	eventually(t, func() bool { return len(inUse()) >= 3 }, "the second keeps asking")
	asked := inUse() // a quarter of its lease apart, which is 2 s; the first of them may have been noted late
	require.GreaterOrEqual(t, asked[2].At.Sub(asked[0].At), time.Second, "it does not ask as often as a member")
	require.Equal(t, changes, s.coord.Changes(), "the assignment has not changed")
	require.Equal(t, []int{0}, first.owns())
	require.Equal(t, 1, strings.Count(lines.String(), string(protocol.ReasonMemberIDInUse)), "one line, not one a try")
	require.Contains(t, second.Status().Members[0].Verdict, protocol.ReasonMemberIDInUse)

	require.NoError(t, first.end())
	s.coord.Assign("m", 0)
	s.publish(0, 10, 11)
	eventually(t, func() bool { return none.count() == 1 }, "when the first has left, the second gets in")
}

// lineBuffer is a writer for loggers.
type lineBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lineBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lineBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestFieldF33RunReturnsInTimeWhateverHappens(t *testing.T) {
	t.Parallel()
	const drain = 2 * time.Second
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	stuck := func(entered chan<- struct{}) client.Handler {
		return func(context.Context, *client.Message) error {
			close(entered)
			<-release
			return nil
		}
	}
	idle := func(chan<- struct{}) client.Handler {
		return func(ctx context.Context, m *client.Message) error { return m.Ack(ctx) }
	}
	tests := map[string]struct {
		assign  []int
		handler func(entered chan<- struct{}) client.Handler
		prepare func(*stand)
		want    error
		left    bool
	}{
		"nothing assigned": {nil, idle, func(*stand) {}, nil, true},
		"in the middle of a rebalance": {[]int{0, 1}, idle, func(s *stand) {
			s.coord.Assign("b", 0)
			s.coord.Assign("a", 1)
		}, nil, true},
		"coordinator down":          {[]int{0}, idle, func(s *stand) { s.coord.SetDown(true) }, nil, false},
		"coordinator refuses":       {[]int{0}, idle, func(s *stand) { s.coord.SetHook(refuse) }, nil, false},
		"coordinator hangs":         {[]int{0}, idle, hang, nil, false},
		"redis down":                {[]int{1}, idle, func(s *stand) { s.redis.Kill() }, nil, true},
		"stuck handler":             {[]int{0, 1}, stuck, func(*stand) {}, client.ErrNotDrained, true},
		"stuck, coordinator down":   {[]int{0, 1}, stuck, func(s *stand) { s.coord.SetDown(true) }, client.ErrNotDrained, false},
		"never joined":              {nil, idle, func(s *stand) { s.coord.SetHook(refuse) }, nil, false},
		"everything lost meanwhile": {[]int{0}, idle, loseAll, nil, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t, 2)
			s.publish(0, 0, 1)
			s.coord.Assign("a", test.assign...)
			sub := subscription("a")
			sub.DrainTimeout = drain
			entered := make(chan struct{})
			a := s.run(sub, test.handler(entered))
			eventually(t, func() bool { return len(a.owns()) == len(test.assign) && a.Status().Members[0].Verdict == "OK" }, "joined")
			if test.want != nil {
				<-entered
			}
			test.prepare(s)
			began := time.Now()
			err := a.end()
			require.Less(t, time.Since(began), drain+20*time.Second, "about 3 s; what it waits for otherwise has no end")
			if test.want == nil {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, test.want)
			}
			left := func() bool {
				last := s.coord.Last("a")
				return last.MemberEpoch == protocol.EpochLeave && last.Status == http.StatusOK
			}
			if test.left {
				eventually(t, left, "a leave was answered")
			} else {
				require.False(t, left(), "nobody has answered")
			}
			last := s.coord.Last("a")
			for _, report := range last.RevokingShards {
				require.Equal(t, 0, report.Shard.ShardIndex, "only the shard with the stuck handler")
				require.Equal(t, protocol.Draining, report.State)
				require.Positive(t, report.InFlight)
			}
			require.Equal(t, test.want != nil, len(last.RevokingShards) > 0 || !test.left && test.want != nil)
		})
	}
}

// loseAll has the member expelled, and waits until it has joined anew and has nothing: a loss
// that comes while it leaves is a shard that was not drained.
func loseAll(s *stand) {
	s.coord.Forget("a")
	s.coord.Assign("a")
	eventually(s.t, func() bool {
		last := s.coord.Last("a")
		has := len(last.OwnedShards) + len(last.RevokingShards) + len(last.Answer.Assignment.AssignedShards)
		return last.MemberEpoch > 0 && has == 0 && last.Answer.Status == protocol.StatusOK
	}, "it has nothing")
}

// hang makes the coordinator answer nothing for longer than any client waits.
func hang(s *stand) {
	s.coord.SetHook(func(*protocol.HeartbeatRequest, *protocol.HeartbeatResponse) int {
		<-s.t.Context().Done()
		return -1
	})
}

func TestLeaveForRestartSuspends(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	s.coord.Assign("a", 0)
	sub := subscription("a")
	sub.LeaveMode = client.LeaveForRestart
	var book ledger
	a := s.run(sub, book.acking)
	eventually(t, func() bool { return len(a.owns()) == 1 }, "it reads")
	require.NoError(t, a.end())
	eventually(t, func() bool { return s.coord.Last("a").MemberEpoch == protocol.EpochSuspend }, "it suspends")
}

func TestUnknownGroupIsWaitedForAndReportedOnce(t *testing.T) {
	t.Parallel()
	s := newStand(t, 1)
	unknown := func(_ *protocol.HeartbeatRequest, answer *protocol.HeartbeatResponse) int {
		*answer = protocol.HeartbeatResponse{
			MemberID: answer.MemberID, Status: protocol.StatusUnknownMemberID,
			Reason: protocol.ReasonUnknownGroup, HeartbeatIntervalMs: 20,
		}
		return 0
	}
	s.coord.SetHook(unknown)
	var lines lineBuffer
	logging, err := client.New(client.Options{CoordinatorURL: s.coord.URL(), Redis: s.rdb, Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	require.NoError(t, err)
	t.Cleanup(func() { _ = logging.Close() })
	s.coord.Assign("a", 0)
	s.publish(0, 0, 1)
	var book ledger
	a := s.runOn(logging, subscription("a"), book.acking)
	eventually(t, func() bool { return len(s.coord.Requests("a")) > 5 }, "it keeps asking")
	require.True(t, a.Status().GroupUnknown)
	require.Equal(t, 1, strings.Count(lines.String(), "UNKNOWN_GROUP"))
	s.coord.SetHook(nil)
	eventually(t, func() bool { return book.count() == 1 }, "it reads when the group exists")
	eventually(t, func() bool { return !a.Status().GroupUnknown }, "and says so")

	s.coord.SetHook(unknown)
	sub := subscription("fast")
	sub.FailFast = true
	require.ErrorIs(t, s.client.Consume(t.Context(), sub, book.acking), client.ErrUnknownGroup)
	s.coord.SetHook(func(*protocol.HeartbeatRequest, *protocol.HeartbeatResponse) int { return http.StatusNotFound })
	require.ErrorIs(t, s.client.Consume(t.Context(), sub, book.acking), client.ErrUnknownGroup)
}
