package httpx_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func serve(handler http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func get(path string) *http.Request {
	return httptest.NewRequest(http.MethodGet, path, http.NoBody)
}

func refusalOf(t *testing.T, w *httptest.ResponseRecorder) protocol.ErrorResponse {
	t.Helper()
	var body protocol.ErrorResponse
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body), w.Body.String())
	return body
}

func jsonLog() (*slog.Logger, *bytes.Buffer) {
	var lines bytes.Buffer
	return slog.New(slog.NewJSONHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug})), &lines
}

func TestRequestIDIsTakenWhenItFits(t *testing.T) {
	t.Parallel()
	for id, taken := range map[string]bool{
		"a": true, "A-9_z.:x": true, strings.Repeat("i", 128): true,
		"": false, strings.Repeat("i", 129): false, "a b": false, "a/b": false, "é": false, "a\"b": false, "a<b": false,
	} {
		var seen string
		handler := httpx.Identify(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			seen = httpx.RequestID(r.Context())
			httpx.NewAnswers(nil).Error(w, r, protocol.Errorf(protocol.CodeNotFound, "no"))
		}))
		r := get("/")
		r.Header.Set("X-Request-Id", id)
		w := serve(handler, r)
		require.Equal(t, seen, w.Header().Get("X-Request-Id"))
		require.Equal(t, seen, refusalOf(t, w).RequestID)
		if taken {
			require.Equal(t, id, seen)
			continue
		}
		_, err := ulid.ParseStrict(seen)
		require.NoErrorf(t, err, "%q is replaced by a ULID, not %q", id, seen)
	}
	require.Empty(t, httpx.RequestID(t.Context()))
}

func TestErrorAnswersByTheTableOfCodes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		code       protocol.Code
		status     int
		name       string
		retriable  bool
		retryAfter string
	}{
		{protocol.CodeInvalidRequest, 400, "BAD_REQUEST", false, ""},
		{protocol.CodeGroupNotFound, 404, "NOT_FOUND", false, ""},
		{protocol.CodeMethodNotAllowed, 405, "METHOD_NOT_ALLOWED", false, ""},
		{protocol.CodeGroupAlreadyExists, 409, "CONFLICT", false, ""},
		{protocol.CodePayloadTooLarge, 413, "PAYLOAD_TOO_LARGE", false, ""},
		{protocol.CodeUnsupportedMediaType, 415, "UNSUPPORTED_MEDIA_TYPE", false, ""},
		{protocol.CodeRollbackNotAllowed, 422, "UNPROCESSABLE_ENTITY", false, ""},
		{protocol.CodeRateLimitExceeded, 429, "TOO_MANY_REQUESTS", true, "1"},
		{protocol.CodeTerminating, 503, "SERVICE_UNAVAILABLE", true, "1"},
		{protocol.CodeInternal, 500, "INTERNAL_SERVER_ERROR", true, ""},
	}
	for _, want := range tests {
		log, lines := jsonLog()
		w := httptest.NewRecorder()
		r := get("/").WithContext(httpx.WithRequestID(t.Context(), "id-1"))
		err := fmt.Errorf("above: %w", protocol.Errorf(want.code, "text %d", 1).Because(errors.New("inner secret")))
		httpx.NewAnswers(log).Error(w, r, err)
		require.Equal(t, want.status, w.Code)
		require.Equal(t, want.retryAfter, w.Header().Get("Retry-After"))
		require.Equal(t, "application/json", w.Header().Get("Content-Type"))
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		require.Equal(t, protocol.ErrorResponse{
			Status: want.name, ErrorCode: want.code, Message: "text 1", RequestID: "id-1", Retriable: want.retriable,
		}, refusalOf(t, w))
		require.NotContains(t, w.Body.String(), "secret")
		require.Contains(t, lines.String(), `"requestId":"id-1"`)
	}
}

