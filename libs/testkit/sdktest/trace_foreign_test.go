package sdktest

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/scriptcoord"
)

const (
	foreignTrace  = "0af7651916cd43dd8448eb211c80319c"
	foreignParent = "00-" + foreignTrace + "-b7ad6b7169203331-01"
)

func TestWithoutAProviderRecordsGetNoFieldsAndHandlersGetTheTraceContext(t *testing.T) {
	t.Parallel()
	s := newStandOn(t, redisproc.Start(t).Client(t), 1)
	p := newProducer(t, startRouting(t, 1), s.rdb, client.ProducerOptions{})
	ctx, call := sdktrace.NewTracerProvider().Tracer("application").Start(t.Context(), "call")
	defer call.End()
	_, err := p.Publish(ctx, "plain", map[string]any{"n": 0})
	require.NoError(t, err)
	require.Equal(t, map[string]any{client.KeyField: "plain", "n": "0"}, s.entries(key(0))[0].Values)
	_, err = p.Publish(ctx, "traced", map[string]any{"n": 1, client.TraceparentField: foreignParent, client.TracestateField: "vendor=a"})
	require.NoError(t, err)

	s.coord.Assign("a", 0)
	type handling struct {
		m  *client.Message
		in trace.SpanContext
	}
	handled := make(chan handling, 2)
	s.run(patiently("a"), func(ctx context.Context, m *client.Message) error {
		handled <- handling{m, trace.SpanContextFromContext(ctx)}
		return m.Ack(ctx)
	})
	plain, other := <-handled, <-handled
	require.False(t, plain.in.IsValid())
	require.False(t, plain.m.TraceContext().IsValid())
	require.Equal(t, foreignTrace, other.in.TraceID().String())
	require.True(t, other.in.IsRemote())
	require.True(t, other.in.IsSampled())
	require.Equal(t, "vendor=a", other.in.TraceState().String())
	require.Equal(t, other.in, other.m.TraceContext())
	require.Equal(t, map[string]string{
		"n": "1", client.TraceparentField: foreignParent, client.TracestateField: "vendor=a",
	}, other.m.Fields, "the fields stay")
}

func TestRecordKeepsATraceContextOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	for name, own := range map[string]struct {
		field string
		value any
		text  string
	}{
		"as a string":   {client.TraceparentField, foreignParent, foreignParent},
		"as bytes":      {client.TraceparentField, []byte(foreignParent), foreignParent},
		"as a number":   {client.TraceparentField, 7, "7"},
		"the other one": {client.TracestateField, "mine", "mine"},
	} {
		require.NoError(t, s.rdb.XTrimMaxLen(t.Context(), key(0), 0).Err())
		rec := client.Record{Key: "k", Values: []any{own.field, own.value}}
		_, err := s.producer.PublishRecord(t.Context(), rec)
		require.NoError(t, err)
		_, err = s.producer.PublishBatch(t.Context(), []client.Record{{Key: "k", Fields: map[string]any{own.field: own.value}}})
		require.NoError(t, err)
		require.NoError(t, s.producer.PublishAsync(t.Context(), rec, nil))
		require.NoError(t, s.producer.Flush(t.Context()))
		entries := s.entries(key(0))
		require.Len(t, entries, 3, name)
		for _, entry := range entries {
			require.Equal(t, map[string]any{client.KeyField: "k", own.field: own.text}, entry.Values, name)
		}
	}
	require.Len(t, s.spans(publishSpan), 12, "they have spans all the same")
}

