package pages_test

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// cells reads an export as CSV by the names of its columns, without its last line where that is
// no record.
func cells(t *testing.T, body string) (records []map[string]string, end string) {
	t.Helper()
	reader := csv.NewReader(strings.NewReader(body))
	reader.FieldsPerRecord = -1
	lines, err := reader.ReadAll()
	require.NoError(t, err)
	for _, line := range lines[1:] {
		if len(line) == 1 {
			end = line[0]
			continue
		}
		require.Len(t, line, len(lines[0]))
		record := map[string]string{}
		for i, name := range lines[0] {
			record[name] = line[i]
		}
		records = append(records, record)
	}
	return records, end
}

func TestAnExportHasAllRecords(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.audits(10_000)
	got := c.get(t, reader(), "/console/audit.csv?stream=orders&from=2026-01-02T03:04")
	require.Equal(t, http.StatusOK, got.status)
	require.Regexp(t, `^attachment; filename="audit-\d{8}T\d{6}Z\.csv"$`, got.header.Get("Content-Disposition"))
	require.Equal(t, "text/csv; charset=utf-8; header=present", got.header.Get("Content-Type"))
	require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
	records, end := cells(t, got.body)
	require.Len(t, records, 10_000)
	require.Empty(t, end)
	for i, each := range records {
		require.Equal(t, strconv.Itoa(10_000-i), each["sequence"])
	}
	require.Equal(t, "2025-06-15T15:06:40.001Z", records[9999]["time"])
	require.JSONEq(t, `{"targetShardCount":"8"}`, records[0]["requested"])
	require.Len(t, c.calls("GET"), 10)
	require.Equal(t, "from=2026-01-02T03%3A04%3A00Z&limit=1000&streamPrefix=orders", c.calls("GET")[0].query)
	require.Contains(t, c.calls("GET")[1].query, "cursor=9000")
	require.NotContains(t, strings.ReplaceAll(got.body, "\r\n", ""), "\n")
}

// The lines are in the form of which the hashes are, so that the chain can be verified.
func TestAnExportAsNDJSONKeepsTheHashes(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	made, _, err := audit.Chain(protocol.AuditHead{Chain: "redis"}, record(1, func(r *protocol.AuditRecord) { r.Reason = "zwölf\r\n\x1b[2J" }))
	require.NoError(t, err)
	c.answers("GET /audit", protocol.AuditResponse{Records: []protocol.AuditRecord{made}})
	got := c.get(t, reader(), "/console/audit.ndjson")
	require.Regexp(t, `audit-.*\.ndjson`, got.header.Get("Content-Disposition"))
	require.Equal(t, 1, strings.Count(got.body, "\n"))
	var back protocol.AuditRecord
	require.NoError(t, json.Unmarshal([]byte(got.body), &back))
	hash, err := audit.Hash(back)
	require.NoError(t, err)
	require.Equal(t, made.Hash, hash)
}

// Who asks for a change, allowed or not, chooses texts that others open in a spreadsheet.
func TestTextsOfAnExportAreNoFormulas(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	texts := []string{
		`=cmd|' /C calc'!A0`, "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", `a","=1`, "a\r\n=1,b", "zwölf 漢字", `"quoted"`, "a;=1", "plain",
	}
	var page protocol.AuditResponse
	for i, text := range texts {
		page.Records = append(page.Records, record(int64(i+1), func(r *protocol.AuditRecord) { r.Reason, r.UserAgent, r.Principal = text, text, text }))
	}
	c.answers("GET /audit", page)
	got := c.get(t, reader(), "/console/audit.csv")
	records, _ := cells(t, got.body)
	require.Len(t, records, len(texts))
	for i, text := range texts {
		want := text
		if strings.ContainsAny(text[:1], "=+-@\t\r\n") || strings.HasPrefix(text, "＝") {
			want = "'" + text
		}
		want = strings.ReplaceAll(want, "\r\n", "\n") // the reader's way
		for _, column := range []string{"reason", "userAgent", "principal"} {
			require.Equal(t, want, records[i][column], column)
		}
	}
}

func TestAnExportWithAMostSaysThatItHasEnded(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	var asked atomic.Int64
	full := `{"records":[{}` + strings.Repeat(`,{}`, protocol.MaxAudit-1) + `],"next":"older-`
	c.api.HandleFunc("GET /coord/v1/audit", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(full + strconv.FormatInt(asked.Add(1), 10) + `"}`))
	})
	got := c.get(t, reader(), "/console/audit.csv?stream=orders")
	records, end := cells(t, got.body)
	require.Len(t, records, 100_000)
	require.Contains(t, end, "# Incomplete after 100000 records: that is as many as one export may have")
	require.Contains(t, end, "/console/audit.csv?cursor=older-100&stream=orders")
	require.Equal(t, int64(100), asked.Load())
}

