package feed_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/feed"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/source"
	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// stream is a stream of one shard, in memory. The fault of a call, by its number, decides
// about each record of the batch.
type stream struct {
	entries []string // "seq key data"
	batches []int
	fault   func(call, at int) (err error, written bool)
	whole   error
}

func (s *stream) PublishBatch(_ context.Context, records []client.Record) ([]client.BatchResult, error) {
	if s.whole != nil {
		return nil, s.whole
	}
	call := len(s.batches)
	s.batches = append(s.batches, len(records))
	results := make([]client.BatchResult, len(records))
	for at, record := range records {
		err, written := error(nil), true
		if s.fault != nil {
			err, written = s.fault(call, at)
		}
		if written {
			s.entries = append(s.entries, fmt.Sprint(record.Values[1], " ", record.Key, " ", record.Values[3]))
		}
		results[at] = client.BatchResult{Result: client.Result{Shard: 0, ID: fmt.Sprintf("%d-0", len(s.entries))}, Err: err}
	}
	return results, nil
}

// records returns count records of one key.
func records(count int64) iter.Seq2[source.Record, error] {
	return func(yield func(source.Record, error) bool) {
		for seq := range count {
			if !yield(source.Record{Seq: seq + 1, Key: "k", Data: fmt.Sprintf("d%d", seq+1)}, nil) {
				return
			}
		}
	}
}

// publish feeds count records into to, in batches of 3, and returns the ledger's entries
// as "kind seq".
func publish(t *testing.T, to *stream, from iter.Seq2[source.Record, error]) (int64, []string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p"+ledger.Extension)
	w, err := ledger.Create(path, ledger.Publisher, "p")
	require.NoError(t, err)
	f := feed.Feed{
		Producer: to, Ledger: w, Batch: 3, Pause: time.Microsecond, Log: slog.New(slog.DiscardHandler),
	}
	published, failure := f.Publish(t.Context(), from)
	file, err := ledger.Read(path)
	require.NoError(t, err)
	var entries []string
	for _, entry := range file.Entries {
		entries = append(entries, fmt.Sprint(entry.Kind, " ", entry.Seq))
	}
	return published, entries, failure
}

func TestRecordsArePublishedInOrderAndEachStepIsWritten(t *testing.T) {
	t.Parallel()
	to := &stream{}
	published, entries, err := publish(t, to, records(4))
	require.NoError(t, err)
	require.EqualValues(t, 4, published)
	require.Equal(t, []string{"1 k d1", "2 k d2", "3 k d3", "4 k d4"}, to.entries)
	require.Equal(t, []int{3, 1}, to.batches)
	require.Equal(t, []string{
		"intent 1", "intent 2", "intent 3", "ack 1", "ack 2", "ack 3", "intent 4", "ack 4",
	}, entries)
}

func TestUncertainRecordsArePublishedAgainBeforeAnyLaterOne(t *testing.T) {
	t.Parallel()
	to := &stream{fault: func(call, at int) (error, bool) {
		if call == 0 && at > 0 { // the answers of 2 and 3 are lost; 2 was written
			return fmt.Errorf("lost: %w", client.ErrUncertain), at == 1
		}
		return nil, true
	}}
	published, entries, err := publish(t, to, records(4))
	require.NoError(t, err)
	require.EqualValues(t, 4, published)
	require.Equal(t, []string{"1 k d1", "2 k d2", "2 k d2", "3 k d3", "4 k d4"}, to.entries)
	require.Equal(t, []string{
		"intent 1", "intent 2", "intent 3", "ack 1", "unknown 2", "unknown 3",
		"intent 2", "intent 3", "ack 2", "ack 3", "intent 4", "ack 4",
	}, entries)
}

func TestRefusedRecordsAreTriedUntilTheyAreTaken(t *testing.T) {
	t.Parallel()
	to := &stream{fault: func(call, _ int) (error, bool) {
		if call < 5 {
			return client.ErrRoutingExpired, false
		}
		return nil, true
	}}
	published, entries, err := publish(t, to, records(1))
	require.NoError(t, err)
	require.EqualValues(t, 1, published)
	require.Len(t, to.batches, 6)
	require.Equal(t, []string{"intent 1", "refused 1"}, entries[:2])
	require.Equal(t, []string{"intent 1", "ack 1"}, entries[10:])
}

func TestAFailureThatTryingAgainDoesNotHelpEndsTheFeed(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{client.ErrInvalidRecord, client.ErrNoShards, client.ErrProducerClosed} {
		to := &stream{fault: func(_, at int) (error, bool) {
			if at == 1 {
				return cause, false
			}
			return nil, true
		}}
		published, entries, err := publish(t, to, records(4))
		require.ErrorIs(t, err, cause)
		require.ErrorContains(t, err, "record 2")
		require.Zero(t, published)
		require.Equal(t, []string{"ack 1", "refused 2", "ack 3"}, entries[3:], "what came of it is written nevertheless")
	}
	_, _, err := publish(t, &stream{whole: client.ErrProducerClosed}, records(1))
	require.ErrorIs(t, err, client.ErrProducerClosed)
}

func TestASourceThatFailsEndsTheFeed(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk")
	published, _, err := publish(t, &stream{}, func(yield func(source.Record, error) bool) {
		for record, err := range records(3) {
			if !yield(record, err) {
				return
			}
		}
		yield(source.Record{}, broken)
	})
	require.ErrorIs(t, err, broken)
	require.EqualValues(t, 3, published)
}

func TestTheRateIsKept(t *testing.T) {
	t.Parallel()
	w, err := ledger.Create(filepath.Join(t.TempDir(), "p"), ledger.Publisher, "p")
	require.NoError(t, err)
	f := feed.Feed{Producer: &stream{}, Ledger: w, Batch: 10, Rate: 1_000, Log: slog.New(slog.DiscardHandler)}
	began := time.Now()
	_, err = f.Publish(t.Context(), records(100))
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(began), 100*time.Millisecond)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f.Rate = 1
	_, err = f.Publish(ctx, records(100))
	require.ErrorIs(t, err, context.Canceled)
}