func TestOtherErrorsStayInTheLog(t *testing.T) {
	t.Parallel()
	log, lines := jsonLog()
	w := httptest.NewRecorder()
	r := get("/some/path").WithContext(httpx.WithRequestID(t.Context(), "id-2"))
	httpx.NewAnswers(log).Error(w, r, errors.New("password=hunter2"))
	body := refusalOf(t, w)
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.Equal(t, protocol.CodeInternal, body.ErrorCode)
	require.NotContains(t, w.Body.String(), "hunter2")
	require.Equal(t, 1, strings.Count(lines.String(), "\n"), "logged once")
	for _, part := range []string{"hunter2", `"requestId":"id-2"`, "/some/path", `"level":"ERROR"`} {
		require.Contains(t, lines.String(), part)
	}
}

func TestAnAnswerThatCannotBeEncodedIsAnInternalError(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	httpx.NewAnswers(nil).JSON(w, get("/"), http.StatusOK, map[string]any{"f": func() {}})
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.Equal(t, protocol.CodeInternal, refusalOf(t, w).ErrorCode)
}

func TestPanicBecomesAnInternalErrorWithItsStackInTheLog(t *testing.T) {
	t.Parallel()
	log, lines := jsonLog()
	handler := httpx.Identify(httpx.AccessLog(log, nil)(httpx.NewAnswers(log).Recover(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("state is broken") }))))
	w := serve(handler, get("/boom"))
	require.Equal(t, http.StatusInternalServerError, w.Code)
	require.Equal(t, protocol.CodeInternal, refusalOf(t, w).ErrorCode)
	require.NotContains(t, w.Body.String(), "broken")
	require.NotContains(t, w.Body.String(), "goroutine")
	require.Contains(t, lines.String(), "state is broken")
	require.Contains(t, lines.String(), "middleware_test.go")
	require.Contains(t, lines.String(), `"status":500`, "the access log sees the answer")
}

func TestPanicAfterTheAnswerBeganCutsTheConnection(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]any{"any": "late", "abort": http.ErrAbortHandler} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(httpx.NewAnswers(nil).Recover(http.HandlerFunc(
				func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Length", "100")
					_, _ = w.Write([]byte("part"))
					_ = http.NewResponseController(w).Flush()
					panic(value)
				})))
			defer server.Close()
			answer, err := server.Client().Get(server.URL)
			require.NoError(t, err)
			defer answer.Body.Close()
			_, err = new(bytes.Buffer).ReadFrom(answer.Body)
			require.Error(t, err, "a part must not pass for the whole")
		})
	}
}

func TestAccessLogWritesOneLineARequest(t *testing.T) {
	t.Parallel()
	log, lines := jsonLog()
	quiet := slog.New(slog.NewJSONHandler(lines, nil))
	handler := httpx.Identify(httpx.AccessLog(log, nil)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("12345"))
	})))
	r := get("/p/" + strings.Repeat("x", 1000) + "?token=secret")
	r.Header.Set("X-Request-Id", "id-3")
	serve(handler, r)
	var line map[string]any
	require.NoError(t, json.Unmarshal(lines.Bytes(), &line), "exactly one line")
	require.Equal(t, "GET", line["method"])
	require.InDelta(t, 418, line["status"], 0)
	require.InDelta(t, 5, line["bytes"], 0)
	require.Equal(t, "id-3", line["requestId"])
	require.Len(t, line["path"], 256)
	require.NotContains(t, lines.String(), "secret", "queries are not logged")

	lines.Reset()
	debug := func(*http.Request, int) slog.Level { return slog.LevelDebug }
	serve(httpx.AccessLog(quiet, debug)(http.NotFoundHandler()), get("/"))
	require.Empty(t, lines.String(), "a line below the logger's level is left out")
}

func TestLoggerAddsTheIDOnce(t *testing.T) {
	t.Parallel()
	log, lines := jsonLog()
	twice := httpx.Logger(httpx.Logger(log).With("a", 1))
	twice.WithGroup("g").InfoContext(httpx.WithRequestID(t.Context(), "id-4"), "hello", "b", 2)
	require.Equal(t, 1, strings.Count(lines.String(), "id-4"))
	lines.Reset()
	twice.InfoContext(t.Context(), "hello")
	require.NotContains(t, lines.String(), "requestId")
	require.NotNil(t, httpx.Logger(nil))
}
