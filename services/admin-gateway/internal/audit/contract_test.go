package audit

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/postgresproc"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
)

// keeper is a sink that can be asked.
type keeper interface {
	Sink
	Reader
}

// opening makes the sink of a gateway; all of one opening share one audit.
type opening func(t *testing.T, gatewayID string) keeper

// claims are what holds for every sink that can be asked, each with an audit of its own.
func claims() map[string]func(t *testing.T, open opening) {
	return map[string]func(t *testing.T, open opening){
		"two gateways that append at once make one chain without a gap": oneChain,
		"a gateway that starts goes on with the chain":                  goesOn,
		"an empty audit has a head without a number":                    emptyHead,
		"it is asked by its conditions, newest first":                   askedByConditions,
		"a scoped principal sees its streams only":                      scoped,
		"what is asked for is found whatever its text is":               strangeTexts,
		"a page that finds little in much has a next one":               sparse,
		"the chain is verified by who reads it through the API":         verifiedThroughAPI,
	}
}

func TestSinksThatCanBeAsked(t *testing.T) {
	t.Parallel()
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		contract(t, func(t *testing.T) opening {
			t.Helper()
			server := redisproc.Start(t)
			return func(t *testing.T, id string) keeper { t.Helper(); return sinkOf(server.Client(t), id) }
		})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		server := postgresproc.Start(t)
		contract(t, func(t *testing.T) opening {
			t.Helper()
			where := server.Database(t)
			return func(t *testing.T, _ string) keeper { t.Helper(); return inPostgres(t, where) }
		})
	})
}

func contract(t *testing.T, begin func(*testing.T) opening) {
	t.Helper()
	for name, holds := range claims() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			holds(t, begin(t))
		})
	}
}

