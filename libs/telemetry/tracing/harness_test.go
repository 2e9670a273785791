package tracing_test

import (
	"bytes"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/redis-stream-coordinator/rsc/libs/config"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
)

const (
	patience = time.Minute
	often    = 10 * time.Millisecond

	trace1 = "4bf92f3577b34da6a3ce929d0e0e4736"
	span1  = "00f067aa0ba902b7"
)

func parent(flags string) string { return "00-" + trace1 + "-" + span1 + "-" + flags }

// receiver takes traces as a collector does.
type receiver struct {
	t      *testing.T
	server *httptest.Server
	status atomic.Int32 // of its answers

	mu      sync.Mutex
	spans   []*tracepb.Span
	headers []http.Header
	raw     bytes.Buffer
}

func startReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{t: t}
	r.status.Store(http.StatusOK)
	r.server = httptest.NewServer(http.HandlerFunc(r.take))
	t.Cleanup(r.server.Close)
	return r
}

func (r *receiver) take(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	var batch collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &batch)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || request.URL.Path != "/v1/traces" {
		r.t.Errorf("%s got what is no trace: %v", request.URL.Path, err)
	}
	r.headers = append(r.headers, request.Header)
	status := int(r.status.Load())
	if status != http.StatusOK {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "no, not with "+request.Header.Get("X-Token")+strings.Repeat("!", 1000))
		return
	}
	r.raw.Write(body)
	for _, of := range batch.GetResourceSpans() {
		for _, scope := range of.GetScopeSpans() {
			r.spans = append(r.spans, scope.GetSpans()...)
		}
	}
}

func (r *receiver) all() []*tracepb.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.spans)
}

func (r *receiver) bytes() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.raw.String()
}

// scene is a service that records.
type scene struct {
	*tracing.Tracing

	t        *testing.T
	receiver *receiver
	log      lines
}

type plan struct {
	ratio   float64
	edge    bool
	off     bool
	headers string
}

func start(t *testing.T, p plan) *scene {
	t.Helper()
	s := &scene{t: t, receiver: startReceiver(t)}
	cfg := settings.Telemetry{TracesEndpoint: s.receiver.server.URL, TracesHeaders: config.Secret(p.headers), TracesRatio: p.ratio}
	if p.off {
		cfg.TracesEndpoint = ""
	}
	made, err := tracing.New(cfg, tracing.Service{Name: "gateway", ID: "here", Version: "1", Edge: p.edge},
		textLog(&s.log))
	require.NoError(t, err)
	s.Tracing = made
	t.Cleanup(func() { made.Close(t.Context()) })
	return s
}

// spans ends the recording and returns everything.
func (s *scene) spans() []*tracepb.Span {
	s.t.Helper()
	s.Close(s.t.Context())
	return s.receiver.all()
}

// only ends the recording and returns the one span that there is.
func (s *scene) only() *tracepb.Span {
	s.t.Helper()
	all := s.spans()
	require.Len(s.t, all, 1)
	return all[0]
}

// ask sends a request through a handler behind Identify and the stage.
func (s *scene) ask(of tracing.Requests, serve http.HandlerFunc, header ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	if of.About == nil {
		of.About = func(*http.Request) tracing.About { return tracing.About{Route: "/things/{thing}"} }
	}
	r := httptest.NewRequest(http.MethodGet, "/things/canary?secret=canary", nil)
	r.Header.Set(httpx.HeaderRequestID, "my-request")
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	answer := httptest.NewRecorder()
	httpx.NewAnswers(nil).Recover(httpx.Identify(s.Handler(of)(serve))).ServeHTTP(answer, r)
	return answer
}

func attribute(span *tracepb.Span, key string) string {
	for _, one := range span.GetAttributes() {
		if one.GetKey() == key {
			return one.GetValue().GetStringValue()
		}
	}
	return ""
}

func number(span *tracepb.Span, key string) int64 {
	for _, one := range span.GetAttributes() {
		if one.GetKey() == key {
			return one.GetValue().GetIntValue()
		}
	}
	return -1
}

func hexOf(id []byte) string { return hex.EncodeToString(id) }

func textLog(into *lines) *slog.Logger { return slog.New(slog.NewTextHandler(into, nil)) }

// lines collects a log.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
