package api

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// serve starts a server with handler and returns a client of it.
func serve(t *testing.T, handler http.HandlerFunc, change ...func(*Options)) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	opts := Options{BaseURL: server.URL}
	for _, apply := range change {
		apply(&opts)
	}
	client, err := New(opts)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

func answer(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func TestBaseURLMustBePlainHTTP(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"", "localhost:8080", "ftp://host", "http://", "http://user:secret@host", "http://host?x=1", "http://host#f", "http://h\x7f",
	} {
		_, err := New(Options{BaseURL: url})
		require.Error(t, err, url)
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestEveryRequestCarriesTokenRequestIDAndJSON(t *testing.T) {
	t.Parallel()
	var header http.Header
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header.Clone()
		answer(w, http.StatusCreated, `{"streamPrefix":"orders","shardCount":4}`)
	}, func(o *Options) {
		o.Token = TokenFunc(func(context.Context) (string, error) { return "t0ken", nil })
	})
	created, err := client.CreateStream(t.Context(), "orders", &protocol.CreateStreamRequest{RequestedBy: "me"})
	require.NoError(t, err)
	require.Equal(t, 4, created.ShardCount)
	require.Equal(t, "Bearer t0ken", header.Get("Authorization"))
	require.Equal(t, "application/json", header.Get("Content-Type"))
	_, err = ulid.ParseStrict(header.Get("X-Request-Id"))
	require.NoError(t, err)
}

func TestWithoutTokenThereIsNoAuthorizationHeader(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if _, sent := r.Header["Authorization"]; sent {
			answer(w, http.StatusBadRequest, `{"errorCode":"INVALID_REQUEST"}`)
			return
		}
		answer(w, http.StatusOK, `{"version":"1"}`)
	})
	_, err := client.Version(t.Context())
	require.NoError(t, err)
}

func TestATokenThatCannotBeHadSendsNothing(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	broken := errors.New("vault is sealed")
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) { requests.Add(1) }, func(o *Options) {
		o.Token = TokenFunc(func(context.Context) (string, error) { return "", broken })
	})
	_, err := client.Streams(t.Context())
	require.ErrorIs(t, err, broken)
	require.Zero(t, requests.Load())
}

func TestRefusalIsTheAPIsErrorWithItsPause(t *testing.T) {
	t.Parallel()
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.Header().Set("X-Request-Id", r.Header.Get("X-Request-Id"))
		answer(w, http.StatusServiceUnavailable,
			`{"status":"SERVICE_UNAVAILABLE","errorCode":"STORE_UNAVAILABLE","message":"no store","retriable":true}`)
	})
	_, err := client.Group(t.Context(), "orders", "g")
	var refused *RefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, http.StatusServiceUnavailable, refused.Status)
	require.Equal(t, 7*time.Second, refused.RetryAfter)
	var coded *protocol.Error
	require.ErrorAs(t, err, &coded)
	require.Equal(t, protocol.CodeStoreUnavailable, coded.Code)
	require.Equal(t, "no store", coded.Message)
	require.Len(t, coded.RequestID, 26)
	require.Equal(t, protocol.CodeStoreUnavailable, CodeOf(err))
	require.NotErrorIs(t, err, ErrUnavailable)
}

func TestRetryAfterIsReadInBothFormsAndBounded(t *testing.T) {
	t.Parallel()
	soon := time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat)
	require.InDelta(t, 90*time.Second, retryAfter(soon), float64(10*time.Second))
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "3": 3 * time.Second, "-5": 0, "soon": 0, "999999999999": maxRetryAfter,
		"99999999999999999999999": 0, "Mon, 02 Jan 2006 15:04:05 GMT": 0,
	} {
		require.Equal(t, want, retryAfter(header), header)
	}
}

func TestAnswersThatAreNotTheAPIsAreUnavailable(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"a proxy's page": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, "<html>bad gateway</html>")
		},
		"no JSON": func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, "hello") },
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		},
		"cut off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		},
		"too long": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"x":"`)
			chunk := strings.Repeat("x", 1<<20)
			for range 34 {
				_, _ = io.WriteString(w, chunk)
			}
			_, _ = io.WriteString(w, `"}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := serve(t, handler).Version(t.Context())
			require.ErrorIs(t, err, ErrUnavailable)
			require.Empty(t, CodeOf(err))
		})
	}
}

func TestNobodyListeningAndNobodyAnsweringAreUnavailable(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	closed, err := New(Options{BaseURL: "http://" + listener.Addr().String()})
	require.NoError(t, err)
	t.Cleanup(closed.Close)
	_, err = closed.Version(t.Context())
	require.ErrorIs(t, err, ErrUnavailable)

	silent := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = silent.Version(ctx)
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestConnectionsAreKeptAlsoAfterRefusals(t *testing.T) {
	t.Parallel()
	var connections atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusNotFound, `{"errorCode":"GROUP_NOT_FOUND"}`+strings.Repeat(" ", 1000))
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	client, err := New(Options{BaseURL: server.URL})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	for range 20 {
		_, err := client.Group(t.Context(), "orders", "g")
		require.Equal(t, protocol.CodeGroupNotFound, CodeOf(err))
	}
	require.Equal(t, int32(1), connections.Load())
}
