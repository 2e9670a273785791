package client

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/tracectx"
)

// publishTracer makes the spans of a producer. The zero value makes none, and writes no
// trace context into records.
type publishTracer struct {
	tracer  trace.Tracer
	name    string
	options []trace.SpanStartOption
}

func newPublishTracer(tracer trace.Tracer, stream string) publishTracer {
	return publishTracer{
		tracer: tracer,
		name:   "publish " + stream,
		options: []trace.SpanStartOption{
			trace.WithSpanKind(trace.SpanKindProducer),
			trace.WithAttributes(messaging("publish", semconv.MessagingOperationTypeSend, stream)...),
		},
	}
}

// start begins the span of one record, or of one batch; it is nil when there is none.
func (t *publishTracer) start(ctx context.Context) (context.Context, trace.Span) {
	if t.tracer == nil {
		return ctx, nil
	}
	return t.tracer.Start(ctx, t.name, t.options...)
}

// fields returns what the records of a call carry: the context of its span.
func (t *publishTracer) fields(ctx context.Context) tracectx.Fields {
	if t.tracer == nil {
		return tracectx.Fields{}
	}
	return tracectx.FromContext(ctx)
}

// traceArgsMost is how many arguments traceArgs adds at most.
const traceArgsMost = 4

// traceArgs adds the fields of a trace context to the arguments of an XADD, behind those of
// the application. A record with a context of its own keeps it: two halves of different
// traces would be worth less.
func traceArgs(args []any, fields tracectx.Fields, rec *Record) []any {
	if fields.Parent == "" || rec.hasField(TraceparentField) || rec.hasField(TracestateField) {
		return args
	}
	args = append(args, TraceparentField, fields.Parent)
	if fields.State != "" {
		args = append(args, TracestateField, fields.State)
	}
	return args
}

// endSpan ends the span of one record, if it has one, with how the write ended.
func (w *write) endSpan() {
	if w.span == nil {
		return
	}
	defer w.span.End()
	if !w.span.IsRecording() {
		return
	}
	if w.result.StreamKey != "" {
		w.span.SetAttributes(partition(w.result.Shard))
	}
	if w.err != nil {
		failSpan(w.span, w.err)
		return
	}
	w.span.SetAttributes(semconv.MessagingMessageID(w.result.ID))
}

// endBatch ends the span of a batch, if there is one.
func endBatch(span trace.Span, size int, err error) {
	if span == nil {
		return
	}
	defer span.End()
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(semconv.MessagingBatchMessageCount(size))
	if err != nil {
		failSpan(span, err)
		if partly, ok := errors.AsType[*BatchError](err); ok {
			span.SetAttributes(attribute.Int("rsc.failed", partly.Failed))
		}
	}
}

// noteRetry adds an event to the span of a batch, or to those of its writes where each has
// one of its own.
func noteRetry(batch trace.Span, again ...*write) {
	if batch != nil {
		retryEvent(batch, again[0].err, len(again))
		return
	}
	for _, w := range again {
		if w.span != nil {
			retryEvent(w.span, w.err, 1)
		}
	}
}

func retryEvent(span trace.Span, cause error, records int) {
	if !span.IsRecording() {
		return
	}
	kind, _ := faultOf(cause)
	span.AddEvent("retry", trace.WithAttributes(kind, attribute.Int("rsc.records", records)))
}
