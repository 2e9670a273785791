package tracectx

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// The names under which a record carries its trace context. They are those of the HTTP
// headers.
const (
	Parent = "traceparent"
	State  = "tracestate"
)

// maxField bounds the values in bytes, read and written: what W3C Trace Context asks everybody
// to pass on of a tracestate, and nine times a traceparent of today.
const maxField = 512

// Fields is a trace context as text. The zero value is none.
type Fields struct {
	Parent, State string
}

// FromContext returns the fields of the span in ctx, zero when it has none that is valid. A
// state that is too long is left out: it is an addition that others must not depend on.
func FromContext(ctx context.Context) Fields {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return Fields{}
	}
	return inject(ctx)
}

// inject is apart because its fields escape, which would cost who has no span as well.
func inject(ctx context.Context) Fields {
	var f Fields
	propagation.TraceContext{}.Inject(ctx, &f)
	if len(f.State) > maxField {
		f.State = ""
	}
	return f
}

// SpanContext returns what the fields say, as the context of a remote span; it is not valid
// when they say nothing that can be used, whatever span ctx has.
func (f Fields) SpanContext(ctx context.Context) trace.SpanContext {
	if f.Parent == "" || len(f.Parent) > maxField {
		return trace.SpanContext{}
	}
	return f.extract(ctx)
}

func (f Fields) extract(ctx context.Context) trace.SpanContext {
	if len(f.State) > maxField {
		f.State = ""
	}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(Detach(ctx), &f))
}

// SetHeader adds the trace context of ctx, if it has one, to the headers of a request.
func SetHeader(ctx context.Context, header http.Header) {
	f := FromContext(ctx)
	if f.Parent == "" {
		return
	}
	header.Set(Parent, f.Parent)
	if f.State != "" {
		header.Set(State, f.State)
	}
}

// Detach returns ctx without its span. What runs in the background for as long as the process
// must not go on in the trace of the call that started it: that trace would never end.
func Detach(ctx context.Context) context.Context {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	return trace.ContextWithSpanContext(ctx, trace.SpanContext{})
}

// Get implements propagation.TextMapCarrier.
func (f *Fields) Get(name string) string {
	switch name {
	case Parent:
		return f.Parent
	case State:
		return f.State
	default:
		return ""
	}
}

// Set implements propagation.TextMapCarrier.
func (f *Fields) Set(name, value string) {
	switch name {
	case Parent:
		f.Parent = value
	case State:
		f.State = value
	}
}

// Keys implements propagation.TextMapCarrier.
func (f *Fields) Keys() []string { return []string{Parent, State} }
