package sdktest

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// traced is a stand whose clients make spans that the test can look at.
type traced struct {
	*stand

	exporter *tracetest.InMemoryExporter
	provider *sdktrace.TracerProvider
	routing  *routingServer
	producer *client.Producer
}

// newTraced starts a stand with a producer. Spans are exported the moment they end.
func newTraced(t *testing.T, shards int, opts ...sdktrace.TracerProviderOption) *traced {
	t.Helper()
	s := &traced{exporter: tracetest.NewInMemoryExporter()}
	s.provider = sdktrace.NewTracerProvider(append(opts, sdktrace.WithSyncer(s.exporter))...)
	s.stand = newStand(t, shards)
	s.client = s.clientOf(s.coord.URL())
	s.routing = startRouting(t, shards)
	s.producer = s.newProducer(client.ProducerOptions{})
	return s
}

func (s *traced) clientOf(url string) *client.Client {
	s.t.Helper()
	c, err := client.New(client.Options{CoordinatorURL: url, Redis: s.rdb, TracerProvider: s.provider})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (s *traced) newProducer(opts client.ProducerOptions) *client.Producer {
	s.t.Helper()
	p, err := s.clientOf(s.routing.url).NewProducer(s.t.Context(), stream, group, opts)
	require.NoError(s.t, err)
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.t.Context()), patience)
		defer cancel()
		require.NoError(s.t, p.Close(ctx))
	})
	return p
}

// call returns the context of a span of the application.
func (s *traced) call(name string) (context.Context, trace.Span) {
	return s.provider.Tracer("application").Start(s.t.Context(), name)
}

// spans returns those that have ended, by their name.
func (s *traced) spans(name string) []tracetest.SpanStub {
	var found []tracetest.SpanStub
	for _, one := range s.exporter.GetSpans() {
		if one.Name == name {
			found = append(found, one)
		}
	}
	return found
}

// await returns the spans of a name when there are so many.
func (s *traced) await(name string, count int) []tracetest.SpanStub {
	s.t.Helper()
	eventually(s.t, func() bool { return len(s.spans(name)) >= count }, name)
	found := s.spans(name)
	require.Len(s.t, found, count, name)
	return found
}

// The names of the spans.
const (
	publishSpan = "publish " + stream
	receiveSpan = "receive " + stream
	processSpan = "process " + stream
)

// attributes returns those of a span, or of an event.
func attributes(list []attribute.KeyValue) map[string]any {
	found := make(map[string]any, len(list))
	for _, one := range list {
		found[string(one.Key)] = one.Value.AsInterface()
	}
	return found
}

// entries returns the records of a stream as Redis has them.
func (s *stand) entries(key string) []redis.XMessage {
	s.t.Helper()
	found, err := s.rdb.XRange(s.t.Context(), key, "-", "+").Result()
	require.NoError(s.t, err)
	return found
}

// patiently is a subscription whose reads are not given up, and repeated as claims, when the
// machine stands still for a moment.
func patiently(id string) client.Subscription {
	sub := subscription(id)
	sub.PollTimeout = 5 * time.Second
	return sub
}
