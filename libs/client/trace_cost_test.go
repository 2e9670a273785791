package client

import (
	"testing"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/shardkey"
	"github.com/redis-stream-coordinator/rsc/libs/client/internal/tracectx"
)

// BenchmarkPublishTraced shows what spans cost: nothing without a provider, one allocation
// with one that does nothing, see TestPublishAllocatesNoMoreThanTheRedisClient for the first.
func BenchmarkPublishTraced(b *testing.B) {
	for name, provider := range map[string]trace.TracerProvider{
		"nil":     nil,
		"noop":    noop.NewTracerProvider(),
		"dropped": sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())),
		"sampled": sdktrace.NewTracerProvider(),
	} {
		b.Run(name, func(b *testing.B) {
			p := instantProducer(b, ProducerOptions{MaxLen: 1000})
			if provider != nil {
				p.spans = newPublishTracer(newTracer(provider), "orders")
				p.encoder.spare = traceArgsMost
			}
			fields := map[string]any{"payload": []byte("payload"), "n": 7}
			b.ReportAllocs()
			for b.Loop() {
				_, _ = p.Publish(b.Context(), "order-1", fields)
			}
		})
	}
}

// A record without a trace context costs its handling nothing.
func BenchmarkTraceOfAPlainRecord(b *testing.B) {
	record := shardkey.Record{ID: "1-1", Values: map[string]any{"payload": "p"}}
	var spans handleTracer
	b.ReportAllocs()
	for b.Loop() {
		m := Message{trace: traceOf(b.Context(), record)}
		_ = spans.begin(b.Context(), &m)
		m.noteAck(false, nil)
		m.endSpan(nil)
		_ = spans.reads(b.Context(), spans.now(), []shardkey.Record{})
	}
}

func TestProviderThatDoesNothingAddsNothingToRecords(t *testing.T) {
	t.Parallel()
	spans := newPublishTracer(newTracer(noop.NewTracerProvider()), "orders")
	ctx, span := spans.start(t.Context())
	require.Empty(t, spans.fields(ctx), "there is no trace to go on with")
	span.End()
	rec := Record{Values: []any{"n", 1}}
	require.Equal(t, []any{"n", 1}, traceArgs([]any{"n", 1}, spans.fields(ctx), &rec))
}

func TestProviderThatDoesNothingPassesOnTheTraceOfTheCall(t *testing.T) {
	t.Parallel()
	call, span := sdktrace.NewTracerProvider().Tracer("application").Start(t.Context(), "call")
	defer span.End()
	spans := newPublishTracer(newTracer(noop.NewTracerProvider()), "orders")
	ctx, _ := spans.start(call)
	require.Equal(t, tracectx.FromContext(call), spans.fields(ctx))
	require.NotEmpty(t, spans.fields(ctx).Parent)
	var none publishTracer
	require.Empty(t, none.fields(call), "without a provider nothing is added to records")
}

func TestFieldsOfATraceFitIntoTheRoomThatIsLeftForThem(t *testing.T) {
	t.Parallel()
	e := newEncoder(ProducerOptions{MaxLen: 10})
	e.spare = traceArgsMost
	rec := Record{Key: "k", Fields: map[string]any{"n": 1}, Values: []any{"m", 2}}
	args, err := e.args(&rec)
	require.NoError(t, err)
	require.GreaterOrEqual(t, cap(args)-len(args), traceArgsMost)
}
