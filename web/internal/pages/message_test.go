package pages_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	messagesPage = groupPage + "/messages"
	shardRecords = "GET /monitoring" + groupPath + "/shards/2/messages"
	allRecords   = "GET /monitoring/grafana/messages"
)

func recordOf(id string, fields map[string]string) protocol.StreamMessageRecord {
	at := protocol.AtMillis(1_700_000_000_123)
	return protocol.StreamMessageRecord{
		Shard: protocol.ShardID{ShardIndex: 2}, RecordID: id, Fields: fields, RecordTime: &at, Base64Fields: []string{}, CutFields: []string{},
	}
}

// rowOf is a record as the merged pages have it.
func rowOf(t *testing.T, shard int, id string, next *string) protocol.GrafanaMessageRow {
	t.Helper()
	fields, err := json.Marshal(map[string]string{"payload": fmt.Sprintf(`{"of":"%d=%s"}`, shard, id)})
	require.NoError(t, err)
	return protocol.GrafanaMessageRow{ShardIndex: shard, RecordID: id, FieldsJSON: string(fields), PageNextCursor: next, PageTotalMessages: 12345}
}

// links returns the query of the link with a text, nil without one.
func linked(t *testing.T, body, text string) url.Values {
	t.Helper()
	found := regexp.MustCompile(`(?s)<a href="([^"]*)"[^>]*>\s*` + text + `\s*</a>`).FindStringSubmatch(body)
	if found == nil {
		return nil
	}
	at, err := url.Parse(strings.ReplaceAll(found[1], "&amp;", "&"))
	require.NoError(t, err)
	return at.Query()
}

func lastQuery(t *testing.T, c *console) url.Values {
	t.Helper()
	calls := c.calls("GET")
	values, err := url.ParseQuery(calls[len(calls)-1].query)
	require.NoError(t, err)
	return values
}

func TestRecordsOfAShardAreShownWithTheirFields(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	record := recordOf("1700000000123-4", map[string]string{"payload": `{"order":{"id":9007199254740993}}`, "type": "made", "raw": "/wA=", "long": "abc"})
	record.Base64Fields, record.CutFields = []string{"raw"}, []string{"long"}
	c.answers(shardRecords, protocol.StreamMessagesPageResponse{Records: []protocol.StreamMessageRecord{record}, NextCursor: new("1700000000123-4")})
	got := c.get(t, reader(), messagesPage+"?shard=2")
	require.Equal(t, http.StatusOK, got.status)
	for _, text := range []string{
		`href="` + messagesPage + `?id=1700000000123-4&amp;shard=2"`, "<time datetime=\"2023-11-14T22:13:20.123Z\">", `data-copy="1700000000123-4"`,
		"{\n  &#34;order&#34;: {\n    &#34;id&#34;: 9007199254740993\n  }\n}", ">JSON<", ">binary, as base64<", ">cut after 64 kB<", "/wA=",
		`href="` + groupPage + `/pending?shard=2"`,
	} {
		require.Contains(t, got.body, text)
	}
	require.Equal(t, url.Values{"direction": {"BACKWARD"}, "limit": {"25"}}, lastQuery(t, c))
	c.get(t, reader(), messagesPage+"?shard=2&direction=FORWARD&limit=100&cursor=5-1")
	require.Equal(t, url.Values{"direction": {"FORWARD"}, "limit": {"100"}, "cursor": {"5-1"}}, lastQuery(t, c))
	require.Equal(t, "reader", c.calls("GET")[0].subject)
}

// Every record is on some page: on by the API's cursor as it is, back from the record shown first.
func TestPagesOfRecordsFollowEachOtherByTheCursor(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	next := "all:5-0.2.AQ&x=<>%20+"
	c.answers(allRecords, []protocol.GrafanaMessageRow{rowOf(t, 0, "9-0", &next), rowOf(t, 3, "5-0", &next)})
	c.answers(shardRecords, protocol.StreamMessagesPageResponse{Records: []protocol.StreamMessageRecord{recordOf("9-0", nil), recordOf("5-0", nil)}, NextCursor: &next})

	got := c.get(t, ops(), messagesPage+"?limit=100")
	require.Contains(t, got.body, "There are 12\u202f345.")
	require.Contains(t, got.body, "3=5-0")
	require.Equal(t, url.Values{"cursor": {next}, "limit": {"100"}}, linked(t, got.body, "Older"))
	require.Equal(t, url.Values{"cursor": {"8-18446744073709551615"}, "direction": {"FORWARD"}, "limit": {"100"}}, linked(t, got.body, "Newer"), "others may have the id 9-0")
	require.Nil(t, linked(t, got.body, "Newest"))
	c.get(t, ops(), messagesPage+"?"+linked(t, got.body, "Older").Encode())
	require.Equal(t, next, lastQuery(t, c).Get("cursor"))

	got = c.get(t, ops(), messagesPage+"?direction=FORWARD&cursor=1-0")
	require.Equal(t, url.Values{"cursor": {next}, "direction": {"FORWARD"}}, linked(t, got.body, "Newer"))
	require.Equal(t, url.Values{"cursor": {"9-1"}}, linked(t, got.body, "Older"))
	require.Equal(t, url.Values{"direction": {"FORWARD"}}, linked(t, got.body, "Oldest"))

	got = c.get(t, ops(), messagesPage+"?shard=2&time=2023-11-14T22:13:20")
	require.Equal(t, "1700000000001-0", lastQuery(t, c).Get("cursor"), "up to that time and with it")
	require.Equal(t, url.Values{"cursor": {next}, "shard": {"2"}}, linked(t, got.body, "Older"))
	require.Equal(t, url.Values{"cursor": {"9-0"}, "direction": {"FORWARD"}, "shard": {"2"}}, linked(t, got.body, "Newer"))
	require.Contains(t, got.body, `value="2023-11-14T22:13:20"`)
}