func TestHostileTraceContextsLoseNoRecord(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]func(*testing.T) *stand{
		"with a provider":    func(t *testing.T) *stand { t.Helper(); return newTraced(t, 1).stand },
		"without a provider": func(t *testing.T) *stand { t.Helper(); return newStand(t, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := opts(t)
			hostile := []any{
				"", 7, "\x00\xff\xfe", strings.Repeat("a", 10_000), strings.Repeat("-", 10_000), foreignParent + "-x",
				"ff" + foreignParent[2:], strings.ToUpper(foreignParent), "00-" + strings.Repeat("0", 32) + "-b7ad6b7169203331-01",
				"01" + foreignParent[2:] + strings.Repeat("-a", 5_000),
			}
			for _, value := range hostile {
				for _, state := range []any{"", 9, "\xff=\xff", strings.Repeat("a=b,", 2_500)} {
					require.NoError(t, s.rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: key(0), Values: []any{
						client.TraceparentField, value, client.TracestateField, state, "n", 0,
					}}).Err())
				}
			}
			require.NoError(t, s.rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: key(0), Values: []any{
				client.TraceparentField, foreignParent, client.TracestateField, strings.Repeat("\xff", 10_000), "n", 1,
			}}).Err())
			s.coord.Assign("a", 0)
			var book ledger
			valid := make(chan trace.SpanContext, len(hostile)*4+1)
			a := s.run(patiently("a"), func(ctx context.Context, m *client.Message) error {
				if book.note(m); m.TraceContext().IsValid() {
					valid <- m.TraceContext()
				}
				return m.Ack(ctx)
			})
			eventually(t, func() bool { return book.count() == len(hostile)*4+1 && s.pending(0) == 0 }, "all are handled")
			require.Len(t, valid, 1, "only the parent that is one")
			sc := <-valid
			require.Equal(t, foreignTrace, sc.TraceID().String())
			require.Empty(t, sc.TraceState().String(), "a state that is none is left out")
			require.Zero(t, a.Status().Counters.Failed)
		})
	}
}

func TestTwoGroupsGoOnInTheTraceOfOneRecord(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1)
	const second = "second-consumer"
	require.NoError(t, s.rdb.XGroupCreate(t.Context(), key(0), second, "0").Err())
	coord := scriptcoord.Start(t)
	_, err := s.producer.Publish(t.Context(), "k", nil)
	require.NoError(t, err)
	s.coord.Assign("a", 0)
	coord.Assign("b", 0)
	var book ledger
	s.run(patiently("a"), book.acking)
	sub := patiently("b")
	sub.Group = second
	s.runOn(s.clientOf(coord.URL()), sub, book.acking)
	publish := s.await(publishSpan, 1)[0]
	groups := map[any]int{}
	for _, process := range s.await(processSpan, 2) {
		require.Equal(t, publish.SpanContext.TraceID(), process.SpanContext.TraceID())
		require.Equal(t, publish.SpanContext.SpanID(), process.Parent.SpanID())
		groups[attributes(process.Attributes)["messaging.consumer.group.name"]]++
	}
	require.Equal(t, map[any]int{group: 1, second: 1}, groups)
}

func TestTraceThatIsNotSampledIsPassedOn(t *testing.T) {
	t.Parallel()
	s := newTraced(t, 1, sdktrace.WithSampler(sdktrace.NeverSample()))
	ctx, call := s.call("order")
	_, err := s.producer.Publish(ctx, "k", nil)
	require.NoError(t, err)
	_, err = s.producer.PublishBatch(ctx, []client.Record{{Key: "k"}})
	require.NoError(t, err)
	require.NoError(t, s.producer.PublishAsync(ctx, client.Record{Key: "k"}, nil))
	require.NoError(t, s.producer.Flush(ctx))
	s.coord.Assign("a", 0)
	var (
		mu      sync.Mutex
		handled []trace.SpanContext
	)
	s.run(patiently("a"), func(ctx context.Context, m *client.Message) error {
		mu.Lock()
		defer mu.Unlock()
		handled = append(handled, trace.SpanContextFromContext(ctx), m.TraceContext())
		return m.Ack(ctx)
	})
	eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(handled) == 2*3
	}, "all are handled")
	mu.Lock()
	defer mu.Unlock()
	for _, in := range handled {
		require.Equal(t, call.SpanContext().TraceID(), in.TraceID())
		require.False(t, in.IsSampled())
	}
	require.Empty(t, s.exporter.GetSpans())
}
