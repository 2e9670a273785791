package sdktest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// canary is a value of a record; no span may have it.
const canary = "canary-of-a-record"

// silent requires that no span tells what is in a record.
func (s *traced) silent() {
	s.t.Helper()
	require.NotEmpty(s.t, s.exporter.GetSpans())
	require.NotContains(s.t, fmt.Sprintf("%+v", s.exporter.GetSpans()), canary)
}

func TestSecondDeliveryGoesOnInTheSameTrace(t *testing.T) {
	t.Parallel()
	for name, strict := range map[string]bool{"in any order": false, "in strict order": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTraced(t, 1)
			_, err := s.producer.Publish(t.Context(), "k", map[string]any{"v": canary})
			require.NoError(t, err)
			s.coord.Assign("a", 0)
			sub := patiently("a")
			sub.StrictOrder = strict
			s.run(sub, func(ctx context.Context, m *client.Message) error {
				if m.Deliveries == 1 {
					return errors.New(m.Fields["v"])
				}
				return m.Ack(ctx)
			})
			processed := s.await(processSpan, 2)
			received := s.await(receiveSpan, 2)
			publish := s.await(publishSpan, 1)[0]
			for n, process := range processed {
				require.Equal(t, publish.SpanContext.TraceID(), process.SpanContext.TraceID())
				require.Equal(t, publish.SpanContext.SpanID(), process.Parent.SpanID())
				require.Equal(t, int64(n+1), attributes(process.Attributes)["rsc.deliveries"])
				require.Equal(t, received[n].SpanContext, process.Links[0].SpanContext, "each is linked to the read that brought it")
				require.Equal(t, publish.SpanContext.SpanID(), received[n].Links[0].SpanContext.SpanID())
			}
			require.Equal(t, codes.Error, processed[0].Status.Code)
			require.Equal(t, "*errors.errorString", attributes(processed[0].Attributes)["error.type"])
			require.Equal(t, codes.Unset, processed[1].Status.Code)
			s.silent()
		})
	}
}

func TestFailedHandlingsSayInWhichWayTheyFailed(t *testing.T) {
	t.Parallel()
	for kind, fail := range map[string]func(m *client.Message) error{
		"panic":    func(*client.Message) error { panic(canary) },
		"nacked":   func(m *client.Message) error { m.Nack(time.Hour); return nil },
		"canceled": func(*client.Message) error { return fmt.Errorf("%s: %w", canary, context.Canceled) },
		"timeout":  func(*client.Message) error { return fmt.Errorf("%s: %w", canary, context.DeadlineExceeded) },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newTraced(t, 1)
			_, err := s.producer.Publish(t.Context(), "k", map[string]any{"v": canary})
			require.NoError(t, err)
			s.coord.Assign("a", 0)
			sub := patiently("a")
			sub.Retry = client.Retry{MinBackoff: time.Hour, MaxBackoff: time.Hour}
			s.run(sub, func(_ context.Context, m *client.Message) error { return fail(m) })
			process := s.await(processSpan, 1)[0]
			require.Equal(t, codes.Error, process.Status.Code)
			require.Equal(t, kind, attributes(process.Attributes)["error.type"])
			s.silent()
		})
	}
}

func TestDeadLetterKeepsTheTraceContextOfItsRecord(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	ctx, call := s.call("order")
	_, err := s.producer.Publish(ctx, "k", map[string]any{"v": canary})
	require.NoError(t, err)
	call.End()
	s.coord.Assign("a", 0)
	told := make(chan trace.TraceID, 1)
	sub := patiently("a")
	sub.Retry.MaxDeliveries = 1
	sub.Retry.DeadLetter = "dead-letters"
	sub.Retry.OnDeadLetter = func(ctx context.Context, _ *client.Message, _ error) error {
		told <- trace.SpanContextFromContext(ctx).TraceID()
		return nil
	}
	s.run(sub, func(context.Context, *client.Message) error { return errHandler })
	require.Equal(t, call.SpanContext().TraceID(), <-told)
	letter := s.entries("dead-letters")[0].Values
	require.Equal(t, s.entries(key(0))[0].Values[client.TraceparentField], letter[client.TraceparentField])
	require.NotEmpty(t, letter[client.TraceparentField])
	s.silent()
}

