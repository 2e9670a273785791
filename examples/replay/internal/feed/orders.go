package feed

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/source"
)

// The orders, one a line.
const (
	pauseOrder   = "pause"   // refuse records, and wait until none is on its way
	refreshOrder = "refresh" // ask for the routing
	resumeOrder  = "resume"  // take records again
)

// pausable is what orders act on; client.Producer is one.
type pausable interface {
	Pause(ctx context.Context) error
	Refresh(ctx context.Context) error
	Resume()
}

// obey carries out orders until in ends, each before the next. When one is done it writes
// its word to out, and why if it has failed. At the end it resumes, so that what is in hand
// can be published.
func obey(ctx context.Context, in io.Reader, out io.Writer, p pausable) {
	defer p.Resume()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		order := lines.Text()
		if err := carryOut(ctx, order, p); err != nil {
			order += ": " + err.Error()
		}
		if _, err := fmt.Fprintln(out, order); err != nil {
			return // nobody is there who could give another
		}
	}
}

func carryOut(ctx context.Context, order string, p pausable) error {
	switch order {
	case pauseOrder:
		return p.Pause(ctx)
	case refreshOrder:
		return p.Refresh(ctx)
	case resumeOrder:
		p.Resume()
		return nil
	default:
		return fmt.Errorf("an order is one of %s, %s and %s", pauseOrder, refreshOrder, resumeOrder)
	}
}

// until returns the records up to the moment at which stop is closed.
func until(stop <-chan struct{}, records iter.Seq2[source.Record, error]) iter.Seq2[source.Record, error] {
	return func(yield func(source.Record, error) bool) {
		for record, err := range records {
			select {
			case <-stop:
				return
			default:
			}
			if !yield(record, err) {
				return
			}
		}
	}
}