// The token for the API lives for a minute only (ADR 0013).
func TestAnExportWhoseTokenEndsSaysSoAndWhereItGoesOn(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		code protocol.Code
		why  string
	}{
		{protocol.CodeUnauthorized, "a minute, is over"},
		{protocol.CodeStoreUnavailable, "the gateway has refused the next page: <because>"},
	} {
		c := newConsole(t)
		c.api.HandleFunc("GET /coord/v1/audit", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("cursor") != "" {
				refuse(w, want.code, "<because>")
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(protocol.AuditResponse{Records: []protocol.AuditRecord{record(2)}, Next: new("c-1")})
		})
		got := c.get(t, reader(), "/console/audit.ndjson?principal=ops")
		require.Equal(t, http.StatusOK, got.status)
		lines := strings.Split(strings.TrimSpace(got.body), "\n")
		require.Len(t, lines, 2)
		var end struct {
			Incomplete    bool
			Records       int
			Why, Continue string
		}
		require.NoError(t, json.Unmarshal([]byte(lines[1]), &end))
		require.True(t, end.Incomplete)
		require.Equal(t, 1, end.Records)
		require.Contains(t, end.Why, want.why)
		require.Equal(t, "/console/audit.ndjson?cursor=c-1&principal=ops", end.Continue)
		c.get(t, reader(), end.Continue)
		calls := c.calls("GET")
		require.Equal(t, "cursor=c-1&limit=1000&principal=ops", calls[len(calls)-1].query)
	}
}

// A gateway that answers with the same cursor again would be asked for ever.
func TestAnExportThatDoesNotGetOnEnds(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.answers("GET /audit", protocol.AuditResponse{Records: []protocol.AuditRecord{record(1)}, Next: new("c-1")})
	_, end := cells(t, c.get(t, reader(), "/console/audit.csv").body)
	require.Contains(t, end, "does not get on")
	require.Len(t, c.calls("GET"), 2)
}

// Before the first record, what is wrong is a page and not a file.
func TestAnExportThatCannotBeginIsAPage(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		code   protocol.Code
		status int
		text   string
	}{
		{protocol.CodeForbidden, 403, "Leave the stream empty"},
		{protocol.CodeRedisNotConfigured, 200, "goes to the gateway's log"},
	} {
		c := newConsole(t)
		c.refuses("GET /audit", want.code, "no")
		got := c.get(t, reader(), "/console/audit.csv?stream=payments")
		require.Equal(t, want.status, got.status)
		require.Contains(t, got.body, want.text)
		require.Equal(t, "text/html; charset=utf-8", got.header.Get("Content-Type"))
		require.Empty(t, got.header.Get("Content-Disposition"))
	}
	c := newConsole(t)
	c.refuses("GET /audit", protocol.CodeUnauthorized, "over")
	require.Equal(t, "/console/login?next=%2Fconsole%2Faudit.csv", c.get(t, reader(), "/console/audit.csv").header.Get("Location"))
	require.Equal(t, http.StatusBadRequest, c.get(t, reader(), "/console/audit.csv?to=never").status)
	calls := len(c.calls("GET"))
	require.Equal(t, "/console/login?next=%2Fconsole%2Faudit.csv", c.get(t, user{}, "/console/audit.csv").header.Get("Location"))
	require.Len(t, c.calls("GET"), calls, "nothing is asked for nobody")
}

func TestNoMoreExportsAreMadeAtOnceThanMay(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	entered, open := make(chan struct{}, 8), make(chan struct{})
	c.api.HandleFunc("GET /coord/v1/audit", func(w http.ResponseWriter, _ *http.Request) {
		entered <- struct{}{}
		<-open
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(protocol.AuditResponse{})
	})
	release := sync.OnceFunc(func() { close(open) })
	defer release()
	answers := make(chan int, 4)
	for range 4 {
		request := c.request(t, reader(), http.MethodGet, "/console/audit.csv", nil)
		go func() {
			status := 0
			if answer, err := http.DefaultClient.Do(request); err == nil {
				status = answer.StatusCode
				_ = answer.Body.Close()
			}
			answers <- status
		}()
	}
	for range 4 {
		<-entered
	}
	got := c.get(t, reader(), "/console/audit.csv")
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Contains(t, got.body, "4 exports are being made already")
	release()
	for range 4 {
		require.Equal(t, http.StatusOK, <-answers)
	}
}
