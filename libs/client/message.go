package client

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/shardkey"
)

// Message is one record that was delivered to a consumer. Its fields are the handler's to
// keep; its methods may be called from any goroutine, also after the handler has returned.
type Message struct {
	// Stream and Group say where the record comes from, Shard is the index of the shard
	// and ID the id of the entry. Stream, Shard and ID together name a record.
	Stream, Group string
	Shard         int
	ID            string
	// Key is the partition key that the producer put into KeyField; empty without one.
	Key string
	// Fields are the other fields of the record, those of a trace context included.
	Fields map[string]string
	// Deliveries counts how often Redis has handed the record out, this time included. It
	// also counts hand-outs that no handler saw because the process died.
	Deliveries int64
	// FenceToken grows with every change of owner of the shard (protocol E1). A system that
	// remembers the highest token it has seen for a shard can refuse a late writer.
	FenceToken int64

	owner *reader

	// trace is what the record carries, received the span of the read that brought it. span is
	// that of the handling; it is set before the handler is called, and nil when there is none.
	trace, received trace.SpanContext
	span            trace.Span

	mu      sync.Mutex
	settled settlement
	// pause is what Nack asked for.
	pause time.Duration
	// returned tells that the handler has returned and the consumer has looked at settled.
	returned bool
}

// settlement is what was decided about a message.
type settlement int

const (
	open settlement = iota
	acked
	nacked
)

// Ack acknowledges the record and returns when Redis has it. Acknowledgements that wait at
// the same time share a round trip. It fails with ErrNotOwner when the shard was given up
// meanwhile, and, with Subscription.FencedAcks, when another consumer has the record: then
// its next owner handles the record again. When ctx ends first the acknowledgement may
// still be carried out. While Redis is away it is repeated for as long as the shard is
// held. After the first Ack, AckDel or Nack the others do nothing.
func (m *Message) Ack(ctx context.Context) error {
	return m.ack(ctx, false)
}

// AckDel acknowledges the record like Ack and deletes it from the stream. With Redis 8.2 and
// later (XACKDEL) the record goes when every group has acknowledged it; older servers
// delete it at once, for the other groups of the stream too.
func (m *Message) AckDel(ctx context.Context) error {
	return m.ack(ctx, true)
}

func (m *Message) ack(ctx context.Context, del bool) error {
	if !m.settle(acked) {
		return nil
	}
	done := make(chan error, 1)
	m.owner.acks.add(ack{reader: m.owner, id: m.ID, mode: shardkey.AckMode{Delete: del, Fenced: m.owner.sub.FencedAcks}, done: done})
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	m.noteAck(del, err)
	return err
}

// Nack leaves the record pending and has it delivered again after the pause, or after
// Retry.Backoff when after is 0. It is a failed handling and counts as one; like every
// failure it blocks the shard only with Subscription.StrictOrder, and then only when it is
// called before the handler returns.
func (m *Message) Nack(after time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.settled != open {
		return
	}
	m.settled, m.pause = nacked, after
	if m.returned {
		m.owner.again(m.ID, m.Deliveries, after)
	}
}

// settle takes the first decision only.
func (m *Message) settle(as settlement) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.settled != open {
		return false
	}
	m.settled = as
	return true
}

// finish looks at what the handler decided, once it has returned. An open message is passed
// to unsettled before anybody else can settle it.
func (m *Message) finish(unsettled func()) (settlement, time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.returned = true
	if m.settled == open {
		unsettled()
	}
	return m.settled, m.pause
}
