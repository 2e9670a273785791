package audit

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

func noon() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) }

// scaling is a request to scale a stream, as the stages before have filled it in.
func scaling(body string) *exchange.Exchange {
	return &exchange.Exchange{
		Began: noon(),
		Client: exchange.Client{
			Address: netip.MustParseAddr("203.0.113.7"), Peer: netip.MustParseAddr("10.0.0.1"), Forwarded: "203.0.113.7",
		},
		Route: route.Route{
			Operation: "SCALE_STREAM", Pattern: "/coord/v1/streams/{streamPrefix}/scale", Method: http.MethodPost,
			Service: route.Coordinator, Mutation: true, Stream: "orders",
		},
		Body: []byte(body), BodyHash: "abc", Principal: auth.Principal{Name: "ann", Roles: auth.Read | auth.Write},
	}
}

func request(t *testing.T, e *exchange.Exchange) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/coord/v1/streams/orders/scale", http.NoBody)
	r.Header.Set("User-Agent", "rscctl")
	return r.WithContext(httpx.WithRequestID(exchange.With(r.Context(), e), "REQ-1"))
}

const scaleBody = `{"targetShardCount":8,"requestedBy":"ann","reason":"more load","deprecatedAfter":null}`

func TestARecordHoldsWhoAskedForWhatAndWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	e := scaling(scaleBody)
	e.Intended, e.Upstream = true, "coordinator-2"
	got := outcomeOf(request(t, e), e, ending{status: 202}, "gateway-1", noon().Add(1500*time.Microsecond))
	require.Equal(t, protocol.AuditRecord{
		Time: protocol.Timestamp{Time: noon().Add(1500 * time.Microsecond)}, Kind: protocol.AuditOutcome,
		Operation: "SCALE_STREAM", StreamPrefix: "orders",
		Requested:   map[string]string{"targetShardCount": "8", "deprecatedAfter": "null"},
		RequestedBy: "ann", Reason: "more load", Principal: "ann", Roles: []string{"READ", "WRITE"},
		RequestID: "REQ-1", ClientAddress: "203.0.113.7", PeerAddress: "10.0.0.1", ForwardedFor: "203.0.113.7", UserAgent: "rscctl",
		Method: "POST", Route: "/coord/v1/streams/{streamPrefix}/scale", BodySHA256: "abc",
		Status: 202, Result: protocol.AuditAllowed, DurationMs: 1, CoordinatorID: "coordinator-2", Intended: true, GatewayID: "gateway-1",
	}, got)
}

func TestTheResultTellsWhatTheCallerMayRelyOn(t *testing.T) {
	t.Parallel()
	const refused = `{"errorCode":"GROUP_NOT_FOUND"}`
	for name, one := range map[string]struct {
		exchange exchange.Exchange
		end      ending
		result   protocol.AuditResult
		code     string
	}{
		"carried out":                  {exchange.Exchange{Intended: true}, ending{status: 200}, protocol.AuditAllowed, ""},
		"refused by the service":       {exchange.Exchange{Intended: true}, ending{status: 404, body: []byte(refused)}, protocol.AuditRefused, "GROUP_NOT_FOUND"},
		"refused here":                 {exchange.Exchange{Code: protocol.CodeForbidden}, ending{status: 403}, protocol.AuditRefused, "FORBIDDEN"},
		"refused here with a 503":      {exchange.Exchange{Code: protocol.CodeAuditUnavailable}, ending{status: 503}, protocol.AuditRefused, "AUDIT_UNAVAILABLE"},
		"sent, and nobody answers":     {exchange.Exchange{Intended: true, Code: protocol.CodeUpstreamFailed}, ending{status: 502}, protocol.AuditFailed, "UPSTREAM_FAILED"},
		"sent, and the caller left":    {exchange.Exchange{Intended: true}, ending{}, protocol.AuditFailed, ""},
		"given again":                  {exchange.Exchange{Replayed: true}, ending{status: 201}, protocol.AuditAllowed, ""},
		"given again, and it failed":   {exchange.Exchange{Replayed: true}, ending{status: 500, body: []byte(`{"errorCode":"INTERNAL_ERROR"}`)}, protocol.AuditFailed, "INTERNAL_ERROR"},
		"broken":                       {exchange.Exchange{}, ending{status: 500, broken: true}, protocol.AuditFailed, "INTERNAL_ERROR"},
		"an answer that is too long":   {exchange.Exchange{Intended: true}, ending{status: 404, body: []byte(strings.Repeat(" ", 4096) + refused)}, protocol.AuditRefused, ""},
		"an answer that is no JSON":    {exchange.Exchange{Intended: true}, ending{status: 404, body: []byte(`<h1>`)}, protocol.AuditRefused, ""},
		"an answer with an odd code":   {exchange.Exchange{Intended: true}, ending{status: 404, body: []byte(`{"errorCode":"a\nb"}`)}, protocol.AuditRefused, ""},
		"an answer with a long code":   {exchange.Exchange{Intended: true}, ending{status: 404, body: []byte(`{"errorCode":"` + strings.Repeat("A", 65) + `"}`)}, protocol.AuditRefused, ""},
		"a success with an error code": {exchange.Exchange{Intended: true}, ending{status: 200, body: []byte(refused)}, protocol.AuditAllowed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := one.exchange
			got := outcomeOf(request(t, &e), &e, one.end, "g", noon())
			require.Equal(t, one.result, got.Result)
			require.Equal(t, one.code, got.ErrorCode)
			require.Equal(t, e.Replayed, got.Kind == protocol.AuditReplay)
		})
	}
}

