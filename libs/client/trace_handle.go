package client

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/shardkey"
	"github.com/redis-stream-coordinator/rsc/libs/client/internal/tracectx"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// maxLinks bounds the links of one receive span.
const maxLinks = 128

// handleTracer makes the spans of a reader. The zero value makes none; the trace contexts of
// records are passed on all the same.
type handleTracer struct {
	tracer           trace.Tracer
	receive, process string
	received         []attribute.KeyValue
	processed        []attribute.KeyValue
}

func newHandleTracer(tracer trace.Tracer, g *grant, sub Subscription) handleTracer {
	if tracer == nil {
		return handleTracer{}
	}
	owner := []attribute.KeyValue{
		partition(g.shard),
		semconv.MessagingConsumerGroupName(sub.Group),
		attribute.String("rsc.member_id", g.session.id),
		attribute.Int64("rsc.fence_token", g.fence),
	}
	return handleTracer{
		tracer:    tracer,
		receive:   "receive " + sub.Stream,
		process:   "process " + sub.Stream,
		received:  append(messaging("receive", semconv.MessagingOperationTypeReceive, sub.Stream), owner...),
		processed: append(messaging("process", semconv.MessagingOperationTypeProcess, sub.Stream), owner...),
	}
}

// now is when a read is sent; it is not asked for without a tracer.
func (t *handleTracer) now() time.Time {
	if t.tracer == nil {
		return time.Time{}
	}
	return clock.Now()
}

// reads makes the span of a read or a claim that was sent at began and has brought records,
// and returns its context. One that brought none gets no span: a reader that waits would
// make several in a second, without end.
func (t *handleTracer) reads(ctx context.Context, began time.Time, records []shardkey.Record) trace.SpanContext {
	if t.tracer == nil || len(records) == 0 {
		return trace.SpanContext{}
	}
	links := make([]trace.Link, 0, min(len(records), maxLinks))
	for _, record := range records {
		if len(links) == maxLinks {
			break
		}
		if from := traceOf(ctx, record); from.IsValid() {
			links = append(links, trace.Link{SpanContext: from})
		}
	}
	_, span := t.tracer.Start(ctx, t.receive,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(began), trace.WithLinks(links...),
		trace.WithAttributes(t.received...), trace.WithAttributes(semconv.MessagingBatchMessageCount(len(records))))
	span.End()
	return span.SpanContext()
}

// begin starts the span of a handling and returns the handler's context: with that span, or
// with the record's own trace context where no spans are made.
func (t *handleTracer) begin(ctx context.Context, m *Message) context.Context {
	ctx = m.traced(ctx)
	if t.tracer == nil {
		return ctx
	}
	var links []trace.Link
	if m.received.IsValid() {
		links = []trace.Link{{SpanContext: m.received}}
	}
	ctx, m.span = t.tracer.Start(ctx, t.process,
		trace.WithSpanKind(trace.SpanKindConsumer), trace.WithLinks(links...), trace.WithAttributes(t.processed...),
		trace.WithAttributes(semconv.MessagingMessageID(m.ID), attribute.Int64("rsc.deliveries", m.Deliveries)))
	return ctx
}

// traceOf returns the trace context that a record carries.
func traceOf(ctx context.Context, record shardkey.Record) trace.SpanContext {
	parent, _ := record.Values[TraceparentField].(string)
	state, _ := record.Values[TracestateField].(string)
	return tracectx.Fields{Parent: parent, State: state}.SpanContext(ctx)
}

// TraceContext returns the trace context that the record carries, which is that of the span
// in which it was published; it is not valid when the record carries none that can be read.
// The handler's context has it already, as the parent of new spans, also without
// Options.TracerProvider.
func (m *Message) TraceContext() trace.SpanContext { return m.trace }

// traced returns ctx with the record's trace context.
func (m *Message) traced(ctx context.Context) context.Context {
	if !m.trace.IsValid() {
		return ctx
	}
	return trace.ContextWithRemoteSpanContext(ctx, m.trace)
}

// endSpan ends the span of the handling, if there is one.
func (m *Message) endSpan(err error) {
	if m.span == nil {
		return
	}
	if err != nil && m.span.IsRecording() {
		failSpan(m.span, err)
	}
	m.span.End()
}

// noteAck adds the outcome of an acknowledgement to the span of the handling, if that is
// still going on.
func (m *Message) noteAck(deleted bool, err error) {
	if m.span == nil || !m.span.IsRecording() {
		return
	}
	attributes := []attribute.KeyValue{attribute.Bool("rsc.deleted", deleted)}
	if err != nil {
		kind, _ := faultOf(err)
		attributes = append(attributes, kind)
	}
	m.span.AddEvent("ack", trace.WithAttributes(attributes...))
}
