package e2e_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// exchange is a heartbeat with its answer.
type exchange struct {
	sent, answered time.Time
	code           int
	request        protocol.HeartbeatRequest
	answer         protocol.HeartbeatResponse
}

// recorder stands between the consumers and their coordinator and keeps what they say to
// each other. It can lose answers.
type recorder struct {
	url string

	mu        sync.Mutex
	exchanges []exchange
	losing    func(exchange) bool
}

// lose has the answers of some exchanges thrown away from now on.
func (r *recorder) lose(losing func(exchange) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.losing = losing
}

// keep takes note of an exchange and tells whether its answer arrives.
func (r *recorder) keep(one exchange) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.exchanges = append(r.exchanges, one)
	return r.losing == nil || !r.losing(one)
}

// startRecorder returns a recorder in front of the coordinator at target.
func startRecorder(t *testing.T, target string) *recorder {
	t.Helper()
	to, err := url.Parse(target)
	require.NoError(t, err)
	transport := &http.Transport{MaxIdleConnsPerHost: 16}
	forward := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	r := &recorder{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if !strings.HasSuffix(request.URL.Path, "/heartbeat") {
			forward.ServeHTTP(w, request)
			return
		}
		one := exchange{sent: time.Now()}
		said, _ := io.ReadAll(request.Body)
		request.Body = io.NopCloser(bytes.NewReader(said))
		heard := httptest.NewRecorder()
		forward.ServeHTTP(heard, request)
		one.answered, one.code = time.Now(), heard.Code
		_, _ = json.Unmarshal(said, &one.request), json.Unmarshal(heard.Body.Bytes(), &one.answer)
		if !r.keep(one) {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		maps.Copy(w.Header(), heard.Header())
		w.WriteHeader(heard.Code)
		_, _ = w.Write(heard.Body.Bytes())
	}))
	r.url = server.URL
	t.Cleanup(func() {
		server.Close()
		transport.CloseIdleConnections()
	})
	return r
}

// since returns the heartbeats that were sent after a time and have a decision as answer,
// in the order in which they were sent.
func (r *recorder) since(after time.Time) []exchange {
	return r.decided(func(e exchange) bool { return e.sent.After(after) })
}

// answeredSince is since for those that were answered after a time.
func (r *recorder) answeredSince(after time.Time) []exchange {
	return r.decided(func(e exchange) bool { return e.answered.After(after) })
}

func (r *recorder) decided(wanted func(exchange) bool) []exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	later := slices.DeleteFunc(slices.Clone(r.exchanges), func(e exchange) bool {
		return e.code != http.StatusOK || !wanted(e)
	})
	slices.SortStableFunc(later, func(a, b exchange) int { return a.sent.Compare(b.sent) })
	return later
}
