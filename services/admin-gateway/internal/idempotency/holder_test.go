package idempotency_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/idempotency"
)

func requestOf(t *testing.T, a asked) *http.Request {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/", http.NoBody)
	for _, key := range a.keys {
		r.Header.Add("Idempotency-Key", key)
	}
	return r.WithContext(exchange.With(t.Context(), a.exchange()))
}

// heard is an answer as a client sees it.
type heard struct {
	status int
	header http.Header
	body   []byte
}

// serve runs the stage behind a real server, with a claim of its own for every request.
func serve(t *testing.T, next http.HandlerFunc) func(key string) heard {
	t.Helper()
	k, _ := newKeeper()
	stage := k.Stage(next)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stage.ServeHTTP(w, r.WithContext(exchange.With(r.Context(), scale("").exchange())))
	}))
	t.Cleanup(server.Close)
	client := server.Client()
	t.Cleanup(client.CloseIdleConnections)
	return func(key string) heard {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, http.NoBody)
		require.NoError(t, err)
		r.Header.Set("Idempotency-Key", key)
		answer, err := client.Do(r)
		require.NoError(t, err)
		defer func() { _ = answer.Body.Close() }()
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return heard{answer.StatusCode, answer.Header, body}
	}
}

func TestAnAnswerAboveTheBoundIsGivenWholeAndNotKept(t *testing.T) {
	t.Parallel()
	for size, kept := range map[int]bool{
		0: true, 1: true, idempotency.MaxAnswer - 1: true, idempotency.MaxAnswer: true,
		idempotency.MaxAnswer + 1: false, 4 * idempotency.MaxAnswer: false,
	} {
		whole := bytes.Repeat([]byte("x"), size)
		calls := 0
		ask := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			calls++
			w.WriteHeader(http.StatusCreated)
			for rest := whole; len(rest) > 0; {
				n, err := w.Write(rest[:min(len(rest), 1_000)])
				if err != nil {
					t.Error(err)
				}
				rest = rest[n:]
			}
		})
		for range 2 {
			answer := ask("k")
			require.Equal(t, http.StatusCreated, answer.status)
			require.True(t, bytes.Equal(whole, answer.body), size)
		}
		require.Equal(t, kept, calls == 1, size)
	}
}

func TestAHandlerMayFlushSetDeadlinesAndSayEarlyHints(t *testing.T) {
	t.Parallel()
	ask := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		control := http.NewResponseController(w)
		w.WriteHeader(http.StatusEarlyHints)
		if err := control.Flush(); err != nil {
			t.Error(err)
		}
		if err := control.SetWriteDeadline(time.Time{}); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusConflict)
		w.WriteHeader(http.StatusOK) // too late, as with net/http
		if err := control.Flush(); err != nil {
			t.Error(err)
		}
		_, _ = w.Write([]byte("answer"))
	})
	for range 2 {
		answer := ask("k")
		require.Equal(t, http.StatusConflict, answer.status)
		require.Equal(t, "answer", string(answer.body))
		require.Equal(t, "text/plain; charset=utf-8", answer.header.Get("Content-Type"))
	}
}

func TestAHandlerThatSaysNothingHasAnswered200AndNoTypeIsGuessed(t *testing.T) {
	t.Parallel()
	ask := serve(t, func(http.ResponseWriter, *http.Request) {})
	for range 2 {
		answer := ask("k")
		require.Equal(t, http.StatusOK, answer.status)
		require.Empty(t, answer.body)
	}
	answer := ask("k")
	require.Equal(t, "true", answer.header.Get("Idempotency-Replayed"))
	require.Empty(t, answer.header.Values("Content-Type"))
}
