package audit

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

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

// filled is an Auditor whose sink has records 0 … 8, one a minute from noon on: ann and bob
// by turns, and streams orders with a group, payments, and none.
func filled(t *testing.T) *Auditor {
	t.Helper()
	sink := sinkOf(redisproc.Start(t).Client(t), "a")
	for i := range 9 {
		record := protocol.AuditRecord{
			Kind: protocol.AuditOutcome, RequestID: fmt.Sprint(i), Principal: []string{"ann", "bob"}[i%2],
			Time: protocol.Timestamp{Time: noon().Add(time.Duration(i) * time.Minute)},
		}
		switch i % 3 {
		case 0:
			record.StreamPrefix, record.ConsumerGroup = "orders", "billing"
		case 1:
			record.StreamPrefix = "payments"
		}
		require.NoError(t, sink.Append(t.Context(), record))
	}
	return New(Config{}, sink, sink, clock.Now, nil)
}

func TestTheAuditIsAskedByItsConditionsNewestFirst(t *testing.T) {
	t.Parallel()
	a := filled(t)
	for query, want := range map[string][]string{
		"":                                    {"8", "7", "6", "5", "4", "3", "2", "1", "0"},
		"streamPrefix=orders":                 {"6", "3", "0"},
		"consumerGroup=billing&principal=bob": {"3"},
		"principal=ann":                       {"8", "6", "4", "2", "0"},
		"principal=eve":                       {},
		"from=2026-01-02T12:05:00Z":           {"8", "7", "6", "5"},
		"to=2026-01-02T13:01:00%2B01:00":      {"1", "0"},
		"from=2026-01-02T12:02:00Z&to=2026-01-02T12:03:00.000Z": {"3", "2"},
		"streamPrefix=orders&consumerGroup=billing":             {"6", "3", "0"},
		"unknown=1&streamPrefix=payments":                       {"7", "4", "1"},
	} {
		for _, limit := range []string{"1", "2", "3", "1000"} {
			values, err := url.ParseQuery(query + "&limit=" + limit)
			require.NoError(t, err)
			require.Equal(t, want, pages(t, a, values), query)
		}
	}
}

func TestAScopedPrincipalSeesItsStreamsOnly(t *testing.T) {
	t.Parallel()
	a := filled(t)
	require.Equal(t, []string{"6", "3", "0"}, pages(t, a, url.Values{}, "ord*"))
	require.Equal(t, []string{"7", "6", "4", "3", "1", "0"}, pages(t, a, url.Values{}, "orders", "pay*"))
	require.Empty(t, pages(t, a, url.Values{"streamPrefix": {"orders"}}, "payments"))
	_, body := ask(t, a, "", "ord*")
	require.Contains(t, body, `"head":null`)
	_, body = ask(t, a, "limit=1")
	require.Contains(t, body, `"head":{"chain":"redis","sequence":9,`)
}

func TestConditionsThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	a := filled(t)
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
