package tracing_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
)

func well(http.ResponseWriter, *http.Request) {}

// wire, Rules: the request id is in every trace. Names of spans are routes, never paths.
func TestASpanIsCalledAfterItsRoute(t *testing.T) {
	t.Parallel()
	s := start(t, plan{ratio: 1})
	s.ask(tracing.Requests{About: func(*http.Request) tracing.About {
		return tracing.About{Route: "/things/{thing}", Stream: "orders", Group: "readers"}
	}}, well)
	span := s.only()
	require.Equal(t, "GET /things/{thing}", span.GetName())
	require.Equal(t, tracepb.Span_SPAN_KIND_SERVER, span.GetKind())
	for key, want := range map[string]string{
		"http.request.method": "GET", "http.route": "/things/{thing}", "rsc.request_id": "my-request",
		"rsc.stream": "orders", "rsc.group": "readers", "rsc.error_code": "",
	} {
		require.Equal(t, want, attribute(span, key), key)
	}
	require.EqualValues(t, 200, number(span, "http.response.status_code"))
	require.Equal(t, tracepb.Status_STATUS_CODE_UNSET, span.GetStatus().GetCode())
	require.NotContains(t, s.receiver.bytes(), "canary")
}

func TestASpanTellsHowItsRequestEnded(t *testing.T) {
	t.Parallel()
	answers := httpx.NewAnswers(nil)
	for name, c := range map[string]struct {
		serve  http.HandlerFunc
		status int64
		code   protocol.Code
		failed bool
	}{
		"refused": {func(w http.ResponseWriter, r *http.Request) {
			answers.Error(w, r, protocol.Errorf(protocol.CodeGroupNotFound, "canary"))
		}, 404, protocol.CodeGroupNotFound, false},
		"unavailable": {func(w http.ResponseWriter, r *http.Request) {
			answers.Error(w, r, protocol.Errorf(protocol.CodeStoreUnavailable, "canary"))
		}, 503, protocol.CodeStoreUnavailable, true},
		"broken":         {func(http.ResponseWriter, *http.Request) { panic("canary") }, 500, "", true},
		"broken halfway": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200); panic(http.ErrAbortHandler) }, 500, "", true},
		"hints first":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(204) }, 204, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, plan{ratio: 1})
			func() {
				defer func() { _ = recover() }() // an answer that has begun is cut off
				s.ask(tracing.Requests{}, c.serve)
			}()
			span := s.only()
			require.Equal(t, c.status, number(span, "http.response.status_code"))
			require.Equal(t, string(c.code), attribute(span, "rsc.error_code"))
			require.Equal(t, c.failed, span.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR)
			require.NotContains(t, s.receiver.bytes(), "canary")
		})
	}
}

// One text that is no UTF-8 makes OTLP refuse a whole batch: nobody may lose the spans of others.
func TestHostileNamesAreLeftOut(t *testing.T) {
	t.Parallel()
	s := start(t, plan{ratio: 1})
	for _, hostile := range []string{"\xff\xfe", "a\x00b", "a\nb", strings.Repeat("x", 10_000)} {
		about := func(*http.Request) tracing.About { return tracing.About{Route: "/r", Stream: hostile, Group: hostile} }
		s.ask(tracing.Requests{About: about}, well)
	}
	all := s.spans()
	require.Len(t, all, 4)
	for _, span := range all {
		require.Empty(t, attribute(span, "rsc.stream"))
		require.Empty(t, attribute(span, "rsc.group"))
	}
}

func TestWhatIsSkippedMakesNoSpan(t *testing.T) {
	t.Parallel()
	s := start(t, plan{ratio: 1})
	require.Equal(t, 200, s.ask(tracing.Requests{Skip: func(*http.Request) bool { return true }}, well).Code)
	require.Empty(t, s.spans())
}

