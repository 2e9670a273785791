package pages_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// record is an outcome of the audit.
func record(sequence int64, change ...func(*protocol.AuditRecord)) protocol.AuditRecord {
	made := protocol.AuditRecord{
		Sequence: sequence, Chain: "redis", Time: protocol.AtMillis(1_750_000_000_000 + sequence), Kind: protocol.AuditOutcome,
		Operation: "SCALE_STREAM", StreamPrefix: "orders", ConsumerGroup: "readers", Requested: map[string]string{"targetShardCount": "8"},
		RequestedBy: "ops", Reason: "more load", Principal: "ops", Roles: []string{"WRITE"}, RequestID: fmt.Sprintf("r-%d", sequence),
		ClientAddress: "198.51.100.7", UserAgent: "rscctl/1", Method: "POST", Route: "/streams/{streamPrefix}/scale", Status: 202,
		Result: protocol.AuditAllowed, DurationMs: 12, CoordinatorID: "c-1", GatewayID: "g-1", Hash: "h-" + strconv.FormatInt(sequence, 10),
	}
	for _, apply := range change {
		apply(&made)
	}
	return made
}

// audits answers GET /audit with records count … 1 in pages, as the gateway does.
func (c *console) audits(count int, change ...func(*protocol.AuditRecord)) {
	c.api.HandleFunc("GET /coord/v1/audit", func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		from, limit := count, protocol.DefaultAudit
		if cursor := query.Get("cursor"); cursor != "" {
			from, _ = strconv.Atoi(cursor)
		}
		if text := query.Get("limit"); text != "" {
			limit, _ = strconv.Atoi(text)
		}
		page := protocol.AuditResponse{Records: []protocol.AuditRecord{}}
		for ; from > 0 && len(page.Records) < limit; from-- {
			page.Records = append(page.Records, record(int64(from), change...))
		}
		if from > 0 {
			page.Next = new(strconv.Itoa(from))
		}
		if query.Encode() == "limit="+strconv.Itoa(limit) {
			page.Head = &protocol.AuditHead{Chain: "redis", Sequence: int64(count), Hash: "h-" + strconv.Itoa(count)}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(page)
	})
}

// A plan changes nothing, and does not look as if it had.
func TestAuditTellsAPlanFromAChange(t *testing.T) {
	t.Parallel()
	for result, says := range map[protocol.AuditResult]string{protocol.AuditAllowed: "plan shown", protocol.AuditRefused: "refused", protocol.AuditFailed: "not known"} {
		c := newConsole(t)
		c.audits(1, func(r *protocol.AuditRecord) { r.Requested["dryRun"], r.Result = "true", result })
		body := c.get(t, reader(), "/console/audit").body
		require.Contains(t, body, "plan: change the shard count")
		require.Contains(t, body, says)
		require.NotContains(t, body, `good">carried out<`)
	}
}

func TestAuditSaysWhoAskedForWhatAndWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	kinds := []func(*protocol.AuditRecord){
		func(*protocol.AuditRecord) {},
		func(r *protocol.AuditRecord) {
			r.Result, r.Status, r.ErrorCode = protocol.AuditRefused, 409, "MIGRATION_ACTIVE"
		},
		func(r *protocol.AuditRecord) { r.Result, r.Status = protocol.AuditFailed, 0 },
		func(r *protocol.AuditRecord) {
			r.Kind, r.Result, r.Status, r.DurationMs = protocol.AuditIntent, "", 0, 0
		},
		func(r *protocol.AuditRecord) { r.Kind, r.RequestedBy, r.Principal = protocol.AuditReplay, "deploy", "" },
	}
	page := protocol.AuditResponse{Head: &protocol.AuditHead{Chain: "redis", Sequence: 5, Hash: "h-5"}}
	for i, kind := range kinds {
		page.Records = append(page.Records, record(int64(5-i), kind))
	}
	c.answers("GET /audit", page)
	got := c.get(t, reader(), "/console/audit")
	require.Equal(t, http.StatusOK, got.status)
	for _, text := range []string{
		"carried out", "refused", "409 MIGRATION_ACTIVE", "not known", "no answer taken", "begun", "carried out, answered again",
		"change the shard count", `href="/console/streams/orders/groups/readers"`, "targetShardCount = 8", "more load", "WRITE",
		`data-copy="r-5"`, "198.51.100.7", "rscctl/1", "POST /streams/{streamPrefix}/scale", "12 ms", "redis / 5", "h-5",
		"for deploy", "nobody", `<time datetime="2025-06-15T15:06:40.005Z">`,
	} {
		require.Contains(t, got.body, text)
	}
	require.NotContains(t, got.body, "records were removed")
	require.NotContains(t, got.body, `rel="next"`)
	require.Equal(t, "reader", c.calls("GET")[0].subject)
}

