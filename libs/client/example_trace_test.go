package client_test

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// An order is one trace from the request that brought it to the handler of its record. The
// provider is the application's; here it would get an exporter (sdktrace.WithBatcher).
func ExampleOptions_tracing() {
	provider := sdktrace.NewTracerProvider()
	defer func() { _ = provider.Shutdown(context.Background()) }()
	rdb := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	defer func() { _ = rdb.Close() }()
	c, err := client.New(client.Options{CoordinatorURL: "http://localhost:8080", Redis: rdb, TracerProvider: provider})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = c.Close() }()

	publish := func(ctx context.Context, p *client.Producer) error { // in the trace of ctx
		_, err := p.Publish(ctx, "order-123", map[string]any{"total": 7})
		return err
	}
	handle := func(ctx context.Context, m *client.Message) error { // in the trace of the record
		ctx, span := provider.Tracer("shop").Start(ctx, "charge")
		defer span.End()
		trace.SpanFromContext(ctx).AddEvent("charged")
		return m.Ack(ctx)
	}
	_, _ = publish, handle
}
