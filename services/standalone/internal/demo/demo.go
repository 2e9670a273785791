// Package demo is traffic that checks itself: a producer, three consumers of which one
// leaves and comes back again and again, and a ledger that notices a lost record or two
// readers of one shard. It uses what an application can use, libs/client and the HTTP API.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// What the demo works on.
const (
	Stream = "orders"
	Group  = "orders-consumer"
	Shards = 4
)

const (
	perSecond   = 50
	handleBound = 15 * time.Second // a record that takes longer is a fault
	drainBudget = 10 * time.Second // what is published is handled within this at the end
)

// ErrFault comes from Run when a promise was broken; the lines that begin with FAULT say
// which.
var ErrFault = errors.New("the demo has found faults")

// Options are what a Demo needs. All but Log are required.
type Options struct {
	Client *client.Client
	// Out takes a line a second, the faults and the summary.
	Out io.Writer
	// Cycle is the time from one leave of the third consumer to the next.
	Cycle time.Duration
	// Started is when the surrounding process started: times are told from it.
	Started time.Time
	// Log takes what is not for the screen; nil discards it.
	Log *slog.Logger
}

// Demo is one run. It is used once.
type Demo struct {
	Options

	run    string // tells the records of this run from those of others
	ledger *ledger
	first  sync.Once
	outMu  sync.Mutex
}

// New returns a demo that has not begun.
func New(o Options) *Demo {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Demo{Options: o, run: ulid.Make().String(), ledger: newLedger(handleBound)}
}

// Run makes the stream if there is none and runs until ctx ends. Then the producer stops,
// the consumers handle what is left and leave, and a summary is printed. It returns ErrFault
// when a promise was broken.
func (d *Demo) Run(ctx context.Context) error {
	if err := d.create(ctx); err != nil {
		return err
	}
	producer, err := d.Client.NewProducer(ctx, Stream, Group, client.ProducerOptions{MaxLen: 100_000})
	if err != nil {
		return fmt.Errorf("demo producer: %w", err)
	}
	d.say("demo: stream %s with %d shards, group %s, %d records a second; demo-c leaves and comes back every %s; Ctrl-C ends it",
		Stream, Shards, Group, perSecond, d.Cycle)

	// Consumers and screen outlast the producer, so that everything is handled.
	rest, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	var consumers, screen sync.WaitGroup
	for _, member := range []string{"demo-a", "demo-b"} {
		consumers.Go(func() { d.consume(rest, member) })
	}
	consumers.Go(func() { d.comeAndGo(rest, "demo-c") })
	screen.Go(func() { d.report(rest) })

	d.produce(ctx, producer)
	d.drain(rest, producer)
	leave()
	consumers.Wait()
	screen.Wait()
	return d.conclude()
}

// create makes the stream and its group; one that is there is used as it is.
func (d *Demo) create(ctx context.Context) error {
	shards := Shards
	request := protocol.CreateGroupRequest{InitialShardCount: &shards, RequestedBy: "demo"}
	_, err := d.Client.Admin().CreateGroup(ctx, Stream, Group, request)
	if codeOf(err) == protocol.CodeShardCountMismatch {
		request.InitialShardCount = nil
		_, err = d.Client.Admin().CreateGroup(ctx, Stream, Group, request)
	}
	if err != nil && codeOf(err) != protocol.CodeGroupAlreadyExists {
		return fmt.Errorf("create the demo's stream %s: %w", Stream, err)
	}
	return nil
}

// drain waits until everything published is handled, for a while.
func (d *Demo) drain(ctx context.Context, producer *client.Producer) {
	ctx, cancel := context.WithTimeout(ctx, drainBudget)
	defer cancel()
	if err := producer.Close(ctx); err != nil {
		d.Log.Warn("demo producer did not end in time", "error", err)
	}
	for d.ledger.read().Lag > 0 && clock.Sleep(ctx, 20*time.Millisecond) == nil {
		continue
	}
}

// since returns the time from the start of the process.
func (d *Demo) since() time.Duration { return clock.Since(d.Started) }

// say prints one line.
func (d *Demo) say(format string, args ...any) {
	d.outMu.Lock()
	defer d.outMu.Unlock()
	fmt.Fprintf(d.Out, format+"\n", args...)
}

func codeOf(err error) protocol.Code {
	if refused, ok := errors.AsType[*protocol.Error](err); ok {
		return refused.Code
	}
	return ""
}
