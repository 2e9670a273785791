package sdktest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// Data-plane, Observability: publish, receive and handle, with links.
func TestRecordIsPublishedReceivedAndHandledInOneTrace(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 2)
	ctx, call := s.call("order")
	result, err := s.producer.Publish(ctx, keyFor(t, 1, 2), map[string]any{"n": 7})
	require.NoError(t, err)
	call.End()
	s.coord.Assign("a", 0, 1)
	handled := make(chan trace.SpanContext, 1)
	s.run(patiently("a"), func(ctx context.Context, m *client.Message) error {
		handled <- trace.SpanContextFromContext(ctx)
		return m.Ack(ctx)
	})
	process := s.await(processSpan, 1)[0]
	publish, receive := s.await(publishSpan, 1)[0], s.await(receiveSpan, 1)[0]

	require.Equal(t, call.SpanContext().TraceID(), publish.SpanContext.TraceID())
	require.Equal(t, call.SpanContext().SpanID(), publish.Parent.SpanID())
	require.Equal(t, trace.SpanKindProducer, publish.SpanKind)
	require.Equal(t, map[string]any{
		"messaging.system": "redis", "messaging.operation.name": "publish", "messaging.operation.type": "send",
		"messaging.destination.name": stream, "messaging.destination.partition.id": "1", "messaging.message.id": result.ID,
	}, attributes(publish.Attributes))

	require.True(t, publish.SpanContext.Equal(process.Parent.WithRemote(false)), "the handling goes on where the record was published")
	require.True(t, process.Parent.IsRemote())
	require.Equal(t, trace.SpanKindConsumer, process.SpanKind)
	require.Equal(t, process.SpanContext, <-handled, "the handler's context has the span")
	attrs := attributes(process.Attributes)
	require.Positive(t, attrs["rsc.fence_token"])
	delete(attrs, "rsc.fence_token")
	require.Equal(t, map[string]any{
		"messaging.system": "redis", "messaging.operation.name": "process", "messaging.operation.type": "process",
		"messaging.destination.name": stream, "messaging.destination.partition.id": "1", "messaging.message.id": result.ID,
		"messaging.consumer.group.name": group, "rsc.member_id": "a", "rsc.deliveries": int64(1),
	}, attrs)
	require.Equal(t, codes.Unset, process.Status.Code)
	require.Len(t, process.Events, 1)
	require.Equal(t, "ack", process.Events[0].Name)

	require.NotEqual(t, publish.SpanContext.TraceID(), receive.SpanContext.TraceID(), "a read has records of many traces")
	require.Equal(t, trace.SpanKindClient, receive.SpanKind)
	require.Len(t, process.Links, 1)
	require.Equal(t, receive.SpanContext, process.Links[0].SpanContext)
	require.Len(t, receive.Links, 1)
	require.Equal(t, publish.SpanContext.SpanID(), receive.Links[0].SpanContext.SpanID())
	require.Equal(t, int64(1), attributes(receive.Attributes)["messaging.batch.message_count"])
	require.False(t, receive.StartTime.After(receive.EndTime))
}

func TestBatchIsOneSpanAndItsRecordsGoOnInIt(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 2)
	ctx, call := s.call("orders")
	records := []client.Record{{Key: "a"}, {Key: "b"}, {Key: "c", Values: []any{"n", 1}}}
	_, err := s.producer.PublishBatch(ctx, records)
	require.NoError(t, err)
	call.End()
	publish := s.await(publishSpan, 1)[0]
	require.Equal(t, call.SpanContext().SpanID(), publish.Parent.SpanID())
	require.Equal(t, int64(3), attributes(publish.Attributes)["messaging.batch.message_count"])
	s.coord.Assign("a", 0, 1)
	var book ledger
	s.run(patiently("a"), book.acking)
	for _, process := range s.await(processSpan, 3) {
		require.Equal(t, publish.SpanContext.SpanID(), process.Parent.SpanID())
		require.Equal(t, call.SpanContext().TraceID(), process.SpanContext.TraceID())
	}
}

func TestBufferedRecordsHaveTheSpansOfTheirCalls(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	calls := map[trace.TraceID]trace.SpanID{}
	ended := make(chan []tracetest.SpanStub, 3)
	for range 3 {
		ctx, call := s.call("order")
		calls[call.SpanContext().TraceID()] = call.SpanContext().SpanID()
		require.NoError(t, s.producer.PublishAsync(ctx, client.Record{Key: "k"}, func(r client.Result, err error) {
			if err == nil {
				ended <- s.spans(publishSpan)
			}
		}))
		call.End()
	}
	for n := range 3 {
		require.GreaterOrEqual(t, len(<-ended), n+1, "a span has ended when its outcome is told")
	}
	published := map[trace.TraceID]trace.SpanID{}
	for _, publish := range s.await(publishSpan, 3) {
		require.Equal(t, calls[publish.SpanContext.TraceID()], publish.Parent.SpanID())
		require.NotEmpty(t, attributes(publish.Attributes)["messaging.message.id"])
		published[publish.SpanContext.TraceID()] = publish.SpanContext.SpanID()
	}
	require.Len(t, published, 3)
	s.coord.Assign("a", 0)
	var book ledger
	s.run(patiently("a"), book.acking)
	for _, process := range s.await(processSpan, 3) {
		require.Equal(t, published[process.SpanContext.TraceID()], process.Parent.SpanID())
	}
}