func TestAnAuditWithAnotherEndThanItsHeadIsToldOf(t *testing.T) {
	t.Parallel()
	for _, head := range []protocol.AuditHead{{Sequence: 6, Hash: "h-5"}, {Sequence: 5, Hash: "other"}} {
		c := newConsole(t)
		c.answers("GET /audit", protocol.AuditResponse{Records: []protocol.AuditRecord{record(5)}, Head: &head})
		require.Contains(t, c.get(t, reader(), "/console/audit").body, "records were removed, or changed")
	}
	c := newConsole(t)
	c.answers("GET /audit", protocol.AuditResponse{Records: []protocol.AuditRecord{}, Head: &protocol.AuditHead{Chain: "redis"}})
	got := c.get(t, reader(), "/console/audit")
	require.NotContains(t, got.body, "records were removed")
	require.Contains(t, got.body, "Nobody has asked for a change yet")
}

func TestConditionsOfTheAuditReachTheAPI(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.audits(250)
	got := c.get(t, reader(), "/console/audit?"+url.Values{
		"stream": {"orders:eu"}, "group": {"a&b"}, "principal": {" ops "}, "from": {"2026-01-02T03:04"}, "to": {"2026-01-02T05:00:00+02:00"},
	}.Encode())
	require.Equal(t, http.StatusOK, got.status)
	calls := c.calls("GET")
	require.Len(t, calls, 1)
	require.Equal(t, "consumerGroup=a%26b&from=2026-01-02T03%3A04%3A00Z&limit=50&principal=ops&streamPrefix=orders%3Aeu&to=2026-01-02T03%3A00%3A00Z",
		calls[0].query)
	require.Contains(t, got.body, `value="2026-01-02T03:04:00"`)
	require.Contains(t, got.body, "r-201<")
	require.NotContains(t, got.body, "r-200<")

	next := regexpOne(t, `href="(/console/audit\?[^"]*)" rel="next"`, got.body)
	require.Contains(t, next, "cursor=200")
	got = c.get(t, reader(), next)
	require.Contains(t, c.calls("GET")[1].query, "cursor=200&from=2026-01-02T03%3A04%3A00Z&limit=50&principal=ops")
	require.Contains(t, got.body, "r-200<")
	require.NotContains(t, got.body, "r-201<")
	require.Contains(t, got.body, `rel="prev"`)
	got = c.get(t, reader(), strings.Replace(next, "cursor=200", "cursor=50", 1))
	require.NotContains(t, got.body, `rel="next"`)
	require.Contains(t, got.body, "r-1<")
}

// Operation and outcome are no conditions of the API: the page says what it looked through.
func TestConditionsThatTheAPIDoesNotKnowAreThePagesOwn(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.audits(2000, func(r *protocol.AuditRecord) {
		if r.Sequence%10 == 0 {
			r.Operation, r.Result = "DELETE_STREAM", protocol.AuditRefused
		}
	})
	got := c.get(t, reader(), "/console/audit?operation=DELETE_STREAM&outcome=REFUSED")
	require.Len(t, c.calls("GET"), 5)
	require.NotContains(t, c.calls("GET")[0].query, "DELETE")
	require.Regexp(t, `\d+ records looked through for it, \d+ fit`, got.body)
	shown := strings.Count(got.body, `data-copy="r-`)
	require.Greater(t, shown, 20)
	require.NotContains(t, got.body, "r-1999<")
	require.Contains(t, got.body, "r-2000<")
	// The next page goes on behind the last record that was looked at: none is left out.
	last := regexpOne(t, `cursor=(\d+)`, got.body)
	got = c.get(t, reader(), "/console/audit?operation=DELETE_STREAM&outcome=REFUSED&cursor="+last)
	at, err := strconv.Atoi(last)
	require.NoError(t, err)
	require.Contains(t, got.body, fmt.Sprintf("r-%d<", at-at%10))

	got = c.get(t, reader(), "/console/audit?operation=FENCE_MEMBER")
	require.Contains(t, got.body, "None among the records that were looked through")
	require.Contains(t, got.body, `rel="next"`)
}

