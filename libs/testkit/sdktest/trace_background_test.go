package sdktest

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// header notes the trace contexts of requests by the last part of their paths.
type header struct {
	mu   sync.Mutex
	sent map[string][]string
}

func (h *header) RoundTrip(r *http.Request) (*http.Response, error) {
	name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	h.mu.Lock()
	h.sent[name] = append(h.sent[name], r.Header.Get(client.TraceparentField))
	h.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r)
}

func (h *header) of(name string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sent[name]
}

func (s *traced) watched(url string) (*client.Client, *header) {
	s.t.Helper()
	seen := &header{sent: map[string][]string{}}
	c, err := client.New(client.Options{
		CoordinatorURL: url, Redis: s.rdb, TracerProvider: s.provider, HTTPClient: &http.Client{Transport: seen},
	})
	require.NoError(s.t, err)
	return c, seen
}

// The span of the call that starts a consumer is not that of what the consumer does for the
// rest of its life.
func TestConsumerDoesNotGoOnInTheTraceOfTheCallThatStartedIt(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	c, seen := s.watched(s.coord.URL())
	s.publish(0, 0, 1) // without a trace context
	s.coord.Assign("a", 0)
	var book ledger
	consumer, err := c.NewConsumer(patiently("a"), book.acking)
	require.NoError(t, err)
	ctx, call := s.call("start")
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- consumer.Run(ctx) }()
	process := s.await(processSpan, 1)[0]
	eventually(t, func() bool { return len(seen.of("heartbeat")) > 3 }, "heartbeats go on")
	stop()
	require.NoError(t, <-ended)
	call.End()
	for _, sent := range seen.of("heartbeat") {
		require.Empty(t, sent)
	}
	require.False(t, process.Parent.IsValid(), "a record without a trace context begins one")
	require.NotEqual(t, call.SpanContext().TraceID(), process.SpanContext.TraceID())
	require.False(t, s.await(receiveSpan, 1)[0].Parent.IsValid())
	require.Empty(t, s.spans("POST /coord/v1/streams/{streamPrefix}/groups/{consumerGroup}/members/{memberId}/heartbeat"))
}

func TestOnlyTheFirstRoutingRequestOfAProducerIsInTheTraceOfItsCall(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	c, seen := s.watched(s.routing.url)
	ctx, call := s.call("start")
	p, err := c.NewProducer(ctx, stream, group, client.ProducerOptions{})
	require.NoError(t, err)
	require.NoError(t, p.Refresh(ctx))
	require.NoError(t, p.Close(ctx))
	call.End()
	sent := seen.of("producer-routing")
	require.Len(t, sent, 2)
	require.Contains(t, sent[0], call.SpanContext().TraceID().String()+"-"+call.SpanContext().SpanID().String())
	require.Empty(t, sent[1])
}

func TestReadsThatBringNothingHaveNoSpans(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	s.coord.Assign("a", 0)
	var book ledger
	a := s.run(subscription("a"), book.acking)
	eventually(t, func() bool { return s.calls("xreadgroup") >= 5 }, "it reads")
	require.NoError(t, a.end())
	require.Empty(t, s.exporter.GetSpans())
}

// What a handler leaves to others is settled after its span has ended.
func TestLateAcknowledgementHarmsNoSpan(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	_, err := s.producer.Publish(t.Context(), "k", nil)
	require.NoError(t, err)
	s.coord.Assign("a", 0)
	var late sync.WaitGroup
	t.Cleanup(late.Wait)
	s.run(patiently("a"), func(ctx context.Context, m *client.Message) error {
		late.Go(func() { _ = m.Ack(context.WithoutCancel(ctx)) })
		return nil
	})
	eventually(t, func() bool { return s.pending(0) == 0 && len(s.spans(processSpan)) == 1 }, "it is acknowledged")
}

func TestReceiveSpanHasAtMost128Links(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	records := make([]client.Record, 200)
	_, err := s.producer.PublishBatch(t.Context(), records)
	require.NoError(t, err)
	s.coord.Assign("a", 0)
	sub := patiently("a")
	sub.BatchSize = len(records)
	sub.AckMode = client.AckAfterHandler
	s.run(sub, func(context.Context, *client.Message) error { return nil })
	processed := s.await(processSpan, len(records))
	receive := s.await(receiveSpan, 1)[0]
	require.Len(t, receive.Links, 128)
	require.Zero(t, receive.DroppedLinks)
	for _, process := range processed {
		require.Equal(t, receive.SpanContext, process.Links[0].SpanContext)
	}
}