func TestAPageOfRecordsBeginsAtATimeOrAnID(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.answers(shardRecords, protocol.StreamMessagesPageResponse{})
	for given, want := range map[string]string{
		"time=2023-11-14T22:13:20&direction=FORWARD": "1699999999999-18446744073709551615", "time=2023-11-14T22:13:20.5Z": "1700000000501-0",
		"time=2023-11-14T22:13": "1699999980001-0", "time=1970-01-01T00:00&direction=FORWARD": "", "time=2023-11-14T22:13&cursor=7-7": "7-7",
		"time=2023-11-14T22:13&id=7-7": "", "time=+": "",
	} {
		require.Equal(t, http.StatusOK, c.get(t, ops(), messagesPage+"?shard=2&"+given).status)
		require.Equal(t, want, lastQuery(t, c).Get("cursor"), given)
	}
	asked := len(c.calls("GET"))
	for _, given := range []string{"time=yesterday", "time=1969-12-31T23:59", "time=2023-02-31T00:00", "shard=x", "shard=-1", "shard=99999999", "shard=1.5"} {
		got := c.get(t, ops(), messagesPage+"?"+given)
		require.Equal(t, http.StatusBadRequest, got.status, given)
		require.Contains(t, got.body, `role="alert"`)
	}
	require.Len(t, c.calls("GET"), asked, "what is none is not asked for")
}

func TestARecordIsFoundByItsID(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	long := strings.Repeat("x", protocol.MaxMessagePayload)
	c.answers(shardRecords, protocol.StreamMessagesPageResponse{Records: []protocol.StreamMessageRecord{recordOf("7-1", map[string]string{"payload": long})}})
	got := c.get(t, ops(), messagesPage+"?shard=2&id=7-1&direction=FORWARD")
	require.Contains(t, got.body, long, "in full")
	require.Contains(t, got.body, "Record 7-1 of orders")
	require.Equal(t, "7-1", lastQuery(t, c).Get("recordId"))
	require.Equal(t, url.Values{"cursor": {"7-1"}, "shard": {"2"}}, linked(t, got.body, "Older"))
	require.Equal(t, url.Values{"cursor": {"7-1"}, "shard": {"2"}, "direction": {"FORWARD"}}, linked(t, got.body, "Newer"))

	c.answers(allRecords, []protocol.GrafanaMessageRow{rowOf(t, 0, "7-1", nil), rowOf(t, 3, "7-1", nil)})
	got = c.get(t, ops(), messagesPage+"?id=7-1")
	require.Contains(t, got.body, "Messages of orders", "which of them is a choice")
	require.Contains(t, got.body, `href="`+messagesPage+`?id=7-1&amp;shard=3"`)
}

func TestWhatIsNotThereIsSaid(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.answers(allRecords, []protocol.GrafanaMessageRow{})
	c.answers("GET /monitoring"+groupPath+"/migrations", protocol.MigrationsResponse{})
	c.refuses("GET /monitoring/streams/gone/groups/billing/migrations", protocol.CodeGroupNotFound, "no such group")
	for query, text := range map[string]string{"": "There is no record.", "?cursor=5-0": "nothing beyond this place", "?id=5-0": "No record has this id."} {
		got := c.get(t, ops(), messagesPage+query)
		require.Equal(t, http.StatusOK, got.status)
		require.Contains(t, got.body, text)
	}
	require.Equal(t, http.StatusNotFound, c.get(t, ops(), "/console/streams/gone/groups/billing/messages").status)
	c.refuses("GET /monitoring"+groupPath+"/shards/7/messages", protocol.CodeNotFound, "no shard 7")
	got := c.get(t, ops(), messagesPage+"?shard=7")
	require.Equal(t, http.StatusNotFound, got.status)
	require.Contains(t, got.body, "no shard 7")
	require.Contains(t, got.body, `value="7"`, "what was typed stays")
}

