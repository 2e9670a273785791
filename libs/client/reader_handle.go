package client

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/shardkey"
)

// Ends of a reader's turn whose shard was revoked or dropped.
var (
	// errGivenUp comes before a record was handed to the handler.
	errGivenUp = errors.New("shard was given up")
	// errBetweenTries comes while a record waits for its next try (StrictOrder).
	errBetweenTries = errors.New("shard was given up between two tries")
)

// deliver gives one record to the handler and takes care of a failure. An error ends the
// reader's turn: what it still has in hand stays pending and is adopted, by this reader or
// by the next owner.
func (r *reader) deliver(record shardkey.Record, read trace.SpanContext) error {
	m := r.message(record, read)
	for {
		if limit := r.sub.Retry.MaxDeliveries; limit > 0 && m.Deliveries > limit {
			return r.deadLetter(m, ErrTooManyDeliveries)
		}
		pause, err := r.attempt(m)
		switch {
		case err == nil || errors.Is(err, errGivenUp):
			return err
		case r.exhausted(m.Deliveries):
			return r.deadLetter(m, err)
		case !r.sub.StrictOrder:
			r.again(m.ID, m.Deliveries, pause)
			return nil
		}
		if m, err = r.insist(m, pause); m == nil {
			return err
		}
	}
}

// attempt runs the handler on m. It waits for a free slot of the member; slots are given in
// the order of asking, so no shard starves. The right to start is checked at the last moment
// (protocol H5, field cases F25 and F29).
func (r *reader) attempt(m *Message) (time.Duration, error) {
	select {
	case r.session.slots <- struct{}{}:
	case <-r.stop:
		return 0, errGivenUp
	}
	defer func() { <-r.session.slots }()
	r.inFlight.Add(1)
	defer r.inFlight.Add(-1)
	if !r.awaitLease() {
		return 0, errGivenUp
	}
	if !r.consumer.books.take(r.shard, m.ID) {
		return 0, nil // this process is handling it
	}
	defer r.consumer.books.release(r.shard, m.ID)
	return r.handle(m)
}

// awaitLease waits out a lease that is over but not yet noticed as such.
func (r *reader) awaitLease() bool {
	for !r.mayStart() {
		if !r.pause(leasePoll) {
			return false
		}
	}
	return true
}

// Failures of a handling that the handler did not return.
var (
	errNacked   = errors.New("handler gave the record back")
	errPanicked = errors.New("handler panicked")
)

// handle runs the handler and settles what it left to the consumer. A failure comes with
// the pause that the handler asked for, 0 if none.
func (r *reader) handle(m *Message) (time.Duration, error) {
	err := r.call(r.spans.begin(r.ctx, m), m)
	settled, pause := m.finish(func() {
		if err == nil && r.sub.AckMode == AckExplicit {
			r.keep(m.ID)
		}
	})
	if err == nil && settled == nacked {
		err = errNacked
	}
	m.endSpan(err)
	if err != nil {
		r.consumer.counters.failed.Add(1)
		r.trouble.log.Debug("handler failed", "id", m.ID, "deliveries", m.Deliveries, "error", err)
		if settled == acked {
			return 0, nil // the application has decided
		}
		return pause, err
	}
	r.consumer.counters.handled.Add(1)
	if r.sub.AckMode == AckAfterHandler && m.settle(acked) {
		r.acks.add(ack{reader: r, id: m.ID, mode: shardkey.AckMode{Fenced: r.sub.FencedAcks}})
	}
	return 0, nil
}

// call runs the handler; a panic is an error.
func (r *reader) call(ctx context.Context, m *Message) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %v", errPanicked, cause)
			r.trouble.log.Error("handler panicked", "id", m.ID, "cause", cause, "stack", string(debug.Stack()))
		}
	}()
	return r.handler(ctx, m)
}

// message makes a Message of a record that came with read.
func (r *reader) message(record shardkey.Record, read trace.SpanContext) *Message {
	m := &Message{
		Stream: r.sub.Stream, Group: r.sub.Group, Shard: r.shard, ID: record.ID,
		Fields:     make(map[string]string, len(record.Values)),
		Deliveries: record.Deliveries, FenceToken: r.fence, owner: r,
		trace: traceOf(r.ctx, record), received: read,
	}
	for name, value := range record.Values {
		text, _ := value.(string) // go-redis reads every field as a string
		if name == KeyField {
			m.Key = text
			continue
		}
		m.Fields[name] = text
	}
	return m
}

// keep remembers a record that the application has not settled, so that it is not taken for
// a lost one (field case F10).
func (r *reader) keep(id string) {
	r.retryMu.Lock()
	defer r.retryMu.Unlock()
	r.unsettled[id] = struct{}{}
}

// forget ends keep and a record's retries.
func (r *reader) forget(id string) {
	r.retryMu.Lock()
	defer r.retryMu.Unlock()
	delete(r.unsettled, id)
	r.retries.remove(id)
}

// acked notes an acknowledgement that Redis has.
func (r *reader) acked(id string) {
	r.forget(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ackedID = id
}
