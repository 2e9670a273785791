package audit

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
)

func auditor(t *testing.T, sink Sink) *Auditor {
	t.Helper()
	a := New(Config{GatewayID: "gateway-1", OnFailure: Refuse, Buffer: 10, Timeout: time.Minute}, sink, nil, clock.Now, nil)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Millisecond)
		defer cancel()
		_ = a.Close(ctx) // a sink that is away at the end loses something
	})
	return a
}

// pass sends a request through Surround, the stage between, and Intend to serve.
func pass(t *testing.T, a *Auditor, e *exchange.Exchange, between func(http.Handler) http.Handler, serve http.HandlerFunc) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	inner := a.Intend(serve)
	if between != nil {
		inner = between(inner)
	}
	a.Surround(inner).ServeHTTP(w, request(t, e))
	return w
}

func accept(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("X-From", "coordinator")
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, `{"ok":true}`)
}

func TestAMutationHasAnIntentBeforeItAndAnOutcomeBeforeItsAnswer(t *testing.T) {
	t.Parallel()
	sink := &shelf{}
	var during, held []string
	w := pass(t, auditor(t, sink), scaling(scaleBody), nil, func(w http.ResponseWriter, r *http.Request) {
		during = sink.words()
		accept(w, r)
		exchange.Of(r.Context()).Upstream = "coordinator-2"
		held = sink.words()
	})
	require.Equal(t, []string{"INTENT REQ-1"}, during)
	require.Equal(t, []string{"INTENT REQ-1"}, held)
	require.Equal(t, []string{"INTENT REQ-1", "OUTCOME REQ-1"}, sink.words())
	require.Equal(t, http.StatusAccepted, w.Code)
	require.Equal(t, "coordinator", w.Header().Get("X-From"))
	require.JSONEq(t, `{"ok":true}`, w.Body.String())
	last := sink.records[1]
	require.Equal(t, 202, last.Status)
	require.Equal(t, "coordinator-2", last.CoordinatorID)
	require.True(t, last.Intended)
	require.Equal(t, map[string]string{"targetShardCount": "8", "deprecatedAfter": "null"}, last.Requested)
}

// witness tells what was recorded when the first word went to the caller.
type witness struct {
	*httptest.ResponseRecorder

	sink *shelf
	seen []string
}

func (w *witness) WriteHeader(status int) {
	w.seen = w.sink.words()
	w.ResponseRecorder.WriteHeader(status)
}

func TestTheCallerIsToldAfterTheOutcomeIsWritten(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"a short answer": 10, "one that is too long to be held back": 3 << 20} {
		sink := &shelf{}
		a := auditor(t, sink)
		w := &witness{ResponseRecorder: httptest.NewRecorder(), sink: sink}
		e := scaling(scaleBody)
		a.Surround(a.Intend(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusCreated)
			w.WriteHeader(http.StatusTeapot) // as net/http, the first word counts
			for range size / 10 {
				_, _ = io.WriteString(w, "0123456789")
				_ = http.NewResponseController(w).Flush()
			}
		}))).ServeHTTP(w, request(t, e))
		require.Equal(t, []string{"INTENT REQ-1", "OUTCOME REQ-1"}, w.seen, name)
		require.Equal(t, []string{"INTENT REQ-1", "OUTCOME REQ-1"}, sink.words(), "once: %s", name)
		require.Equal(t, http.StatusCreated, w.Code)
		require.Equal(t, size/10*10, w.Body.Len())
	}
}

func TestARefusedMutationHasAnOutcomeOnly(t *testing.T) {
	t.Parallel()
	for _, code := range []protocol.Code{
		protocol.CodeUnauthorized, protocol.CodeForbidden, protocol.CodeRateLimitExceeded, protocol.CodeIdempotencyKeyReused,
		protocol.CodeInvalidRequest, protocol.CodeTerminating, protocol.CodeRollbackNotAllowed,
	} {
		sink := &shelf{}
		w := pass(t, auditor(t, sink), scaling(scaleBody), func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				exchange.Of(r.Context()).Code = code
				httpx.NewAnswers(nil).Error(w, r, protocol.Errorf(code, "no"))
			})
		}, accept)
		require.Equal(t, protocol.FaultOf(code).Status, w.Code)
		require.Equal(t, []string{"OUTCOME REQ-1"}, sink.words())
		require.Equal(t, protocol.AuditRefused, sink.records[0].Result)
		require.Equal(t, string(code), sink.records[0].ErrorCode)
		require.False(t, sink.records[0].Intended)
	}
}

func TestARefusalByTheServiceIsReadFromItsAnswer(t *testing.T) {
	t.Parallel()
	sink := &shelf{}
	pass(t, auditor(t, sink), scaling(scaleBody), nil, func(w http.ResponseWriter, r *http.Request) {
		httpx.NewAnswers(nil).Error(w, r, protocol.Errorf(protocol.CodeActiveMigrationExists, "R1"))
	})
	require.Equal(t, "ACTIVE_MIGRATION_EXISTS", sink.records[1].ErrorCode)
	require.Equal(t, 409, sink.records[1].Status)
}