func TestATimeThatIsNoneIsRefusedWithoutAsking(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	got := c.get(t, reader(), "/console/audit?from=yesterday&stream=orders")
	require.Equal(t, http.StatusBadRequest, got.status)
	require.Contains(t, got.body, "From is no time")
	require.Contains(t, got.body, `value="orders"`)
	require.Empty(t, c.calls("GET"))
}

func TestRefusalsOfTheAuditAreSaidBesideItsForm(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		code   protocol.Code
		status int
		text   string
	}{
		{protocol.CodeForbidden, 403, "Leave the stream empty"},
		{protocol.CodeInvalidRequest, 400, "Change the conditions"},
		{protocol.CodeStoreUnavailable, 503, "Try again in a few seconds"},
		{protocol.CodeRedisNotConfigured, 200, "rscctl audit verify --file"},
	} {
		c := newConsole(t)
		c.refuses("GET /audit", want.code, "<i>because</i>")
		got := c.get(t, reader(), "/console/audit?stream=payments")
		require.Equal(t, want.status, got.status, want.code)
		require.Contains(t, got.body, want.text)
		require.NotContains(t, got.body, "<i>")
		require.Contains(t, got.body, "<h1>Audit</h1>")
		if want.code != protocol.CodeRedisNotConfigured {
			require.Contains(t, got.body, `value="payments"`, "what was typed is kept")
			require.Contains(t, got.body, string(want.code))
		}
	}
	c := newConsole(t)
	c.refuses("GET /audit", protocol.CodeUnauthorized, "over")
	require.Equal(t, "/console/login?next=%2Fconsole%2Faudit", c.get(t, reader(), "/console/audit").header.Get("Location"))
}

// Reliability, Console, XSS: whoever asks for a change writes into the audit, allowed or not.
func TestRecordsAreInertAndAPageOfTheLongestStaysSmall(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	evil := `"><script>alert(1)</script>`
	long := evil + strings.Repeat("é", 256-len(evil))
	c.audits(100, func(r *protocol.AuditRecord) {
		r.Operation, r.StreamPrefix, r.ConsumerGroup, r.Principal, r.RequestedBy, r.Reason = evil, evil, "javascript:alert(1)", evil, long, long
		r.Requested = map[string]string{}
		for i := range 9 {
			r.Requested[evil+strconv.Itoa(i)] = long
		}
		r.UserAgent, r.Query, r.ForwardedFor, r.RequestID, r.ErrorCode, r.Hash, r.Route = long, long, long, evil, evil, strings.Repeat("0", 64), long
		r.Roles, r.Chain, r.Result, r.BodySHA256, r.PreviousHash = []string{evil}, evil, protocol.AuditResult(evil), r.Hash, r.Hash
	})
	got := c.get(t, reader(), "/console/audit?stream="+url.QueryEscape(evil)+"&operation="+url.QueryEscape(evil))
	require.Equal(t, http.StatusOK, got.status)
	require.NotContains(t, got.body, "<script>alert")
	require.NotContains(t, got.body, `href="javascript:`)
	require.NotRegexp(t, `(?i) on[a-z]+=| style=`, got.body)
	require.Contains(t, got.body, "&lt;script&gt;")
	require.Less(t, len(got.body), 300_000)
}

// regexpOne returns what a pattern's group finds in a page, as a browser reads it.
func regexpOne(t *testing.T, pattern, body string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(body)
	require.Len(t, found, 2, pattern)
	return html.UnescapeString(found[1])
}