func note(id string) protocol.AuditRecord {
	return protocol.AuditRecord{
		Time: protocol.Timestamp{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, Kind: protocol.AuditOutcome,
		Operation: "DELETE_GROUP", StreamPrefix: "orders", ConsumerGroup: "billing", Principal: "ann", RequestID: id,
		Intended: true,
	}
}

// write appends records with these request ids.
func write(t *testing.T, sink Sink, ids ...string) {
	t.Helper()
	for _, id := range ids {
		require.NoError(t, sink.Append(t.Context(), note(id)))
	}
}

// all reads the whole audit, oldest first, and the head.
func all(t *testing.T, reader Reader, limit int) ([]protocol.AuditRecord, *protocol.AuditHead) {
	t.Helper()
	var records []protocol.AuditRecord
	query, head := Query{Limit: limit}, (*protocol.AuditHead)(nil)
	for first := true; ; first = false {
		page, err := reader.Page(t.Context(), query)
		require.NoError(t, err)
		if first {
			head = page.Head
		} else {
			require.Nil(t, page.Head)
		}
		records = append(records, page.Records...)
		if page.Next == nil {
			slices.Reverse(records)
			return records, head
		}
		query.Cursor = *page.Next
	}
}

// idsOf are the records' request ids.
func idsOf(records []protocol.AuditRecord) []string {
	ids := []string{}
	for _, record := range records {
		ids = append(ids, record.RequestID)
	}
	return ids
}

func faults(findings []audit.Finding) []audit.Kind {
	var kinds []audit.Kind
	for _, finding := range findings {
		if !finding.Kind.Note() {
			kinds = append(kinds, finding.Kind)
		}
	}
	return kinds
}

func verify(t *testing.T, reader Reader) []audit.Kind {
	t.Helper()
	return faults(audit.Verify(all(t, reader, protocol.MaxAudit)))
}

func oneChain(t *testing.T, open opening) {
	t.Helper()
	const each, gateways = 1000, 2
	var group sync.WaitGroup
	failed := make(chan error, gateways)
	for i := range gateways {
		sink := open(t, fmt.Sprintf("gateway-%d", i))
		group.Go(func() {
			for n := range each {
				if err := sink.Append(t.Context(), note(fmt.Sprintf("%d-%d", i, n))); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(failed)
	require.NoError(t, <-failed)

	records, head := all(t, open(t, "reader"), 777)
	require.Len(t, records, gateways*each)
	require.Equal(t, int64(gateways*each), head.Sequence)
	require.Empty(t, audit.Verify(records, head))
	ids := make(map[string]bool)
	for _, record := range records {
		ids[record.RequestID] = true
	}
	require.Len(t, ids, gateways*each, "each record once")
}

func goesOn(t *testing.T, open opening) {
	t.Helper()
	write(t, open(t, "a"), "1", "2")
	again := open(t, "a")
	write(t, again, "3")
	records, head := all(t, again, 2)
	require.Empty(t, audit.Verify(records, head))
	require.Equal(t, []string{"1", "2", "3"}, idsOf(records))
}

func emptyHead(t *testing.T, open opening) {
	t.Helper()
	records, head := all(t, open(t, "a"), 1)
	require.Empty(t, records)
	require.NotEmpty(t, head.Chain)
	require.Equal(t, &protocol.AuditHead{Chain: head.Chain}, head)
	require.Empty(t, audit.Verify(records, head))
}

// filled is an Auditor whose sink has records 0 … 8, one a minute from noon on: ann and bob
// by turns, and streams orders with a group, payments, and none.
func filled(t *testing.T, sink keeper) *Auditor {
	t.Helper()
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

func askedByConditions(t *testing.T, open opening) {
	t.Helper()
	a := filled(t, open(t, "a"))
	for query, want := range map[string][]string{
		"":                                    {"8", "7", "6", "5", "4", "3", "2", "1", "0"},
		"streamPrefix=orders":                 {"6", "3", "0"},
		"consumerGroup=billing&principal=bob": {"3"},
		"principal=ann":                       {"8", "6", "4", "2", "0"},
		"principal=eve":                       {},
		"from=2026-01-02T12:05:00Z":           {"8", "7", "6", "5"},
		"from=2026-01-02T12:05:00.0000001Z":   {"8", "7", "6"},
		"to=2026-01-02T13:01:00%2B01:00":      {"1", "0"},
		"to=2026-01-02T12:01:00.0009Z":        {"1", "0"},
		"from=2026-01-02T12:02:00Z&to=2026-01-02T12:03:00.000Z":               {"3", "2"},
		"from=0000-01-01T00:00:00%2B10:00&to=9999-12-31T23:59:59-10:00&limit": {"8", "7", "6", "5", "4", "3", "2", "1", "0"},
		"from=9999-12-31T23:59:59-10:00":                                      {},
		"to=0000-01-01T00:00:00%2B10:00":                                      {},
		"streamPrefix=orders&consumerGroup=billing":                           {"6", "3", "0"},
		"unknown=1&streamPrefix=payments":                                     {"7", "4", "1"},
		"streamPrefix='%20OR%20true":                                          {},
	} {
		for _, limit := range []string{"1", "2", "3", "9", "1000"} {
			values, err := url.ParseQuery(query)
			require.NoError(t, err)
			values.Set("limit", limit)
			require.Equal(t, want, pages(t, a, values), query)
		}
	}
}

func scoped(t *testing.T, open opening) {
	t.Helper()
	sink := open(t, "a")
	a := filled(t, sink)
	require.Equal(t, []string{"6", "3", "0"}, pages(t, a, url.Values{}, "ord*"))
	require.Equal(t, []string{"7", "6", "4", "3", "1", "0"}, pages(t, a, url.Values{}, "orders", "pay*"))
	require.Empty(t, pages(t, a, url.Values{"streamPrefix": {"orders"}}, "payments"))
	_, body := ask(t, a, "", "ord*")
	require.Contains(t, body, `"head":null`)
	_, head := all(t, sink, 1)
	_, body = ask(t, a, "limit=1")
	require.Contains(t, body, `"head":{"chain":"`+head.Chain+`","sequence":9,`)
}

// texts are what a caller may put where names belong.
func texts() []string {
	long := ""
	for range 256 {
		long += "😀"
	}
	return []string{
		"a\x00b", "\u2028\u202e", "\r\n\x1b[2J", `","principal":"ann`, `a\`, `\u0061`, `"`, "%", "_", "ä\u0301", "\ufffd", long, long + "x", "'; DROP TABLE rsc_audit_record; --",
	}
}

func strangeTexts(t *testing.T, open opening) {
	t.Helper()
	sink := open(t, "a")
	for i, text := range texts() {
		record := note(strconv.Itoa(i))
		record.StreamPrefix, record.ConsumerGroup, record.Principal, record.Reason = text, text, text, text
		record.Requested = map[string]string{"force": text}
		require.NoError(t, sink.Append(t.Context(), record))
	}
	write(t, sink, "other")
	for i, text := range texts() {
		for _, query := range []Query{{StreamPrefix: text}, {ConsumerGroup: text}, {Principal: text}, {StreamPrefix: text, ConsumerGroup: text, Principal: text}} {
			for query.Limit = 1; query.Limit < 3; query.Limit++ {
				records := conditioned(t, sink, query)
				require.Equal(t, []string{strconv.Itoa(i)}, idsOf(records), "%q", text)
				require.Equal(t, text, records[0].Reason)
			}
		}
	}
	require.Empty(t, verify(t, sink))
}

// conditioned follows Next of a query.
func conditioned(t *testing.T, reader Reader, query Query) []protocol.AuditRecord {
	t.Helper()
	var records []protocol.AuditRecord
	for {
		page, err := reader.Page(t.Context(), query)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.Records), query.Limit)
		records = append(records, page.Records...)
		if page.Next == nil {
			return records
		}
		query.Cursor = *page.Next
	}
}

func sparse(t *testing.T, open opening) {
	t.Helper()
	sink := open(t, "a")
	wanted := note("wanted")
	wanted.StreamPrefix = "payments"
	require.NoError(t, sink.Append(t.Context(), wanted))
	for i := range 2 * batch {
		require.NoError(t, sink.Append(t.Context(), note(strconv.Itoa(i))))
	}
	reaches := func(stream string) bool { return stream == "payments" }
	records := conditioned(t, sink, Query{Limit: 1, Reaches: reaches})
	require.Equal(t, []string{"wanted"}, idsOf(records))
	records = conditioned(t, sink, Query{Limit: protocol.MaxAudit, Reaches: reaches, Principal: "ann"})
	require.Equal(t, []string{"wanted"}, idsOf(records))
}

// changes sends mutations with texts that are none through an Auditor.
func changes(t *testing.T, a *Auditor, count int) {
	t.Helper()
	for i := range count {
		e := scaling(`{"reason":"<\u2028\u202e & \"\u0000zwölf \ud83d\ude00> ` + strconv.Itoa(i) + `","initialPosition":"\u001b[2J"}`)
		e.Principal.Name = "a\xffb\r\n"
		pass(t, a, e, nil, accept)
	}
}

// through returns a client of the audit's API.
func through(t *testing.T, a *Auditor) *client.Admin {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.Query(w, r.WithContext(exchange.With(r.Context(), &exchange.Exchange{})))
	}))
	t.Cleanup(server.Close)
	c, err := client.New(client.Options{CoordinatorURL: server.URL, HTTPClient: server.Client()})
	require.NoError(t, err)
	return c.Admin()
}

func verifiedThroughAPI(t *testing.T, open opening) {
	t.Helper()
	sink := open(t, "a")
	a := New(Config{GatewayID: "a", OnFailure: Refuse, Buffer: 10, Timeout: time.Minute}, sink, sink, clock.Now, nil)
	changes(t, a, 25)
	records, head := download(t, through(t, a), 7)
	require.Len(t, records, 50)
	require.Empty(t, audit.Verify(records, head), "each intent has its outcome, and each text its hash")
}
