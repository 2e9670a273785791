package pages_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func row(stream, group string, change ...func(*protocol.GrafanaGroupRow)) protocol.GrafanaGroupRow {
	made := protocol.GrafanaGroupRow{
		StreamPrefix: stream, ConsumerGroup: group, State: protocol.GroupStable, ShardCount: 4, CurrentShards: 4, AssignedShardRatio: "4 / 4",
		ActiveMembers: 2, TotalLag: new(int64(0)),
	}
	for _, apply := range change {
		apply(&made)
	}
	return made
}

func TestOverviewShowsProblemsFirst(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.answers("GET /monitoring/grafana/groups", []protocol.GrafanaGroupRow{
		row("alpha", "g"),
		row("beta", "g", func(r *protocol.GrafanaGroupRow) { r.CurrentShards = 3 }),
		row("gamma", "g", func(r *protocol.GrafanaGroupRow) { r.TrimmedUnreadAlarm = true; r.TotalLag = nil }),
	})
	got := c.get(t, reader(), "/console")
	require.Equal(t, http.StatusOK, got.status)
	at := func(text string) int { return strings.Index(got.body, text) }
	require.Less(t, at("gamma / g"), at("beta / g"))
	require.Less(t, at("beta / g"), at("alpha / g"))
	require.Contains(t, got.body, "records went away before they were read")
	require.Contains(t, got.body, "1 shard nobody reads")
	require.Contains(t, got.body, "–", "an unknown lag is not 0")
	require.Contains(t, got.body, "read only")
	require.Equal(t, "reader", c.calls("GET")[0].subject)

	none := c.get(t, reader(), "/console?state=EMPTY").body
	require.Contains(t, none, "No group fits")
	require.Contains(t, none, `<option value="EMPTY" selected>`, "the form says what is shown, also where no group is so")
}

// Reliability, Console, XSS; F38.
func TestFieldF38NamesAreInert(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	evil := `"><script>alert(1)</script>`
	c.answers("GET /monitoring/grafana/groups", []protocol.GrafanaGroupRow{
		row(evil, "javascript:alert(1)", func(r *protocol.GrafanaGroupRow) { r.Problem = new(evil) }),
	})
	got := c.get(t, user{evil, ops().roles}, "/console?q="+`%22%3E%3Cscript%3Ealert(1)%3C/script%3E`)
	require.NotContains(t, got.body, "<script>alert")
	require.Contains(t, got.body, "&lt;script&gt;")
	require.NotContains(t, got.body, `href="javascript:`)
}

func TestOverviewIsKeptUpToDate(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.answers("GET /monitoring/grafana/groups", []protocol.GrafanaGroupRow{})
	rounds := make(chan protocol.GroupsEvent, 2)
	c.api.HandleFunc("GET /coord/v1/monitoring/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		for {
			select {
			case <-r.Context().Done():
				return
			case round := <-rounds:
				data, _ := json.Marshal(round)
				_, _ = w.Write([]byte("event: groups\ndata: " + string(data) + "\n\n"))
				_ = http.NewResponseController(w).Flush()
			}
		}
	})
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var streams []*bufio.Scanner
	for range 2 { // viewers share one stream of the monitor
		answer, err := http.DefaultClient.Do(c.request(t, reader(), http.MethodGet, "/console/live?page=overview", nil).WithContext(ctx))
		require.NoError(t, err)
		t.Cleanup(func() { _ = answer.Body.Close() })
		require.Equal(t, "text/event-stream", answer.Header.Get("Content-Type"))
		streams = append(streams, bufio.NewScanner(answer.Body))
	}
	rounds <- protocol.GroupsEvent{Round: 1, Groups: []protocol.GrafanaGroupRow{row("alpha", "g")}}
	for _, lines := range streams {
		require.Contains(t, nextEvent(t, lines), "alpha / g")
	}
	rounds <- protocol.GroupsEvent{Round: 2, Groups: []protocol.GrafanaGroupRow{row("beta", "g")}}
	for _, lines := range streams {
		event := nextEvent(t, lines)
		require.Contains(t, event, "alpha / g")
		require.Contains(t, event, "beta / g")
	}
	followed := 0
	for _, each := range c.calls("GET") {
		if strings.HasSuffix(each.path, "/monitoring/stream") {
			followed++
		}
	}
	require.Equal(t, 1, followed)
	c.pages.Close()
	for _, lines := range streams {
		for lines.Scan() {
			require.NotContains(t, lines.Text(), "event:", "nothing comes after the end")
		}
	}
}

// nextEvent returns the data of the next event.
func nextEvent(t *testing.T, lines *bufio.Scanner) string {
	t.Helper()
	for lines.Scan() {
		if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
			return data
		}
	}
	t.Fatal("the stream has ended")
	return ""
}

func TestNobodyIsKeptUpToDateWithoutTheRight(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.refuses("GET /monitoring/grafana/groups", protocol.CodeForbidden, "no")
	require.Equal(t, 401, c.get(t, user{}, "/console/live?page=overview").status)
	require.Equal(t, 404, c.get(t, ops(), "/console/live?page=other").status)
	require.Equal(t, 403, c.get(t, ops(), "/console/live?page=overview").status)
}
