package client

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/tracectx"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// The fields in which a record carries its trace context, in the format of W3C Trace Context.
// They are written when Options.TracerProvider is set, stay in Message.Fields as every other
// field, and go along into a dead letter. A record that has one of them already keeps its
// own, and gets neither.
const (
	TraceparentField = tracectx.Parent
	TracestateField  = tracectx.State
)

// tracerName is the instrumentation scope of the spans.
const tracerName = "github.com/redis-stream-coordinator/rsc/libs/client"

// newTracer returns the tracer of a Client, nil without a provider: then no spans are made.
func newTracer(provider trace.TracerProvider) trace.Tracer {
	if provider == nil {
		return nil
	}
	return provider.Tracer(tracerName, trace.WithSchemaURL(semconv.SchemaURL))
}

// messaging returns the attributes that all spans of an operation on a stream share.
func messaging(operation string, kind attribute.KeyValue, stream string) []attribute.KeyValue {
	return []attribute.KeyValue{
		semconv.MessagingSystemKey.String("redis"),
		semconv.MessagingOperationName(operation),
		kind,
		semconv.MessagingDestinationName(stream),
	}
}

func partition(shard int) attribute.KeyValue {
	return semconv.MessagingDestinationPartitionID(strconv.Itoa(shard))
}

// failSpan notes what kind of error err is. Its text is left out: it may repeat values of a
// record, and bytes that no exporter takes.
func failSpan(span trace.Span, err error) {
	kind, meaning := faultOf(err)
	span.SetAttributes(kind)
	span.SetStatus(codes.Error, meaning)
}

// faultOf returns the kind of an error and what it means.
func faultOf(err error) (kind attribute.KeyValue, meaning string) {
	for _, known := range [...]struct {
		err  error
		kind string
	}{ // what an error comes to stands before what it was caused by
		{ErrUncertain, "uncertain"},
		{ErrStaleRoute, "stale_route"},
		{ErrRoutingExpired, "routing_expired"},
		{ErrNoShards, "no_shards"},
		{ErrPaused, "paused"},
		{ErrProducerClosed, "closed"},
		{ErrBufferFull, "buffer_full"},
		{ErrInvalidRecord, "invalid_record"},
		{ErrNotOwner, "not_owner"},
		{errNacked, "nacked"},
		{errPanicked, "panic"},
		{context.Canceled, "canceled"},
		{context.DeadlineExceeded, "timeout"},
	} {
		if errors.Is(err, known.err) {
			return semconv.ErrorTypeKey.String(known.kind), known.err.Error()
		}
	}
	if state := redisx.StateOf(err); state != redisx.StateOK && state != redisx.StateOther {
		return semconv.ErrorTypeKey.String(strings.ToLower(string(state))), "Redis: " + string(state)
	}
	return semconv.ErrorType(err), ""
}