func TestRecordThatIsRoutedAnewHasOneSpanWithAnEvent(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 2)
	s.routing.setShards(1)
	require.NoError(t, s.rdb.Del(t.Context(), routing.StreamKey(stream, 1)).Err())
	_, err := s.producer.Publish(t.Context(), keyFor(t, 1, 2), map[string]any{"v": canary})
	require.NoError(t, err)
	publish := s.await(publishSpan, 1)[0]
	require.Equal(t, codes.Unset, publish.Status.Code)
	require.Equal(t, "0", attributes(publish.Attributes)["messaging.destination.partition.id"])
	require.Len(t, publish.Events, 1)
	require.Equal(t, "retry", publish.Events[0].Name)
	require.Equal(t, "stale_route", attributes(publish.Events[0].Attributes)["error.type"])
	require.Contains(t, s.entries(key(0))[0].Values[client.TraceparentField], publish.SpanContext.SpanID().String())
	s.silent()
}

// The same for a batch, whose records have no spans of their own, and for buffered records,
// which have.
func TestRecordsThatAreRoutedAnewTogetherEachTellIt(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 2)
	s.routing.setShards(1)
	require.NoError(t, s.rdb.Del(t.Context(), routing.StreamKey(stream, 1)).Err())
	stale := keyFor(t, 1, 2)
	_, err := s.producer.PublishBatch(t.Context(), []client.Record{{Key: keyFor(t, 0, 2)}, {Key: stale}, {Key: stale}})
	require.NoError(t, err)
	batch := s.await(publishSpan, 1)[0]
	require.Len(t, batch.Events, 1)
	require.Equal(t, map[string]any{"error.type": "stale_route", "rsc.records": int64(2)}, attributes(batch.Events[0].Attributes))

	s.routing.setShards(2)
	require.NoError(t, s.producer.Refresh(t.Context()))
	s.routing.setShards(1)
	s.exporter.Reset()
	require.NoError(t, s.producer.PublishAsync(t.Context(), client.Record{Key: stale}, nil))
	require.NoError(t, s.producer.Flush(t.Context()))
	buffered := s.await(publishSpan, 1)[0]
	require.Len(t, buffered.Events, 1)
	require.Equal(t, codes.Unset, buffered.Status.Code)
}

func TestRecordThatIsNotWrittenTellsWhyAndNotWhat(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	rec := client.Record{Key: "k", Fields: map[string]any{"v": canary}}
	odd := client.Record{Key: "k", Values: []any{canary}}
	fails := func(kind string, publish func() error) {
		t.Helper()
		s.exporter.Reset()
		require.Error(t, publish())
		failed := s.await(publishSpan, 1)[0]
		require.Equal(t, codes.Error, failed.Status.Code)
		require.Equal(t, kind, attributes(failed.Attributes)["error.type"])
		s.silent()
	}
	every := func(kind string, rec client.Record) {
		t.Helper()
		fails(kind, func() error { _, err := s.producer.PublishRecord(t.Context(), rec); return err })
		fails(kind, func() error { _, err := s.producer.PublishBatch(t.Context(), []client.Record{rec}); return err })
		fails(kind, func() error { return s.producer.PublishAsync(t.Context(), rec, nil) })
	}
	every("invalid_record", odd)
	require.NoError(t, s.producer.Pause(t.Context()))
	every("paused", rec)
	s.producer.Resume()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	fails("canceled", func() error { _, err := s.producer.PublishRecord(ended, rec); return err })
	require.NoError(t, s.rdb.Del(t.Context(), key(0)).Err())
	fails("stale_route", func() error { _, err := s.producer.PublishRecord(t.Context(), rec); return err })
	fails("stale_route", func() error {
		var failed error
		require.NoError(t, s.producer.PublishAsync(t.Context(), rec, func(_ client.Result, err error) { failed = err }))
		require.NoError(t, s.producer.Flush(t.Context()))
		return failed
	})
	require.NoError(t, s.producer.Close(t.Context()))
	every("closed", rec)
}

func TestWriteThatIsUncertainSaysSo(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	cutter := newCutter()
	cut := cutter.client(s.redis.Addr())
	t.Cleanup(func() { require.NoError(t, cut.Close()) })
	s.rdb = cut
	p := s.newProducer(client.ProducerOptions{})
	cutter.arm(1, 0)
	_, err := p.Publish(t.Context(), "k", map[string]any{"v": canary})
	require.ErrorIs(t, err, client.ErrUncertain)
	failed := s.await(publishSpan, 1)[0]
	require.Equal(t, "uncertain", attributes(failed.Attributes)["error.type"])
	require.Equal(t, client.ErrUncertain.Error(), failed.Status.Description)
	s.silent()
}
