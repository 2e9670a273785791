package httpx_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// A stage outside sees what was found out inside, although the context goes inwards only.
func TestStagesOutsideSeeTheTraceAndTheRefusal(t *testing.T) {
	t.Parallel()
	log, lines := jsonLog()
	answers := httpx.NewAnswers(log)
	inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		httpx.NoteTrace(r.Context(), "the-trace")
		answers.Error(w, r, protocol.Errorf(protocol.CodeGroupNotFound, "there is no such group"))
	})
	var refusal protocol.Code
	var before, status int
	outer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		watched, said := httpx.Watch(w)
		before = said()
		httpx.AccessLog(log, nil)(inner).ServeHTTP(watched, r)
		refusal, status = httpx.Refusal(r.Context()), said()
	})
	httpx.Identify(outer).ServeHTTP(httptest.NewRecorder(), get("/"))
	require.Equal(t, protocol.CodeGroupNotFound, refusal)
	require.Zero(t, before, "nothing yet")
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, lines.String(), `"trace_id":"the-trace"`)
}

func TestOutsideOfIdentifyNothingIsNoted(t *testing.T) {
	t.Parallel()
	httpx.NoteTrace(t.Context(), "the-trace")
	require.Empty(t, httpx.Refusal(t.Context()))
	require.Empty(t, httpx.RequestID(t.Context()))
}
