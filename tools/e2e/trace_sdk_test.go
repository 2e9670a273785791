package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client"
)

const (
	// sdkTraces records are published, each in a trace of its own, in three ways.
	sdkTraces = 90
	// sdkTraceAttempts deliveries have the records whose number ends in 0.
	sdkTraceAttempts = 2
)

// TestRecordIsOneTraceFromItsPublishingToEachOfItsHandlings: producer and consumers that log in
// at a gateway. Each record is handled in the trace in which it was published, also when it
// comes again and when its shard has changed hands meanwhile, and no span tells what is in
// it (data-plane, Observability).
func TestRecordIsOneTraceFromItsPublishingToEachOfItsHandlings(t *testing.T) {
	t.Parallel()
	g := startGuarded(t, guardedPlan{
		coordinators: 1, gateways: 1,
		coordinatorFlags: []string{"--api-authenticate-member-api=true"},
		gatewayFlags:     []string{"--api-authenticate-member-api=true"},
	})
	g.passes(guardedCall{
		method: http.MethodPost, path: api("/streams/" + stream), token: g.login(userOps),
		body: fmt.Sprintf(`{"initialShardCount": %d, "consumerGroups": [%q], "requestedBy": "e2e"}`, shards, group),
	}, http.StatusCreated)
	s := &tracedScene{
		guarded: g, exporter: tracetest.NewInMemoryExporter(),
		handled: map[string][]trace.TraceID{}, done: map[string]struct{}{},
	}
	s.provider = sdktrace.NewTracerProvider(sdktrace.WithSyncer(s.exporter))

	leaveA := s.consume("pod-a")
	published := s.publishAll()
	soon(t, "half of the records are handled", func() bool { return s.settled() >= sdkTraces/2 })
	s.consume("pod-b")
	leaveA()
	soon(t, "all records are handled", func() bool { return s.settled() == sdkTraces })

	s.mu.Lock()
	defer s.mu.Unlock()
	for n, in := range published {
		times := 1
		if n%10 == 0 {
			times = sdkTraceAttempts
		}
		handlings := s.handled[strconv.Itoa(n)]
		require.GreaterOrEqual(t, len(handlings), times, "record %d", n)
		for _, one := range handlings {
			require.Equal(t, in, one, "record %d", n)
		}
	}
	require.NotContains(t, fmt.Sprintf("%+v", s.exporter.GetSpans()), "canary", "neither values nor credentials")
}

// tracedScene are SDK clients of a gateway that make spans.
type tracedScene struct {
	*guarded

	exporter *tracetest.InMemoryExporter
	provider *sdktrace.TracerProvider

	mu      sync.Mutex
	handled map[string][]trace.TraceID // by the record's number
	done    map[string]struct{}        // handled without an error
}

func (s *tracedScene) client() *client.Client {
	s.t.Helper()
	c, err := client.New(client.Options{
		CoordinatorURL: s.gateways[0].url(), Redis: s.audited.Client(s.t),
		Login: client.WithLogin(userMember, passwordOf(userMember)), TracerProvider: s.provider,
	})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

// consume starts a consumer; the function that it returns has it leave.
func (s *tracedScene) consume(member string) (leave func()) {
	s.t.Helper()
	ctx, end := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	c := s.client()
	go func() {
		ended <- c.Consume(ctx, client.Subscription{
			Stream: stream, Group: group, MemberID: member, AckMode: client.AckAfterHandler, Workers: 2,
		}, s.handle)
	}()
	leave = sync.OnceFunc(func() {
		end()
		if err := <-ended; err != nil {
			s.t.Errorf("%s has ended: %v", member, err)
		}
	})
	s.t.Cleanup(leave)
	return leave
}

func (s *tracedScene) handle(ctx context.Context, m *client.Message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := m.Fields["n"]
	first := len(s.handled[n]) == 0
	s.handled[n] = append(s.handled[n], trace.SpanContextFromContext(ctx).TraceID())
	if first && n[len(n)-1] == '0' {
		return fmt.Errorf("%s fails once", m.Fields["data"])
	}
	s.done[n] = struct{}{}
	return nil
}

func (s *tracedScene) settled() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.done)
}

// publishAll publishes the records 0 to sdkTraces-1 in turns by Publish, PublishBatch and
// PublishAsync, and returns their traces.
func (s *tracedScene) publishAll() []trace.TraceID {
	t := s.t
	t.Helper()
	producer, err := s.client().NewProducer(t.Context(), stream, group, client.ProducerOptions{})
	require.NoError(t, err)
	traces := make([]trace.TraceID, sdkTraces)
	for n := range traces {
		ctx, call := s.provider.Tracer("shop").Start(t.Context(), "order")
		rec := client.Record{
			Key: fmt.Sprintf("canary-key-%d", n), Values: []any{"n", n, "data", fmt.Sprintf("canary-data-%d", n)},
		}
		var err error
		switch n % 3 {
		case 0:
			_, err = producer.PublishRecord(ctx, rec)
		case 1:
			_, err = producer.PublishBatch(ctx, []client.Record{rec})
		default:
			err = producer.PublishAsync(ctx, rec, nil)
		}
		require.NoError(t, err)
		traces[n] = call.SpanContext().TraceID()
		call.End()
	}
	require.NoError(t, producer.Close(t.Context()))
	return traces
}
