package client_test

import (
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// tracing returns a provider and where its spans are when they have ended.
func tracing() (*sdktrace.TracerProvider, *tracetest.InMemoryExporter) {
	exporter := tracetest.NewInMemoryExporter()
	return sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter)), exporter
}

func TestAdminCallIsASpanThatTheCoordinatorGoesOnIn(t *testing.T) {
	t.Parallel()
	var parent atomic.Value
	id := make(chan string, 1)
	provider, exporter := tracing()
	c := coordinator(t, func(w http.ResponseWriter, r *http.Request) {
		parent.Store(r.Header.Get("traceparent"))
		id <- r.Header.Get("X-Request-Id")
		_, _ = io.WriteString(w, `{"events":[]}`)
	}, client.Options{TracerProvider: provider})
	ctx, call := provider.Tracer("application").Start(t.Context(), "call")
	_, err := c.Admin().Events(ctx, "orders", "groups", "secret-cursor", 1)
	require.NoError(t, err)
	spans := exporter.GetSpans()
	require.Len(t, spans, 1)
	span := spans[0]
	require.Equal(t, "GET /coord/v1/streams/{streamPrefix}/groups/{consumerGroup}/events", span.Name)
	require.Equal(t, trace.SpanKindClient, span.SpanKind)
	require.Equal(t, call.SpanContext().SpanID(), span.Parent.SpanID())
	require.Contains(t, parent.Load(), "00-"+span.SpanContext.TraceID().String()+"-"+span.SpanContext.SpanID().String())
	require.ElementsMatch(t, []attribute.KeyValue{
		attribute.String("http.request.method", "GET"),
		attribute.String("url.template", "/coord/v1/streams/{streamPrefix}/groups/{consumerGroup}/events"),
		attribute.Int("http.response.status_code", 200), attribute.String("rsc.request_id", <-id),
	}, span.Attributes)
}

func TestAdminCallThatIsRefusedHasTheCodeAndNotTheText(t *testing.T) {
	t.Parallel()
	provider, exporter := tracing()
	c := coordinator(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"errorCode":"GROUP_HAS_ACTIVE_MEMBERS","message":"canary","requestId":"r"}`)
	}, client.Options{TracerProvider: provider})
	_, err := c.Admin().DeleteGroup(t.Context(), "orders", "g", protocol.DeleteRequest{RequestedBy: "canary"})
	require.Error(t, err)
	span := exporter.GetSpans()[0]
	require.Equal(t, sdktrace.Status{Code: codes.Error}, span.Status)
	require.Contains(t, span.Attributes, attribute.String("error.type", "GROUP_HAS_ACTIVE_MEMBERS"))
	require.Contains(t, span.Attributes, attribute.Int("http.response.status_code", 409))
	for _, one := range span.Attributes {
		require.NotContains(t, one.Value.AsString(), "canary")
	}
}

func TestAdminCallWithoutAnAnswerIsAnError(t *testing.T) {
	t.Parallel()
	provider, exporter := tracing()
	c := coordinator(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, client.Options{TracerProvider: provider})
	_, err := c.Admin().Streams(t.Context())
	require.ErrorIs(t, err, client.ErrUnavailable)
	require.Contains(t, exporter.GetSpans()[0].Attributes, attribute.String("error.type", "unavailable"))
}

// Without a provider the trace of the caller goes on all the same.
func TestRequestCarriesTheTraceOfItsCaller(t *testing.T) {
	t.Parallel()
	var parent, baggage atomic.Value
	c := coordinator(t, func(w http.ResponseWriter, r *http.Request) {
		parent.Store(r.Header.Get("traceparent"))
		baggage.Store(r.Header.Get("baggage"))
		_, _ = io.WriteString(w, `{"streams":[]}`)
	}, client.Options{})
	_, err := c.Admin().Streams(t.Context())
	require.NoError(t, err)
	require.Empty(t, parent.Load())
	provider, exporter := tracing()
	ctx, call := provider.Tracer("application").Start(t.Context(), "call")
	_, err = c.Admin().Streams(ctx)
	require.NoError(t, err)
	require.Contains(t, parent.Load(), call.SpanContext().TraceID().String()+"-"+call.SpanContext().SpanID().String())
	require.Empty(t, exporter.GetSpans())
}
