package audit

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
)

// ask asks an Auditor as a principal with these scopes.
func ask(t *testing.T, a *Auditor, query string, scopes ...auth.Scope) (int, string) {
	t.Helper()
	e := &exchange.Exchange{Principal: auth.Principal{Name: "ann", Roles: auth.Read, Scopes: scopes}}
	r := httptest.NewRequestWithContext(exchange.With(t.Context(), e), http.MethodGet, "/coord/v1/audit", http.NoBody)
	r.URL.RawQuery = query
	w := httptest.NewRecorder()
	a.Query(w, r)
	if w.Code != http.StatusOK {
		require.Contains(t, w.Body.String(), `"errorCode":"`+string(e.Code)+`"`)
	}
	return w.Code, w.Body.String()
}

// pages follows Next and returns the request ids.
func pages(t *testing.T, a *Auditor, query url.Values, scopes ...auth.Scope) []string {
	t.Helper()
	ids := []string{}
	for {
		status, body := ask(t, a, query.Encode(), scopes...)
		require.Equal(t, http.StatusOK, status, body)
		var page protocol.AuditResponse
		require.NoError(t, json.Unmarshal([]byte(body), &page))
		for _, record := range page.Records {
			ids = append(ids, record.RequestID)
		}
		if page.Next == nil {
			return ids
		}
		query.Set("cursor", *page.Next)
	}
}

func TestConditionsThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	a := filled(t, sinkOf(redisproc.Start(t).Client(t), "a"))
	for _, query := range []string{
		"limit=0", "limit=-1", "limit=1001", "limit=x", "limit=1e3", "limit=99999999999999999999", "from=yesterday", "to=2026-01-02", "from=1",
		"cursor=x", "cursor=1", "cursor=1-", "cursor=-1-1", "cursor=%2B1-1", "cursor=%2B", "cursor=-", "cursor=(1-1", "cursor=1-1-1",
		"cursor=1-99999999999999999999", "cursor=copies/", "cursor=copies/x", "cursor=copies/1/x",
		"cursor=copies/1/1-1", "cursor=copies/1/1-1&consumerGroup=a", "streamPrefix=a&streamPrefix=b", "limit=1&limit=1", "a=%zz", "a;b", "cursor=1-1%0a", "from=%00",
	} {
		status, body := ask(t, a, query)
		require.Equal(t, http.StatusBadRequest, status, query)
		require.Contains(t, body, "INVALID_REQUEST")
		require.Less(t, len(body), 400)
	}
	status, body := ask(t, a, "cursor="+strings.Repeat("9", 5000))
	require.Equal(t, http.StatusBadRequest, status)
	require.Less(t, len(body), 400)
}

func TestALogCannotBeAsked(t *testing.T) {
	t.Parallel()
	status, body := ask(t, New(Config{}, NewLog(&disk{room: -1}, "a"), nil, clock.Now, nil), "")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "REDIS_NOT_CONFIGURED")
	require.Contains(t, body, "audit.sink")
}

func TestARedisThatIsAwayIsSaidWithoutDetails(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	sink := sinkOf(server.Client(t), "a")
	server.Kill()
	status, body := ask(t, New(Config{}, sink, sink, clock.Now, nil), "")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "STORE_UNAVAILABLE")
	require.NotContains(t, body, "127.0.0.1")
}
