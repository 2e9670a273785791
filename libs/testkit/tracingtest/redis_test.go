package tracingtest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/redis-stream-coordinator/rsc/libs/settings"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorded is a service with a client of Redis that it watches.
type recorded struct {
	*tracing.Tracing

	t   *testing.T
	mu  sync.Mutex
	raw bytes.Buffer
	all []*tracepb.Span
}

func watch(t *testing.T, client redis.UniversalClient) *recorded {
	t.Helper()
	r := &recorded{t: t}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		var batch collector.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(body, &batch) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.raw.Write(body)
		for _, of := range batch.GetResourceSpans() {
			for _, scope := range of.GetScopeSpans() {
				r.all = append(r.all, scope.GetSpans()...)
			}
		}
	}))
	t.Cleanup(server.Close)
	made, err := tracing.New(settings.Telemetry{TracesEndpoint: server.URL, TracesRatio: 1}, tracing.Service{Name: "x"}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { made.Close(t.Context()) })
	made.Redis(client)
	r.Tracing = made
	return r
}

// within does something as a request would.
func (r *recorded) within(do func(ctx context.Context)) {
	r.t.Helper()
	about := func(*http.Request) tracing.About { return tracing.About{Route: "/request"} }
	r.Handler(tracing.Requests{About: about})(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		do(request.Context())
	})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
}

// commands ends the recording and returns the spans of commands, in their order.
func (r *recorded) commands() []*tracepb.Span {
	r.t.Helper()
	r.Close(r.t.Context())
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.all), func(s *tracepb.Span) bool { return s.GetKind() == tracepb.Span_SPAN_KIND_SERVER })
}

// told is what a span says.
func told(s *tracepb.Span) []string {
	said := []string{s.GetName(), "", "ok"}
	for _, one := range s.GetAttributes() {
		if one.GetKey() == "error.type" {
			said[1] = one.GetValue().GetStringValue()
		}
	}
	if s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR {
		said[2] = "failed"
	}
	return said
}

// Redis repeats arguments in its errors, and scripts raise what they like: of neither anything
// may be in a trace.
func TestACommandIsASpanWithoutKeysValuesAndTextsOfErrors(t *testing.T) {
	t.Parallel()
	servers := map[string]redis.UniversalClient{
		"server": redisproc.Start(t).Client(t), "cluster": redisproc.StartCluster(t, 3).Client(t),
	}
	for name, rdb := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := watch(t, rdb)
			before := rdb.Set(t.Context(), "canary-key", "canary-value", 0)
			require.NoError(t, before.Err(), "nobody's request")
			r.within(func(ctx context.Context) {
				require.NoError(t, rdb.Get(ctx, "canary-key").Err())
				require.ErrorIs(t, rdb.Get(ctx, "canary-missing").Err(), redis.Nil)
				require.Error(t, rdb.LPush(ctx, "canary-key", "canary-value").Err())
				require.ErrorContains(t, rdb.Do(ctx, "NOSUCH", "canary-argument").Err(), "canary")
				require.ErrorContains(t, rdb.EvalSha(ctx, "0000000000000000000000000000000000000000", []string{"canary-key"}).Err(), "NOSCRIPT")
				require.ErrorContains(t, rdb.Eval(ctx, "return redis.error_reply('CANARY: canary')", []string{"canary-key"}).Err(), "canary")
				_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
					p.Get(ctx, "canary-key")
					p.Set(ctx, "canary-other", "canary-value", 0)
					return nil
				})
				require.NoError(t, err)
				over, cancel := context.WithCancel(ctx)
				cancel()
				require.Error(t, rdb.Get(over, "canary-key").Err())
			})
			var said [][]string
			for _, one := range r.commands() {
				said = append(said, told(one))
			}
			require.Equal(t, [][]string{
				{"GET", "", "ok"},
				{"GET", "", "ok"},
				{"LPUSH", "WRONGTYPE", "failed"},
				{"NOSUCH", "ERR", "failed"},
				{"EVALSHA", "NOSCRIPT", "ok"},
				{"EVAL", "_OTHER", "failed"},
				{"PIPELINE", "", "ok"},
				{"GET", "canceled", "failed"},
			}, said)
			require.NotContains(t, r.raw.String(), "canary")
			require.NotContains(t, r.raw.String(), "CANARY")
		})
	}
}
