package client

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/route"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// The pause before a record is tried again doubles from firstPause to longestPause.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = 500 * time.Millisecond
)

// write is a record on its way, with what its attempts have shown.
type write struct {
	key   string
	args  []any
	shard int // of the last attempt

	retries   int
	refreshed bool // after a stale route
	uncertain bool // an attempt may have written it

	result Result
	err    error // of the last attempt

	span trace.Span // of this record alone; nil when there is none
}

// step is what has to happen before a write is attempted again.
type step int

const (
	stepGiveUp  step = iota // write.err says why
	stepRefresh             // the routing
	stepWait                // the pause of write.retries
)

// command routes w and returns its XADD.
func (w *write) command(ctx context.Context, table *route.Table) (appendCommand, error) {
	shard, err := table.Route(w.key)
	if err != nil {
		return appendCommand{}, fmt.Errorf("%w: %w", ErrNoShards, err)
	}
	if w.args[keyArg] != nil {
		w.args = slices.Clone(w.args) // a hook may still look at those of the last attempt
	}
	w.args[keyArg] = shard.Arg
	w.shard = shard.Index
	w.result = Result{StreamKey: shard.Key, Shard: shard.Index, MetadataVersion: table.Version}
	return newAppendCommand(ctx, w.args), nil
}

// conclude records how an attempt ended and returns what to do next.
func (w *write) conclude(cmd appendCommand, opts *ProducerOptions) (next step, done bool) {
	if id, ok := cmd.written(); ok {
		w.result.ID, w.err = id, nil
		return stepGiveUp, true
	}
	cause := cmd.Err()
	if cause == nil {
		cause = errNoReply
	}
	return w.failed(outcomeOf(cause), fmt.Errorf("publish to %s: %w", w.result.StreamKey, cause), opts), false
}

// failed sets w.err and returns what may help.
func (w *write) failed(what outcome, cause error, opts *ProducerOptions) step {
	w.uncertain = w.uncertain || what == outcomeUncertain
	switch {
	case w.uncertain:
		w.err = fmt.Errorf("%w: %w", ErrUncertain, cause)
	case what == outcomeStale:
		w.err = fmt.Errorf("%w: %w", ErrStaleRoute, cause)
	default:
		w.err = cause
	}
	switch what {
	case outcomeStale:
		if !w.refreshed {
			w.refreshed = true
			return stepRefresh
		}
	case outcomeUncertain:
		if opts.RetryUncertain {
			return w.retry(opts)
		}
	case outcomeTransient:
		return w.retry(opts)
	case outcomeRejected:
	}
	return stepGiveUp
}

func (w *write) retry(opts *ProducerOptions) step {
	if w.retries >= opts.Retries {
		return stepGiveUp
	}
	w.retries++
	return stepWait
}

// stop gives w up because what should precede its next attempt failed with cause.
func (w *write) stop(cause error) {
	w.err = fmt.Errorf("%w; not tried again: %w", w.err, cause)
}

// prepare carries out next for a write that was tried again retries times.
func (p *Producer) prepare(ctx context.Context, next step, retries int) error {
	if next == stepRefresh {
		return p.refresh(ctx)
	}
	pause := longestPause
	if retries < 6 {
		pause = min(firstPause<<max(retries-1, 0), longestPause)
	}
	return clock.Sleep(ctx, pause/2+rand.N(pause/2))
}