// Outer stages go by r.Pattern, which a router sets on the request that it gets.
func TestTheRouteReachesTheStagesOutside(t *testing.T) {
	t.Parallel()
	for _, p := range []plan{{ratio: 1}, {ratio: 0}, {off: true}} {
		s := start(t, p)
		r := httptest.NewRequest(http.MethodGet, "/x", nil)
		r.Header.Set("Traceparent", parent("00"))
		about := func(*http.Request) tracing.About { return tracing.About{} }
		s.Handler(tracing.Requests{About: about})(http.HandlerFunc(func(_ http.ResponseWriter, inner *http.Request) {
			inner.Pattern = "/found"
		})).ServeHTTP(httptest.NewRecorder(), r)
		require.Equal(t, "/found", r.Pattern)
	}
}

func TestLinesOfARequestNameItsTraceWhereItIsRecorded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		plan  plan
		named bool
	}{{plan{ratio: 1}, true}, {plan{ratio: 0}, false}, {plan{off: true}, false}} {
		s := start(t, c.plan)
		var text bytes.Buffer
		log := slog.New(slog.NewTextHandler(&text, nil))
		r := httptest.NewRequest(http.MethodGet, "/x", nil)
		about := func(*http.Request) tracing.About { return tracing.About{} }
		inner := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			httpx.Logger(log).InfoContext(r.Context(), "inside")
		})
		httpx.Identify(httpx.AccessLog(log, nil)(s.Handler(tracing.Requests{About: about})(inner))).ServeHTTP(httptest.NewRecorder(), r)
		found := s.spans()
		if !c.named {
			require.Empty(t, found)
			require.NotContains(t, text.String(), "trace_id")
			continue
		}
		require.Len(t, found, 1)
		require.Equal(t, 2, strings.Count(text.String(), "trace_id="+hexOf(found[0].GetTraceId())), text.String())
	}
}

// E6: what is off costs nothing: the request goes through as it came.
func TestWithoutTracesNothingIsAdded(t *testing.T) {
	t.Parallel()
	off := start(t, plan{off: true})
	for name, traced := range map[string]*tracing.Tracing{"off": off.Tracing, "nil": nil} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/x", nil)
		var writer http.ResponseWriter
		var request *http.Request
		traced.Handler(tracing.Requests{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			writer, request = w, r
		})).ServeHTTP(w, r)
		require.Same(t, w, writer, name)
		require.Same(t, r, request, name)
		require.Equal(t, tracing.Call{}, traced.Call(r.Context(), tracing.Peer{Service: "coordinator"}))
		require.False(t, traced.On())
		require.Nil(t, traced.Continuing())
		traced.Redis(nil)
		traced.Close(t.Context())
	}
}

// BenchmarkRequest tells what a request costs more with traces than without, its call of
// another service included.
func BenchmarkRequest(b *testing.B) {
	cfg := settings.DefaultTelemetry()
	off, err := tracing.New(cfg, tracing.Service{Name: "gateway", Edge: true}, nil)
	require.NoError(b, err)
	collects := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	b.Cleanup(collects.Close)
	cfg.TracesEndpoint = collects.URL
	on, err := tracing.New(cfg, tracing.Service{Name: "gateway", Edge: true}, nil)
	require.NoError(b, err)
	b.Cleanup(func() { on.Close(b.Context()) })
	about := func(*http.Request) tracing.About { return tracing.About{Route: "/r", Stream: "orders"} }
	for name, traced := range map[string]*tracing.Tracing{"off": off, "on": on} {
		b.Run(name, func(b *testing.B) {
			handler := traced.Handler(tracing.Requests{About: about})(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				call := traced.Call(r.Context(), tracing.Peer{Service: "coordinator", Method: "GET", Route: "/r"})
				call.HandOn(http.Header{})
				call.Answered(http.StatusOK, "")
			}))
			r, w := httptest.NewRequest(http.MethodGet, "/x", nil), httptest.NewRecorder()
			b.ReportAllocs()
			for b.Loop() {
				handler.ServeHTTP(w, r)
			}
		})
	}
}
