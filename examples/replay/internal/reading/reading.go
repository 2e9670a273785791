// Package reading is the consumer of a replay: it handles records by writing into a ledger
// that it did.
package reading

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/feed"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// Reader is one consumer. Client, Subscription and Ledger are required.
type Reader struct {
	Client       *client.Client
	Subscription client.Subscription
	Ledger       *ledger.Writer
	// Work is how long the handling of a record takes.
	Work time.Duration
}

// Run consumes until ctx ends, then leaves gracefully. It ends early when the ledger cannot
// be written: a handling that nobody can prove is none.
func (r *Reader) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	unwritten := make(chan error, 1)
	err := r.Client.Consume(ctx, r.Subscription, func(ctx context.Context, m *client.Message) error {
		err := r.handle(ctx, m)
		if err != nil && ctx.Err() == nil {
			select {
			case unwritten <- err:
				cancel(err)
			default:
			}
		}
		return err
	})
	select {
	case failed := <-unwritten:
		return failed
	default:
	}
	if err != nil {
		return fmt.Errorf("consume %s: %w", r.Subscription.Stream, err)
	}
	return nil
}

// handle is the handler: the beginning of the handling goes into the ledger, then its work
// is done, then its end goes into the ledger. The record is acknowledged after that.
func (r *Reader) handle(ctx context.Context, m *client.Message) error {
	// A record that is not of the replay has no number; the check will find it.
	seq, _ := strconv.ParseInt(m.Fields[feed.SeqField], 10, 64)
	err := r.Ledger.Append(ledger.Entry{
		Kind: ledger.Start, Seq: seq, Key: ledger.Hash(m.Key), Sum: ledger.Hash(m.Fields[feed.DataField]),
		Shard: m.Shard, ID: m.ID, Fence: m.FenceToken,
	})
	if err != nil {
		return err
	}
	if err := clock.Sleep(ctx, r.Work); err != nil {
		return err // the shard is lost: its next owner handles the record
	}
	return r.Ledger.Append(ledger.Entry{Kind: ledger.End, Seq: seq, Shard: m.Shard, ID: m.ID})
}