// Reliability, Console, XSS; F38. What is no cursor or id goes to the API as one value, which says
// what is wrong with it.
func TestFieldF38HostileCursorsArePassedOnAndTold(t *testing.T) {
	t.Parallel()
	for _, evil := range []string{`"><script>alert(1)</script>`, "1-0&recordId=2-0", "1-0#x", "../..", "javascript:alert(1)", strings.Repeat("é", 300)} {
		c := newConsole(t)
		c.refuses(shardRecords, protocol.CodeInvalidRequest, evil+" is none")
		for _, parameter := range []string{"cursor", "id"} {
			got := c.get(t, ops(), messagesPage+"?shard=2&"+url.Values{parameter: {evil}}.Encode())
			require.Equal(t, http.StatusBadRequest, got.status)
			require.Contains(t, got.body, "INVALID_REQUEST")
			require.Equal(t, url.Values{}, linked(t, got.body, "Begin again"))
			require.NotContains(t, got.body, "<script>alert")
			require.NotContains(t, got.body, `href="javascript:`)
			asked := map[string]string{"cursor": "cursor", "id": "recordId"}[parameter]
			require.Equal(t, url.Values{"direction": {"BACKWARD"}, "limit": {"25"}, asked: {evil}}, lastQuery(t, c))
		}
	}
}

func TestFieldF38RecordsAreInert(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	fields := map[string]string{}
	for i, evil := range []string{
		`"><script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `'); alert(1); ('`, `</code></pre></dd><style>*{}</style>`, `{"a":"</code><script>alert(1)</script>"}`,
		"javascript:alert(1)", "\u202egnp.exe\u2066", "\x00\x1b[31mred\x1b[0m", "\u2028\ufeff\u200b\u00ad", "<!--", "${alert(1)}", "{{7*7}}", "&lt;b&gt;",
	} {
		fields[evil], fields[fmt.Sprint(i)] = evil, evil
	}
	record := recordOf(`1-0"><script>alert(1)</script>`, fields)
	c.answers(shardRecords, protocol.StreamMessagesPageResponse{Records: []protocol.StreamMessageRecord{record}, NextCursor: new(`"><script>alert(2)</script>`)})
	for _, query := range []string{"", "&id=1-0"} {
		got := c.get(t, ops(), messagesPage+"?shard=2"+query)
		require.Equal(t, http.StatusOK, got.status)
		require.NotRegexp(t, `(?i)<script[^>]*>[^<]|<style|<img|<!--| style=|(src|href)="(https?:|javascript:)`, got.body)
		require.NotRegexp(t, "[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069\u200b\u2028\ufeff\u00ad]", got.body)
		for _, text := range []string{`\u202egnp.exe\u2066`, `\u0000\u001b[31mred`, "&amp;lt;b&amp;gt;", "with escapes"} {
			require.Contains(t, got.body, text)
		}
	}
}

// A page stays small, whatever the records.
func TestPagesOfRecordsAreOfBoundedSize(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	records := make([]protocol.StreamMessageRecord, 100)
	for i := range records {
		fields := map[string]string{"payload": `["` + strings.Repeat(`<\"`, 20_000) + `"]`}
		for j := range 1000 {
			fields[fmt.Sprintf("%03d%s", j, strings.Repeat("'", 500))] = strings.Repeat("\x01", 60)
		}
		records[i] = recordOf(fmt.Sprintf("%d-0", i), fields)
		if i > 2 {
			records[i].Fields = map[string]string{"payload": strings.Repeat("<", 20_000)}
		}
	}
	c.answers(shardRecords, protocol.StreamMessagesPageResponse{Records: records, NextCursor: new(strings.Repeat("9", 6000))})
	got := c.get(t, ops(), messagesPage+"?shard=2&limit=100")
	require.Equal(t, http.StatusOK, got.status)
	require.Less(t, len(got.body), 300_000)
	require.Equal(t, 100, strings.Count(got.body, `<th scope="row">`))
	require.Contains(t, got.body, "more fields")

	c = newConsole(t)
	records[0].Fields["payload"] = strings.Repeat("[", protocol.MaxMessagePayload) // deep JSON
	c.answers(shardRecords, protocol.StreamMessagesPageResponse{Records: records[:1]})
	got = c.get(t, ops(), messagesPage+"?shard=2&id=0-0")
	require.Equal(t, http.StatusOK, got.status)
	require.Less(t, len(got.body), 2_000_000)
	require.NotContains(t, got.body, ">JSON<")
}

func TestOtherRefusalsOfRecordsHaveTheirPage(t *testing.T) {
	t.Parallel()
	for _, want := range []struct {
		code   protocol.Code
		status int
	}{
		{protocol.CodeForbidden, http.StatusForbidden},
		{protocol.CodeStoreUnavailable, http.StatusServiceUnavailable},
		{protocol.CodeGroupNotFound, http.StatusNotFound},
		{protocol.CodeUnauthorized, http.StatusSeeOther},
	} {
		c := newConsole(t)
		c.refuses(shardRecords, want.code, "because")
		require.Equal(t, want.status, c.get(t, ops(), messagesPage+"?shard=2").status, want.code)
	}
	c := newConsole(t)
	require.Equal(t, http.StatusNotFound, c.get(t, ops(), "/console/streams/a%2Fb/groups/g/messages").status)
	require.Empty(t, c.calls("GET"))
}
