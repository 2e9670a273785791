package pages_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	pendingPage  = groupPage + "/pending"
	shardPending = "GET /monitoring" + groupPath + "/shards/2/pending"
)

func entryOf(id, consumer string, idle, deliveries int64) protocol.PendingEntry {
	at := protocol.AtMillis(1_700_000_000_123)
	return protocol.PendingEntry{RecordID: id, Consumer: consumer, IdleMs: idle, DeliveryCount: deliveries, RecordTime: &at}
}

func TestPendingEntriesTellWhoHasThemSinceWhen(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	late := entryOf("18446744073709551615-0", "m-2", 1, 1)
	late.RecordTime = nil
	c.answers(shardPending, protocol.PendingResponse{Entries: []protocol.PendingEntry{entryOf("5-1", "m-1", 90_000, 1234), late}, NextCursor: new("5-2")})
	got := c.get(t, reader(), pendingPage+"?shard=2&limit=100")
	require.Equal(t, http.StatusOK, got.status)
	for _, text := range []string{
		`href="` + messagesPage + `?id=5-1&amp;shard=2"`, `href="` + pendingPage + `?consumer=m-1&amp;limit=100&amp;shard=2"`, "1 min 30 s", "1\u202f234", "given again",
		`data-copy="5-1"`, "<time datetime=\"2023-11-14T22:13:20.123Z\">", "–", `href="` + messagesPage + `?shard=2"`,
	} {
		require.Contains(t, got.body, text)
	}
	require.Equal(t, 1, strings.Count(got.body, "given again"), "once is no trouble")
	require.Equal(t, url.Values{"limit": {"100"}}, lastQuery(t, c))
	require.Equal(t, url.Values{"shard": {"2"}, "limit": {"100"}, "cursor": {"5-2"}}, linked(t, got.body, "Next"))
	require.Nil(t, linked(t, got.body, "Oldest"))
	require.Equal(t, "reader", c.calls("GET")[0].subject)

	got = c.get(t, reader(), pendingPage+"?shard=2&consumer=m-1&cursor=5-2")
	require.Equal(t, url.Values{"limit": {"25"}, "cursor": {"5-2"}, "consumer": {"m-1"}}, lastQuery(t, c))
	require.Equal(t, url.Values{"shard": {"2"}, "consumer": {"m-1"}}, linked(t, got.body, "Oldest"))
	require.Equal(t, url.Values{"shard": {"2"}, "consumer": {"m-1"}, "cursor": {"5-2"}}, linked(t, got.body, "Next"))
	c.get(t, reader(), pendingPage+"?shard=2&time=2023-11-14T22:13:20")
	require.Equal(t, "1699999999999-18446744073709551615", lastQuery(t, c).Get("cursor"))
}

func TestPendingEntriesAreAskedForOfOneShard(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	got := c.get(t, ops(), pendingPage)
	require.Equal(t, http.StatusOK, got.status)
	require.Contains(t, got.body, "choose one")
	for _, query := range []string{"shard=all", "shard=x", "shard=-1", "shard=2&time=soon"} {
		got := c.get(t, ops(), pendingPage+"?"+query)
		require.Equal(t, http.StatusBadRequest, got.status, query)
		require.Contains(t, got.body, `role="alert"`)
	}
	require.Equal(t, http.StatusNotFound, c.get(t, ops(), "/console/streams/a%2Fb/groups/g/pending").status)
	require.Empty(t, c.calls("GET"), "what is none is not asked for")
}

func TestWhatIsNotPendingIsSaid(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.answers(shardPending, protocol.PendingResponse{Entries: []protocol.PendingEntry{}})
	for query, text := range map[string]string{
		"": "Nothing is pending on this shard.", "&consumer=m": "Nothing is pending at this consumer.", "&cursor=1-0": "Nothing is pending beyond",
	} {
		got := c.get(t, ops(), pendingPage+"?shard=2"+query)
		require.Equal(t, http.StatusOK, got.status)
		require.Contains(t, got.body, text)
	}
	for _, want := range []struct {
		code   protocol.Code
		status int
		beside bool // the form
	}{
		{protocol.CodeForbidden, http.StatusForbidden, false},
		{protocol.CodeStoreUnavailable, http.StatusServiceUnavailable, false},
		{protocol.CodeGroupNotFound, http.StatusNotFound, false},
		{protocol.CodeNotFound, http.StatusNotFound, true},
		{protocol.CodeInvalidRequest, http.StatusBadRequest, true},
	} {
		c := newConsole(t)
		c.refuses(shardPending, want.code, "<b>because</b>")
		got := c.get(t, ops(), pendingPage+"?shard=2&consumer=c1&cursor=x")
		require.Equal(t, want.status, got.status, want.code)
		require.Contains(t, got.body, "&lt;b&gt;because&lt;/b&gt;")
		require.Equal(t, want.beside, strings.Contains(got.body, `value="c1"`), "what was typed stays")
	}
}

// Reliability, Console, XSS; F38.
func TestFieldF38PendingEntriesAreInertAndBounded(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	evil := `"><script>alert(1)</script>` + "\u202e\x1b[31m"
	entries := make([]protocol.PendingEntry, 100)
	for i := range entries {
		entries[i] = entryOf(fmt.Sprintf("%d-0", i), strings.Repeat(`"`, protocol.MaxMemberID), 1, 1)
	}
	entries[0] = entryOf(evil, evil, -1, -1)
	c.answers(shardPending, protocol.PendingResponse{Entries: entries, NextCursor: &evil})
	got := c.get(t, ops(), pendingPage+"?shard=2&limit=100&"+url.Values{"consumer": {evil}, "time": {"2023-11-14T22:13"}}.Encode())
	require.Equal(t, http.StatusOK, got.status)
	require.NotRegexp(t, `(?i)<script[^>]*>[^<]| style=|(src|href)="(https?:|javascript:)`, got.body)
	require.Contains(t, got.body, `\u202e\u001b[31m`)
	require.Less(t, len(got.body), 300_000)
	require.Equal(t, evil, linked(t, got.body, "Next").Get("cursor"))
	require.Equal(t, evil, lastQuery(t, c).Get("consumer"))
}
