package tracing

import (
	"context"
	"math/rand/v2"
	"net/http"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

const (
	headerParent = "Traceparent"
	headerState  = "Tracestate"
	// maxState bounds what is handed on of other tracing systems, in bytes; W3C Trace Context
	// asks for 512. It is in every span that is exported.
	maxState = 512
)

// incoming returns the context of a request with the trace that its headers name, the same
// one where they name none. Baggage is never looked at.
func (t *Tracing) incoming(ctx context.Context, header http.Header) context.Context {
	parent := header[headerParent]
	if len(parent) != 1 {
		return ctx
	}
	said := propagation.MapCarrier{"traceparent": parent[0]}
	if state := header[headerState]; len(state) == 1 && len(state[0]) <= maxState {
		said["tracestate"] = state[0]
	}
	ctx = propagation.TraceContext{}.Extract(ctx, said)
	if t.edge {
		return t.decided(ctx)
	}
	return ctx
}

// decided replaces what a stranger says about the recording of its trace by a draw. It must
// not go by the trace id, which the stranger has chosen.
func (t *Tracing) decided(ctx context.Context) context.Context {
	named := trace.SpanContextFromContext(ctx)
	if !named.IsValid() {
		return ctx
	}
	drawn := rand.Float64() < t.ratio
	return trace.ContextWithRemoteSpanContext(ctx, named.WithTraceFlags(named.TraceFlags().WithSampled(drawn)))
}

// handOn writes the trace of a context into the headers of a request that goes out.
func handOn(ctx context.Context, into http.Header) {
	said := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, said)
	into.Del(headerState)
	if parent := said["traceparent"]; parent != "" {
		into[headerParent] = []string{parent}
	}
	if state := said["tracestate"]; state != "" {
		into[headerState] = []string{state}
	}
}
