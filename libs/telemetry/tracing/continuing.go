package tracing

import (
	"context"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
	"go.opentelemetry.io/otel/trace/noop"
)

// Continuing returns the provider of tracers for a library that makes spans of its own, such
// as the SDK: within a span of this service theirs are recorded, outside of one none are. So
// what a service asks by itself, again and again, begins no traces. It is nil where nothing is
// recorded.
func (t *Tracing) Continuing() trace.TracerProvider {
	if !t.On() {
		return nil
	}
	return continuing{of: t}
}

type continuing struct {
	embedded.TracerProvider

	of *Tracing
}

// Tracer implements trace.TracerProvider.
func (c continuing) Tracer(name string, options ...trace.TracerOption) trace.Tracer {
	return continuingTracer{
		of: c.of, inner: c.of.provider.Tracer(name, options...), idle: noop.NewTracerProvider().Tracer(name),
	}
}

type continuingTracer struct {
	embedded.Tracer

	of    *Tracing
	inner trace.Tracer
	idle  trace.Tracer // records nothing and hands on the trace
}

// Start implements trace.Tracer.
func (c continuingTracer) Start(ctx context.Context, name string, options ...trace.SpanStartOption) (context.Context, trace.Span) {
	if !c.of.within(ctx) {
		return c.idle.Start(ctx, name, options...)
	}
	return c.inner.Start(ctx, name, options...)
}