func TestAnAnswerGivenAgainIsAReplay(t *testing.T) {
	t.Parallel()
	sink := &shelf{}
	pass(t, auditor(t, sink), scaling(scaleBody), func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			exchange.Of(r.Context()).Replayed = true
			accept(w, r)
		})
	}, accept)
	require.Equal(t, []string{"REPLAY REQ-1"}, sink.words())
	require.Equal(t, 202, sink.records[0].Status)
}

func TestWhatIsNoMutationIsNotRecordedNorHeldBack(t *testing.T) {
	t.Parallel()
	sink := &shelf{away: true}
	e := scaling("")
	e.Route.Mutation = false
	isHeld := true
	w := pass(t, auditor(t, sink), e, nil, func(w http.ResponseWriter, _ *http.Request) {
		_, isHeld = w.(*held)
		w.WriteHeader(http.StatusOK)
	})
	require.False(t, isHeld)
	require.Equal(t, http.StatusOK, w.Code)
	require.Zero(t, sink.tries)
	require.False(t, e.Intended)
}

func TestAPanicIsRecordedAndGoesOn(t *testing.T) {
	t.Parallel()
	sink := &shelf{}
	a := auditor(t, sink)
	w := httptest.NewRecorder()
	e := scaling(scaleBody)
	require.PanicsWithValue(t, "broken", func() {
		a.Surround(a.Intend(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			accept(w, r)
			panic("broken")
		}))).ServeHTTP(w, request(t, e))
	})
	require.Equal(t, []string{"INTENT REQ-1", "OUTCOME REQ-1"}, sink.words())
	require.Equal(t, protocol.AuditFailed, sink.records[1].Result)
	require.Equal(t, 500, sink.records[1].Status)
	require.False(t, w.Flushed)
	require.Zero(t, w.Body.Len(), "what was said before is not sent")
	require.Zero(t, a.box.promised)
}

func TestACallerThatLeavesIsRecorded(t *testing.T) {
	t.Parallel()
	sink := &shelf{}
	a := auditor(t, sink)
	e := scaling(scaleBody)
	r := request(t, e)
	ctx, cancel := context.WithCancel(r.Context())
	a.Surround(a.Intend(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { cancel() }))).
		ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
	require.Equal(t, []string{"INTENT REQ-1", "OUTCOME REQ-1"}, sink.words())
	require.Equal(t, protocol.AuditFailed, sink.records[1].Result)
	require.Zero(t, sink.records[1].Status)
}

func TestWithoutTheSinkNothingIsSentAndTheCallerIsToldWhy(t *testing.T) {
	t.Parallel()
	sink := &shelf{away: true}
	a := auditor(t, sink)
	e := scaling(scaleBody)
	sent := false
	w := pass(t, a, e, nil, func(http.ResponseWriter, *http.Request) { sent = true })
	require.False(t, sent)
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.Contains(t, w.Body.String(), `"errorCode":"AUDIT_UNAVAILABLE"`)
	require.NotContains(t, w.Body.String(), "connection refused", "what is wrong inside is for the log")
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	require.False(t, e.Intended)
	require.Equal(t, protocol.CodeAuditUnavailable, e.Code)
	require.Equal(t, 1, a.Waiting(), "the refusal waits to be recorded")
}

func TestAnOutcomeThatCannotBeWrittenKeepsNobodyFromTheAnswer(t *testing.T) {
	t.Parallel()
	sink := &shelf{}
	a := auditor(t, sink)
	w := pass(t, a, scaling(scaleBody), nil, func(w http.ResponseWriter, r *http.Request) {
		sink.put(true)
		accept(w, r)
	})
	require.Equal(t, http.StatusAccepted, w.Code)
	w = pass(t, a, scaling(scaleBody), nil, accept)
	require.Equal(t, http.StatusServiceUnavailable, w.Code, "the next mutation waits for that outcome")
	sink.put(false)
	require.Eventually(t, func() bool { return a.Waiting() == 0 }, time.Minute, time.Millisecond)
	require.Equal(t, []string{"INTENT REQ-1", "OUTCOME REQ-1", "OUTCOME REQ-1"}, sink.words())
}

func TestAnAnswerGoesThroughARealConnection(t *testing.T) {
	t.Parallel()
	sink := &shelf{}
	a := auditor(t, sink)
	stages := a.Surround(a.Intend(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(clock.Now().Add(time.Minute))
		if r.URL.Path == "/empty" {
			return
		}
		httpx.NewAnswers(nil).JSON(w, r, http.StatusCreated, map[string]string{"text": strings.Repeat("x", 100)})
	})))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stages.ServeHTTP(w, r.WithContext(exchange.With(r.Context(), scaling(scaleBody))))
	}))
	defer server.Close()
	for path, want := range map[string]int{"/": http.StatusCreated, "/empty": http.StatusOK} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, http.NoBody)
		require.NoError(t, err)
		answer, err := server.Client().Do(r)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, want, answer.StatusCode)
		require.Len(t, body, int(answer.ContentLength))
		require.Equal(t, want, sink.records[len(sink.records)-1].Status)
	}
}
