package feed

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/source"
	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// Target is where the records of a Feed go.
type Target struct {
	Client *client.Client
	// Stream and Group are those of client.NewProducer.
	Stream, Group string
	// Ledger is the path of the ledger that is written.
	Ledger string
}

// Into publishes the records into the target like Publish, with a producer and a ledger of
// its own.
func (f Feed) Into(
	ctx context.Context, to Target, records iter.Seq2[source.Record, error],
) (published int64, err error) {
	producer, err := to.Client.NewProducer(ctx, to.Stream, to.Group, client.ProducerOptions{})
	if err != nil {
		return 0, fmt.Errorf("start producer: %w", err)
	}
	// Nothing is on its way any more when it is closed: every batch has been awaited.
	defer func() { _ = producer.Close(context.WithoutCancel(ctx)) }()
	f.Producer = producer
	if f.Ledger, err = ledger.Create(to.Ledger, ledger.Publisher, "publisher"); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Ledger.Close(err)) }()
	return f.Publish(ctx, records)
}
