package e2e_test

import (
	"bytes"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// tracePath is where OTLP over HTTP posts traces.
const tracePath = "/v1/traces"

// traceReceiver takes traces as a collector does, and keeps all that it gets.
type traceReceiver struct {
	t      *testing.T
	server *httptest.Server

	mu    sync.Mutex
	raw   bytes.Buffer
	spans []tracedSpan
	odd   []string // what came besides traces
}

// tracedSpan is a span with the service that made it.
type tracedSpan struct {
	service string
	*tracepb.Span
}

func startTraceReceiver(t *testing.T) *traceReceiver {
	t.Helper()
	r := &traceReceiver{t: t}
	r.server = httptest.NewServer(http.HandlerFunc(r.take))
	t.Cleanup(r.server.Close)
	return r
}

func (r *traceReceiver) take(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	var batch collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &batch)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || request.URL.Path != tracePath {
		r.odd = append(r.odd, request.Method+" "+request.URL.Path)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.raw.Write(body)
	for name, values := range request.Header {
		r.raw.WriteString(name)
		for _, value := range values {
			r.raw.WriteString(value)
		}
	}
	for _, of := range batch.GetResourceSpans() {
		service := textOf(of.GetResource().GetAttributes(), "service.name")
		for _, scope := range of.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				r.spans = append(r.spans, tracedSpan{service, span})
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// all returns what has come, and requires that it was traces.
func (r *traceReceiver) all() []tracedSpan {
	r.mu.Lock()
	defer r.mu.Unlock()
	require.Empty(r.t, r.odd)
	return slices.Clone(r.spans)
}

func (r *traceReceiver) everything() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.raw.String()
}

// of returns the spans of one trace.
func (r *traceReceiver) of(trace string) []tracedSpan {
	return only(r.all(), func(s tracedSpan) bool { return hex.EncodeToString(s.GetTraceId()) == trace })
}

// await waits until a trace has a span that fits, and returns the first one.
func (r *traceReceiver) await(trace, what string, fits func(tracedSpan) bool) tracedSpan {
	r.t.Helper()
	var found []tracedSpan
	require.Eventually(r.t, func() bool {
		found = only(r.of(trace), fits)
		return len(found) > 0
	}, patience, often, "trace %s has %s", trace, what)
	return found[0]
}

// only returns the spans that fit.
func only(spans []tracedSpan, fits func(tracedSpan) bool) []tracedSpan {
	var found []tracedSpan
	for _, span := range spans {
		if fits(span) {
			found = append(found, span)
		}
	}
	return found
}

func (s tracedSpan) id() string     { return hex.EncodeToString(s.GetSpanId()) }
func (s tracedSpan) parent() string { return hex.EncodeToString(s.GetParentSpanId()) }

func (s tracedSpan) text(key string) string { return textOf(s.GetAttributes(), key) }

// is tells whether the span is of a service and kind.
func (s tracedSpan) is(service string, kind tracepb.Span_SpanKind) bool {
	return s.service == service && s.GetKind() == kind
}

func textOf(attributes []*commonpb.KeyValue, key string) string {
	for _, one := range attributes {
		if one.GetKey() == key {
			return one.GetValue().GetStringValue()
		}
	}
	return ""
}
