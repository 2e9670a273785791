package client

import (
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/shardkey"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// Timing of reads.
const (
	// leaseMargin is what a blocking read leaves of the lease, at most a quarter of it
	// (protocol H5, field case F16).
	leaseMargin = 500 * time.Millisecond
	// leasePoll is how often a reader without enough lease looks again.
	leasePoll = 10 * time.Millisecond
)

// reader reads one shard and gives its records to the handler, one after the other.
type reader struct {
	*grant
	consumer *Consumer
	sub      Subscription
	shardKey *shardkey.Poller
	handler  Handler
	acks     *acker
	spans    handleTracer

	// What follows belongs to the acker's mutex.
	unacked int // acknowledgements that are not out yet
	sealed  bool
	idle    []chan struct{}

	// What follows belongs to the goroutine of work.
	adopted bool          // everything pending at the take-over has been gone through
	sweepAt time.Duration // when to look again
	cleanAt time.Duration // when to look for names of former consumers again
	trouble trouble

	retryMu sync.Mutex
	retries retryBook
	// unsettled are records whose handler returned nil without settling them (AckExplicit).
	unsettled map[string]struct{}
}

func newReader(s *session, g *grant, handler Handler) *reader {
	c := s.consumer
	r := &reader{
		grant: g, consumer: c, sub: c.sub, handler: handler, acks: s.acks,
		spans:     newHandleTracer(c.tracer, g, c.sub),
		shardKey:  shardkey.NewPoller(shardkey.NewReader(c.conns, c.scripts, g.key, c.sub.Group, s.id)),
		retries:   newRetryBook(c.sub.Retry),
		unsettled: map[string]struct{}{},
		trouble:   newTrouble(s.log.With("shard", g.shard)),
	}
	g.pending = r.pending
	g.wake = func() { r.shardKey.Wake(g.ctx, g.isReading) }
	return r
}

// pending returns how many delivered records of the shard are not settled.
func (r *reader) pending() int64 {
	r.retryMu.Lock()
	defer r.retryMu.Unlock()
	return int64(len(r.retries.list)+len(r.unsettled)) + r.inFlight.Load()
}

// work implements worker: adopt what is pending, then read until the shard is given up, then
// let the acknowledgements out.
func (r *reader) work(*grant) {
	defer r.shardKey.Close()
	for !r.stopped.Load() {
		if !r.mayStart() {
			r.pause(leasePoll)
			continue
		}
		switch err := r.round(); {
		case err == nil:
			r.recovered()
		case !errors.Is(err, errGivenUp) && !errors.Is(err, errBetweenTries):
			r.failed(err)
		}
	}
	r.acks.seal(r)
}

// round is one turn: adoption while it is owed, records that are due again, one read.
func (r *reader) round() error {
	if !r.adopted || r.now() >= r.sweepAt {
		if err := r.adopt(); err != nil {
			return err
		}
	}
	if err := r.retryDue(); err != nil {
		return err
	}
	began := r.spans.now()
	records, err := r.read()
	if err != nil {
		return err
	}
	return r.deliverAll(records, r.spans.reads(r.ctx, began, records))
}

// deliverAll delivers the records of one read in their order. Those that an orderly hand-over leaves
// unhandled stay pending for the next owner, as if they had not been delivered.
func (r *reader) deliverAll(records []shardkey.Record, read trace.SpanContext) error {
	for at, record := range records {
		err := r.deliver(record, read)
		if err == nil {
			continue
		}
		r.adopted = false
		if !errors.Is(err, errGivenUp) {
			at++ // its handler has run
		}
		if r.mayAck() {
			r.shardKey.PutBack(r.ctx, records[at:])
		}
		return err
	}
	return nil
}

// read reads one batch. It is sent only within the lease, and blocks at most until shortly
// before its end.
func (r *reader) read() ([]shardkey.Record, error) {
	usable := r.session.leaseLeft() - min(leaseMargin, r.sub.ClientLease/4)
	if usable <= 0 {
		r.pause(leasePoll)
		return nil, nil
	}
	block := min(r.sub.PollTimeout, usable, r.retryIn(), r.sweepAt-r.now())
	if !r.beginRead() {
		return nil, nil
	}
	records, err := r.shardKey.Read(r.ctx, r.sub.BatchSize, block)
	r.endRead()
	if redisx.StateOf(err) == redisx.StateTimeout {
		// No data (F16), but a batch may have been on its way: it is looked for as pending.
		r.adopted = false
		return nil, nil
	}
	if len(records) > 0 {
		last := records[len(records)-1].ID
		r.delivered(last)
	}
	return records, err
}

func (r *reader) now() time.Duration { return r.session.now() }
