package tracing

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Peer is another service that is asked for something.
type Peer struct {
	// Service is its name, Address its host and port.
	Service, Address string
	// Method and Route are what is asked for, as in About; Route may be empty.
	Method, Route string
	// Try counts from 0 how often the same was asked before.
	Try int
}

// Call is one request to another service. The zero value records nothing.
type Call struct {
	// ctx has the span to hand on; nil where there is no trace.
	ctx  context.Context
	span trace.Span // nil where nothing is recorded
}

// Call begins a call within the span of ctx; end it with End. Without a span, or in a trace
// that is not recorded, it only hands on the trace. It begins no trace.
func (t *Tracing) Call(ctx context.Context, to Peer) Call {
	if t == nil || !trace.SpanContextFromContext(ctx).IsValid() {
		return Call{}
	}
	if !t.within(ctx) {
		return Call{ctx: ctx}
	}
	attributes := []attribute.KeyValue{
		keyMethod.String(to.Method), attribute.String("peer.service", to.Service), attribute.String("server.address", to.Address),
	}
	if to.Route != "" {
		attributes = append(attributes, keyRoute.String(to.Route))
	}
	if to.Try > 0 {
		attributes = append(attributes, attribute.Int("http.request.resend_count", to.Try))
	}
	ctx, span := t.tracer.Start(ctx, nameOf(to.Method, to.Route), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	return Call{ctx: ctx, span: span}
}

// within tells whether ctx has a span of this service that is recorded and not over yet.
func (t *Tracing) within(ctx context.Context) bool {
	if !t.On() {
		return false
	}
	span := trace.SpanFromContext(ctx)
	return span.IsRecording() && span.TracerProvider() == t.provider
}

// Traced tells whether there is a trace to hand on.
func (c Call) Traced() bool { return c.ctx != nil }

// HandOn writes the trace into the headers of the request, in place of what they say of one.
func (c Call) HandOn(into http.Header) {
	if c.ctx != nil {
		handOn(c.ctx, into)
	}
}

// Answered ends the call with the status of its answer, and the code where that is a refusal.
func (c Call) Answered(status int, refusal protocol.Code) {
	if c.span == nil {
		return
	}
	judge(c.span, status, refusal)
	c.span.End()
}

// Failed ends the call without an answer. Of err nothing is exported but its kind.
func (c Call) Failed(err error) {
	if c.span == nil {
		return
	}
	c.span.SetAttributes(keyError.String(kindOf(err)))
	c.span.SetStatus(codes.Error, "")
	c.span.End()
}
