package demo

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const bound = 10 * time.Second

// handle is a whole handling of a record.
func handle(l *ledger, d delivery) {
	l.begin(d)
	l.end(d, true)
}

func TestHealthyRunHasNoFaultAndKeepsNothing(t *testing.T) {
	t.Parallel()
	l := newLedger(bound)
	for range 100 {
		number := l.publishing()
		l.published(number, time.Second)
		handle(l, delivery{Number: number, Shard: number % 4, Member: "a", Token: 1})
	}
	l.sweep(time.Hour)
	require.Equal(t, Counts{Produced: 100, Handled: 100}, l.read())
	require.Empty(t, l.takeFaults())
	require.Empty(t, l.records, "a demo that runs for days does not grow")
}

func TestRecordMayBeHandledBeforeItsProducerKnows(t *testing.T) {
	t.Parallel()
	l := newLedger(bound)
	number := l.publishing()
	handle(l, delivery{Number: number, Member: "a", Token: 1})
	l.sweep(time.Hour)
	require.Equal(t, Counts{}, l.read())
	l.published(number, time.Second)
	require.Equal(t, Counts{Produced: 1, Handled: 1}, l.read())
	require.Empty(t, l.takeFaults())
}

func TestRecordThatIsNotHandledInTimeIsAFaultOnce(t *testing.T) {
	t.Parallel()
	l := newLedger(bound)
	l.published(l.publishing(), time.Second)
	l.sweep(time.Second + bound)
	require.Empty(t, l.takeFaults())
	l.sweep(time.Second + bound + 1)
	l.sweep(time.Hour)
	require.Equal(t, []string{"record 0 was published 10s ago and is not handled"}, l.takeFaults())
	require.Equal(t, Counts{Produced: 1, Lag: 1, Overdue: 1, Faults: 1}, l.read())
	handle(l, delivery{Number: 0, Member: "a", Token: 1})
	require.Equal(t, Counts{Produced: 1, Handled: 1, Overdue: 1, Faults: 1}, l.read(), "late is not lost")
}

func TestTwoReadersAreAFault(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]struct {
		first, second delivery
		running       bool // the first still runs when the second starts
		faults        int
	}{
		"at the same time":         {delivery{Member: "a", Token: 1}, delivery{Member: "b", Token: 2}, true, 1},
		"former owner starts late": {delivery{Member: "b", Token: 2}, delivery{Member: "a", Token: 1}, false, 1},
		"with one token":           {delivery{Member: "a", Token: 1}, delivery{Member: "b", Token: 1}, false, 1},
		"one after the other":      {delivery{Member: "a", Token: 1}, delivery{Member: "b", Token: 2}, false, 0},
		"same member at once":      {delivery{Member: "a", Token: 1}, delivery{Member: "a", Token: 1}, true, 0},
		"same member again":        {delivery{Member: "a", Token: 1}, delivery{Member: "a", Token: 3}, false, 0},
		"on two shards":            {delivery{Member: "a", Token: 1}, delivery{Member: "b", Token: 1, Shard: 1}, true, 0},
	} {
		l := newLedger(bound)
		script.first.Number, script.second.Number = l.publishing(), l.publishing()
		l.begin(script.first)
		if !script.running {
			l.end(script.first, true)
		}
		l.begin(script.second)
		require.Len(t, l.takeFaults(), script.faults, name)
		require.Equal(t, script.faults, l.read().DoubleReads, name)
	}
}

func TestHandlingsBeyondTheFirstAreDuplicates(t *testing.T) {
	t.Parallel()
	l := newLedger(bound)
	for range 2 {
		l.published(l.publishing(), 0)
	}
	first := delivery{Number: 0, Member: "a", Token: 1}
	handle(l, first)
	handle(l, first)
	l.sweep(time.Second)
	handle(l, first) // forgotten meanwhile
	l.begin(delivery{Number: 1, Member: "a", Token: 1})
	l.end(delivery{Number: 1, Member: "a", Token: 1}, false)
	require.Equal(t, Counts{Produced: 2, Handled: 1, Lag: 1, Duplicates: 2}, l.read())
	handle(l, delivery{Number: -1, Member: "a", Token: 1})
	require.Equal(t, 1, l.read().Earlier)
	require.Empty(t, l.takeFaults(), "at least once is what is promised")
}

func TestRecordsThatRedisDidNotTakeAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	l := newLedger(bound)
	l.unpublished(l.publishing(), false, 0)
	uncertain := l.publishing()
	l.unpublished(uncertain, true, 0)
	l.sweep(2 * bound)
	require.Len(t, l.records, 1, "what was perhaps written may still come")
	handle(l, delivery{Number: uncertain, Member: "a", Token: 1})
	l.sweep(2 * bound)
	require.Equal(t, Counts{Refused: 1, Uncertain: 1}, l.read())
	require.Empty(t, l.takeFaults())
	l.unpublished(l.publishing(), true, 0)
	l.sweep(10*bound + 1)
	require.Empty(t, l.records)
}
