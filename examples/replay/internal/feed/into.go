package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/source"
	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// Target is where the records of a Feed go.
type Target struct {
	Client *client.Client
	// Stream, Group and Options are those of client.NewProducer.
	Stream, Group string
	Options       client.ProducerOptions
	// Name is the publisher's, Ledger the path of the ledger that is written.
	Name, Ledger string
	// Orders are carried out while it publishes, and answered on Answers; their end ends
	// the publishing after the batch in hand. Nil for none. See obey.
	Orders  io.Reader
	Answers io.Writer
}

// Into publishes the records into the target like Publish, with a producer and a ledger of
// its own.
func (f Feed) Into(
	ctx context.Context, to Target, records iter.Seq2[source.Record, error],
) (published int64, err error) {
	producer, err := to.Client.NewProducer(ctx, to.Stream, to.Group, to.Options)
	if err != nil {
		return 0, fmt.Errorf("start producer: %w", err)
	}
	// Nothing is on its way any more when it is closed: every batch has been awaited.
	defer func() { _ = producer.Close(context.WithoutCancel(ctx)) }()
	f.Producer = producer
	if f.Ledger, err = ledger.Create(to.Ledger, ledger.Publisher, to.Name); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Ledger.Close(err)) }()
	if to.Orders != nil {
		stop := make(chan struct{})
		go func() { // a read of the standard input cannot be interrupted
			defer close(stop)
			obey(ctx, to.Orders, to.Answers, producer)
		}()
		records = until(stop, records)
	}
	return f.Publish(ctx, records)
}