func TestOnlyKnownFieldsOfABodyAreKept(t *testing.T) {
	t.Parallel()
	require.Equal(t, asked{by: "ann", reason: "r", values: map[string]string{
		"consumerGroups": `["a","b"]`, "force": "true", "shardIndex": "3", "initialPosition": `"latest"`,
	}}, read([]byte(`{"requestedBy":"ann","reason":"r","consumerGroups":[ "a", "b" ],"force":true,"shardIndex":3,
		"initialPosition":"latest","password":"canary","token":"canary","Force":"canary","reason ":"canary"}`)))
	for body, want := range map[string]asked{
		"": {}, "null": {}, "[]": {}, "x": {}, `{"force":true`: {}, `"force"`: {}, "{}": {}, `{"force":true}x`: {},
		`{"force":{"password":"canary"},"consumerGroups":[{"password":"canary"}],"close":[["canary"]]}`: {},
		`{"requestedBy":7,"reason":{"password":"canary"}}`:                                              {},
		`{"consumerGroups":[],"targetShardCount":null}`:                                                 {values: map[string]string{"consumerGroups": "[]", "targetShardCount": "null"}},
	} {
		if want.values == nil {
			want.values = map[string]string{}
		}
		require.Equal(t, want, read([]byte(body)), body)
	}
}

func TestTextsOfACallerAreCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ö", 10_000)
	e := scaling(`{"reason":"` + long + `","initialPosition":"` + long + `","requestedBy":"` + long + `"}`)
	e.Principal.Name, e.Client.Forwarded, e.Upstream, e.Route.Query = long, long, long, "dryRun="+long
	r := request(t, e)
	r.Header.Set("User-Agent", long)
	got := outcomeOf(r, e, ending{status: 200}, "g", noon())
	want := strings.Repeat("ö", 256)
	require.Equal(t, []string{want, want, want, want, want, want}, []string{
		got.Reason, got.RequestedBy, got.Principal, got.ForwardedFor, got.CoordinatorID, got.UserAgent,
	})
	require.Equal(t, `"`+want[:len(want)-2], got.Requested["initialPosition"])
	line, err := audit.Encode(got)
	require.NoError(t, err)
	require.Less(t, len(line), 16<<10)
}

// secret is a canary: it may be nowhere in a record (C9).
const secret = "canary-5f3a"

func TestNoSecretGetsIntoARecord(t *testing.T) {
	t.Parallel()
	e := scaling(`{"password":"` + secret + `","reason":"r","force":{"x":"` + secret + `"},"` + secret + `":1}`)
	e.Route.Query, e.TokenID = "access_token="+secret+"&"+secret+"=1&dryRun=true", secret
	e.Route.DryRun = true
	r := request(t, e)
	r.Header.Set("Authorization", "Bearer "+secret)
	r.Header.Set("Cookie", "session="+secret)
	r.Header.Set("Idempotency-Key", secret)
	r.URL.RawQuery = e.Route.Query
	got := outcomeOf(r, e, ending{status: 400, body: []byte(`{"errorCode":"X","message":"` + secret + `"}`)}, "g", noon())
	line, err := audit.Encode(got)
	require.NoError(t, err)
	require.NotContains(t, string(line), secret)
	require.Equal(t, "dryRun=true", got.Query)
	require.Equal(t, "true", got.Requested["dryRun"])
}

func TestOneEventIsOneLineWhateverTheCallerSends(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		evil := rapid.SampledFrom([]string{"\r\n", "\n", "\x00", "\x1b[31m", "\u2028", "\u202e", "\u0085", `"}`, `\`, "\xff", "x"})
		text := strings.Join(rapid.SliceOfN(evil, 1, 20).Draw(rt, "text"), "")
		body, err := json.Marshal(map[string]any{"reason": text, "requestedBy": text, "initialPosition": text, "consumerGroups": []string{text}})
		require.NoError(rt, err)
		e := scaling(string(body))
		e.Principal.Name, e.Client.Forwarded, e.Route.Query, e.Upstream = text, text, "dryRun="+text, text
		r := request(t, e)
		r.Header["User-Agent"] = []string{text}
		var out lines
		require.NoError(rt, NewLog(&out, "g").Append(t.Context(), outcomeOf(r, e, ending{status: 200}, "g", noon())))
		require.Len(rt, out, 1)
		require.Equal(rt, 1, strings.Count(out[0], "\n"))
		for _, c := range strings.TrimSuffix(out[0], "\n") {
			require.True(rt, ' ' <= c && c < 0x7f, "%q", c)
		}
		record, found, err := audit.ParseLine([]byte(out[0]))
		require.NoError(rt, err)
		require.True(rt, found)
		require.Equal(rt, 200, record.Status)
		require.Equal(rt, strings.ToValidUTF8(text, "\uFFFD"), record.Principal, "the text itself is kept")
	})
}

// lines keeps what is written, one element a Write.
type lines []string

func (l *lines) Write(text []byte) (int, error) {
	*l = append(*l, string(text))
	return len(text), nil
}
