package audit

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// shelf is a sink in memory that can be put away, and that can hang.
type shelf struct {
	mu      sync.Mutex
	records []protocol.AuditRecord
	away    bool
	hangs   bool
	tries   int
}

var errAwayHere = errors.New("connection refused")

func (s *shelf) Append(ctx context.Context, record protocol.AuditRecord) error {
	s.mu.Lock()
	s.tries++
	away, hangs := s.away || ctx.Err() != nil, s.hangs
	if !away && !hangs {
		s.records = append(s.records, record)
	}
	s.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if away {
		return errAwayHere
	}
	return nil
}

func (s *shelf) put(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

func (s *shelf) hang(hangs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangs = hangs
}

// words are the records as "KIND id".
func (s *shelf) words() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	words := []string{}
	for _, record := range s.records {
		words = append(words, string(record.Kind)+" "+record.RequestID)
	}
	return words
}

// journal is where a test's log goes.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(text []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(text)
}

func (j *journal) count(part string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Count(j.text.String(), part)
}

func box(sink Sink, policy OnFailure, bound int) (*outbox, *journal) {
	var log journal
	config := Config{OnFailure: policy, Buffer: bound, Timeout: 2 * time.Second}
	return newOutbox(sink, config, clock.Now, slog.New(slog.NewTextHandler(&log, nil))), &log
}

func intent(id string) protocol.AuditRecord {
	return protocol.AuditRecord{Kind: protocol.AuditIntent, RequestID: id}
}

// done is the outcome of a mutation that was sent, refusal of one that was not.
func done(id string) protocol.AuditRecord {
	return protocol.AuditRecord{Kind: protocol.AuditOutcome, RequestID: id, Intended: true}
}

func refusal(id string) protocol.AuditRecord {
	return protocol.AuditRecord{Kind: protocol.AuditOutcome, RequestID: id}
}

func TestWithRefuseNoMutationGoesOnWithoutItsIntent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sink := &shelf{away: true}
		o, log := box(sink, Refuse, 10)
		require.ErrorIs(t, o.intend(t.Context(), intent("a")), errAwayHere)
		o.conclude(t.Context(), refusal("a")) // as Surround does for the 503
		require.Error(t, o.intend(t.Context(), intent("b")))
		o.conclude(t.Context(), refusal("b"))
		require.Equal(t, 1, log.count("audit sink failed"))
		sink.put(false)
		require.NoError(t, clock.Sleep(t.Context(), maxPause))
		synctest.Wait()
		require.Equal(t, []string{"OUTCOME a", "OUTCOME b"}, sink.words(), "refusals are recorded when the sink is back")
		require.Equal(t, 1, log.count("audit sink is back"))
		require.NoError(t, o.intend(t.Context(), intent("c")))
		o.conclude(t.Context(), done("c"))
		require.NoError(t, o.close(t.Context()))
		require.Equal(t, []string{"OUTCOME a", "OUTCOME b", "INTENT c", "OUTCOME c"}, sink.words())
	})
}

func TestAnOutcomeWaitsUntilTheSinkIsBackAndMutationsWaitForIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sink := &shelf{}
		o, _ := box(sink, Refuse, 1)
		for _, id := range []string{"a", "b", "c"} {
			require.NoError(t, o.intend(t.Context(), intent(id)))
		}
		sink.put(true)
		for _, id := range []string{"a", "b", "c"} { // more than the bound: they were sent
			o.conclude(t.Context(), done(id))
		}
		require.NoError(t, clock.Sleep(t.Context(), time.Minute))
		synctest.Wait()
		require.ErrorIs(t, o.intend(t.Context(), intent("d")), errAway)
		require.Len(t, o.waiting, 3)
		sink.put(false)
		require.NoError(t, clock.Sleep(t.Context(), 2*maxPause))
		synctest.Wait()
		require.Equal(t, []string{"INTENT a", "INTENT b", "INTENT c", "OUTCOME a", "OUTCOME b", "OUTCOME c"}, sink.words())
		require.Nil(t, o.drained, "the goroutine has ended")
		require.NoError(t, o.intend(t.Context(), intent("d")))
	})
}

func TestWithBufferMutationsGoOnUntilTheBoundAndInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sink := &shelf{away: true}
		o, log := box(sink, Buffer, 6)
		require.NoError(t, o.intend(t.Context(), intent("a")))
		require.NoError(t, o.intend(t.Context(), intent("b")))
		o.conclude(t.Context(), done("a"))
		require.NoError(t, o.intend(t.Context(), intent("c")), "five wait or are to come, and one more")
		require.ErrorIs(t, o.intend(t.Context(), intent("d")), errFull)
		o.conclude(t.Context(), done("b"))
		o.conclude(t.Context(), done("c"))
		require.Len(t, o.waiting, 6)
		o.conclude(t.Context(), refusal("d"))
		require.Len(t, o.waiting, 6)
		require.Equal(t, 1, log.count("audit record lost"), "loudly, and whole")
		require.Equal(t, 1, log.count(`\"requestId\":\"d\"`))
		sink.put(false)
		require.NoError(t, clock.Sleep(t.Context(), maxPause))
		synctest.Wait()
		require.Equal(t, []string{"INTENT a", "INTENT b", "OUTCOME a", "INTENT c", "OUTCOME b", "OUTCOME c"}, sink.words())
		require.NoError(t, o.close(t.Context()))
	})
}

func TestRefusalsTakeHalfOfTheRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sink := &shelf{away: true}
		o, log := box(sink, Buffer, 8)
		for i := range 10 {
			o.conclude(t.Context(), refusal(strconv.Itoa(i)))
		}
		require.Len(t, o.waiting, 4)
		require.Equal(t, 6, log.count("audit record lost"))
		require.NoError(t, o.intend(t.Context(), intent("a")))
		require.NoError(t, o.intend(t.Context(), intent("b")))
		require.ErrorIs(t, o.intend(t.Context(), intent("c")), errFull)
		sink.put(false)
		require.NoError(t, o.close(t.Context()))
		require.Equal(t, []string{"OUTCOME 0", "OUTCOME 1", "OUTCOME 2", "OUTCOME 3", "INTENT a", "INTENT b"}, sink.words())
	})
}

func TestNothingOvertakesWhatWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sink := &shelf{}
		o, _ := box(sink, Buffer, 10)
		require.NoError(t, o.intend(t.Context(), intent("a")))
		sink.put(true)
		o.conclude(t.Context(), done("a"))
		synctest.Wait() // the goroutine has tried, and pauses
		sink.put(false)
		o.failedAt = time.Time{} // long ago
		require.NoError(t, o.intend(t.Context(), intent("b")))
		o.conclude(t.Context(), done("b"))
		require.NoError(t, o.close(t.Context()))
		require.Equal(t, []string{"INTENT a", "OUTCOME a", "INTENT b", "OUTCOME b"}, sink.words())
	})
}

// It runs in real time: who waits for a lock keeps the time of a bubble from passing.
func TestASinkThatHangsHoldsUpOneRequestAndNotAll(t *testing.T) {
	t.Parallel()
	sink := &shelf{hangs: true}
	o, _ := box(sink, Refuse, 1)
	began := clock.Now()
	o.now = func() time.Time { return began } // however long the hundred take, the failure is new
	o.config.Timeout = 50 * time.Millisecond
	var sent atomic.Int32
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			if o.intend(t.Context(), intent(strconv.Itoa(i))) == nil {
				sent.Add(1)
			}
		})
	}
	group.Wait()
	require.Zero(t, sent.Load())
	require.Equal(t, 1, sink.tries, "who comes after a failure does not wait for another one")
}

func TestWhoHasGoneIsRecordedAllTheSame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sink := &shelf{}
		o, _ := box(sink, Refuse, 1)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, o.intend(gone, intent("a")))
		o.conclude(gone, done("a"))
		require.Equal(t, []string{"INTENT a", "OUTCOME a"}, sink.words())
	})
}

func TestCloseWritesWhatWaitsAndSaysWhatIsLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sink := &shelf{away: true}
		o, _ := box(sink, Buffer, 10)
		require.NoError(t, o.intend(t.Context(), intent("a")))
		o.conclude(t.Context(), done("a"))
		require.NoError(t, clock.Sleep(t.Context(), time.Hour)) // pauses are at their longest
		go func() {
			_ = clock.Sleep(t.Context(), closingPause)
			sink.put(false)
		}()
		began := clock.Now()
		require.NoError(t, o.close(t.Context()))
		require.Less(t, clock.Since(began), time.Second)
		require.Equal(t, []string{"INTENT a", "OUTCOME a"}, sink.words())
	})
	synctest.Test(t, func(t *testing.T) {
		sink := &shelf{hangs: true}
		o, log := box(sink, Buffer, 10)
		require.NoError(t, o.intend(t.Context(), intent("a")))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := clock.Now()
		err := o.close(ctx)
		require.ErrorIs(t, err, ErrLost)
		require.ErrorContains(t, err, "1 could not be written")
		require.LessOrEqual(t, clock.Since(began), time.Second)
		require.Equal(t, 1, log.count("audit record lost"))
		require.ErrorIs(t, o.intend(t.Context(), intent("b")), errClosed)
		sink.hang(false)
		require.NoError(t, clock.Sleep(t.Context(), time.Minute))
		o.conclude(t.Context(), done("a"))
		require.Equal(t, []string{"OUTCOME a"}, sink.words(), "what ends late is written if it can be")
		require.NoError(t, o.close(t.Context()), "again")
	})
}

func TestNothingWaitsForNothing(t *testing.T) {
	t.Parallel()
	o, _ := box(&shelf{}, Buffer, 0)
	require.NoError(t, o.intend(t.Context(), intent("a")))
	o.conclude(t.Context(), done("a"))
	require.NoError(t, o.close(t.Context()))
	require.NoError(t, o.close(t.Context()))
}
