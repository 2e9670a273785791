// Package feed publishes the records of a source so that the order within each key is kept,
// and writes every step into a ledger.
package feed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/source"
	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// The fields of a published record, beside client.KeyField.
const (
	// SeqField holds the number of the record in its source.
	SeqField = "seq"
	// DataField holds the record as it stands in the source.
	DataField = "data"
)

// Producer is what a Feed needs of a client.Producer.
type Producer interface {
	PublishBatch(ctx context.Context, records []client.Record) ([]client.BatchResult, error)
}

// RepeatPause is a good Pause of a Feed.
const RepeatPause = 200 * time.Millisecond

// Feed publishes records. All fields but Rate and Patient are required; Into fills in the first two.
type Feed struct {
	Producer Producer
	Ledger   *ledger.Writer
	Log      *slog.Logger
	// Batch is how many records go into one PublishBatch.
	Batch int
	// Rate is how many records are published a second at most; 0 is no limit.
	Rate int
	// Pause is the time before records that are not known to be written are published
	// again.
	Pause time.Duration
	// Patient goes on trying while the stream has no shards, which otherwise ends the feed.
	Patient bool
}

// Publish publishes the records in their order until there are no more, ctx ends, or
// something fails that trying again does not help. It returns how many Redis has
// acknowledged.
//
// A batch is sent after the one before has been acknowledged as a whole. What failed is
// sent again in its order; a record of which it is not known whether Redis has it may be in
// the stream twice then. Its first entry still lies before every later record of its key.
func (f *Feed) Publish(ctx context.Context, records iter.Seq2[source.Record, error]) (published int64, err error) {
	began := clock.Now()
	batch := make([]source.Record, 0, f.Batch)
	flush := func() error {
		if err := f.send(ctx, batch); err != nil {
			return err
		}
		published += int64(len(batch))
		batch = batch[:0]
		return f.pace(ctx, began, published)
	}
	for record, err := range records {
		if err != nil {
			return published, err
		}
		if batch = append(batch, record); len(batch) == f.Batch {
			if err := flush(); err != nil {
				return published, err
			}
		}
	}
	err = flush()
	return published, err
}

// pace waits until so many records may have been published.
func (f *Feed) pace(ctx context.Context, began time.Time, published int64) error {
	if f.Rate <= 0 {
		return nil
	}
	due := time.Duration(float64(published) / float64(f.Rate) * float64(time.Second))
	return clock.Sleep(ctx, due-clock.Since(began))
}

// send publishes a batch, and again what of it failed, until all is acknowledged.
func (f *Feed) send(ctx context.Context, batch []source.Record) error {
	for try := 0; len(batch) > 0; try++ {
		if try > 0 {
			if err := clock.Sleep(ctx, f.Pause); err != nil {
				return err
			}
		}
		failed, why, err := f.attempt(ctx, batch)
		if err != nil {
			return err
		}
		switch {
		case len(failed) > 0 && try == 0:
			f.Log.Warn("records are published again", "count", len(failed), "error", why)
		case len(failed) == 0 && try > 0:
			f.Log.Info("records are published", "tries", try+1)
		}
		batch = failed
	}
	return nil
}

// attempt publishes a batch once. It returns the records that are not known to be written
// and why the first of them is not, or an error that ends the feed.
func (f *Feed) attempt(ctx context.Context, batch []source.Record) (failed []source.Record, why, err error) {
	intents := make([]ledger.Entry, len(batch))
	records := make([]client.Record, len(batch))
	for i, one := range batch {
		intents[i] = ledger.Entry{
			Kind: ledger.Intent, Seq: one.Seq, Key: ledger.Hash(one.Key), Sum: ledger.Hash(one.Data),
		}
		records[i] = client.Record{Key: one.Key, Values: []any{SeqField, one.Seq, DataField, one.Data}}
	}
	if err := f.Ledger.Append(intents...); err != nil {
		return nil, nil, err
	}
	results, err := f.Producer.PublishBatch(ctx, records)
	switch { // an error of single records comes with the results
	case results == nil && errors.Is(err, client.ErrPaused):
		results = refused(len(batch), err)
	case results == nil:
		return nil, nil, fmt.Errorf("publish batch: %w", err)
	}
	outcomes := make([]ledger.Entry, len(batch))
	var fatal error
	for i, result := range results {
		outcomes[i] = outcome(batch[i].Seq, result)
		if result.Err == nil {
			continue
		}
		failed = append(failed, batch[i])
		if why == nil {
			why = result.Err
		}
		if fatal == nil && f.hopeless(result.Err) {
			fatal = fmt.Errorf("publish record %d: %w", batch[i].Seq, result.Err)
		}
	}
	return failed, why, errors.Join(f.Ledger.Append(outcomes...), fatal, ctx.Err())
}

// hopeless tells that publishing again would fail again.
func (f *Feed) hopeless(err error) bool {
	return errors.Is(err, client.ErrInvalidRecord) || errors.Is(err, client.ErrProducerClosed) ||
		errors.Is(err, client.ErrNoShards) && !f.Patient
}

// refused returns the results of a batch of which nothing was sent.
func refused(count int, err error) []client.BatchResult {
	return slices.Repeat([]client.BatchResult{{Err: err}}, count)
}
