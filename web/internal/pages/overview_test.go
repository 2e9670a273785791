package pages_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
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
	got := c.get(t, user{name: evil, roles: ops().roles}, "/console?q="+`%22%3E%3Cscript%3Ealert(1)%3C/script%3E`)
	require.NotContains(t, got.body, "<script>alert")
	require.Contains(t, got.body, "&lt;script&gt;")
	require.NotContains(t, got.body, `href="javascript:`)
}

func TestOverviewIsKeptUpToDate(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.answers("GET /monitoring/grafana/groups", []protocol.GrafanaGroupRow{})
	rounds := newRounds(c)
	var streams []*events
	for range 2 { // viewers share one stream of the monitor
		streams = append(streams, c.overviewEvents(t, reader()))
	}
	rounds <- protocol.GroupsEvent{Round: 1, Groups: []protocol.GrafanaGroupRow{row("alpha", "g")}}
	for _, lines := range streams {
		until(t, lines, "groups", "alpha / g")
	}
	rounds <- protocol.GroupsEvent{Round: 2, Groups: []protocol.GrafanaGroupRow{row("beta", "g")}}
	for _, lines := range streams {
		require.Contains(t, until(t, lines, "groups", "beta / g")["groups"], "alpha / g")
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

// sampled is a row with samples, the newest of which is n.
func sampled(stream string, n float64) protocol.GrafanaGroupRow {
	return row(stream, "g", func(r *protocol.GrafanaGroupRow) {
		r.Samples = &protocol.Samples{StepMs: 30_000, ProducedPerSecond: []*float64{nil, new(2 * n), &n}, ConsumedPerSecond: []*float64{&n, &n, &n}, Lag: []*float64{nil, nil, nil}}
	})
}

// Monitoring, Console: rates with lines, in the first picture as in those after it.
func TestLinesAreThereFromTheFirstPictureOn(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.answers("GET /monitoring/grafana/groups", []protocol.GrafanaGroupRow{sampled("alpha", 40)})
	first := c.get(t, reader(), "/console").body
	const line = `<title>Produced/s of the last 1 min 30 s: up to 80, newest 40, partly not known</title><polyline points="56,0 58,10"></polyline>`
	require.Contains(t, first, line)
	require.Contains(t, first, `<polyline points="54,0 58,0"></polyline>`)
	require.Equal(t, "samples=30", c.calls("GET")[0].query)

	rounds := newRounds(c)
	rounds <- protocol.GroupsEvent{Round: 1, Groups: []protocol.GrafanaGroupRow{row("alpha", "g")}}
	events := c.overviewEvents(t, reader())
	require.Contains(t, until(t, events, "groups", "alpha / g")["groups"], line)
	rounds <- protocol.GroupsEvent{Round: 2, At: protocol.AtMillis(1000), Groups: []protocol.GrafanaGroupRow{row("beta", "g")}}
	changed := until(t, events, "groups", "beta / g")["groups"]
	require.Contains(t, changed, line, "a round tells no samples, and takes none away")
	require.Equal(t, 4, strings.Count(changed, `<svg class="spark"`), "what is not known takes the same room")
}

// P26: a round that changes one group of many costs a row.
func TestOneGroupThatChangesIsOneRow(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	var rows []protocol.GrafanaGroupRow
	for i := range 64 {
		rows = append(rows, row(fmt.Sprintf("s-%d", i), "g"))
	}
	c.answers("GET /monitoring/grafana/groups", rows)
	rounds := newRounds(c)
	events := c.overviewEvents(t, reader())
	rounds <- protocol.GroupsEvent{Round: 1, Groups: rows}
	whole := until(t, events, "groups", "s-63")["groups"]
	rounds <- protocol.GroupsEvent{Round: 2, Groups: []protocol.GrafanaGroupRow{row("s-7", "g", func(r *protocol.GrafanaGroupRow) { r.TotalLag = new(int64(4321)) })}}
	event := nextEvent(t, events.Scanner)
	for !strings.Contains(event, "4\u202f321") {
		event = nextEvent(t, events.Scanner)
	}
	require.Contains(t, event, `"rows":[{"at":8,"html":"<tr`)
	require.Less(t, len(event), len(whole)/32)
}

// newRounds makes the monitor tell of rounds.
func newRounds(c *console) chan<- protocol.GroupsEvent {
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
	return rounds
}

// overviewEvents opens the events of the overview.
func (c *console) overviewEvents(t *testing.T, who user) *events {
	t.Helper()
	answer, err := http.DefaultClient.Do(c.request(t, who, http.MethodGet, "/console/live?page=overview", nil))
	require.NoError(t, err)
	t.Cleanup(func() { _ = answer.Body.Close() })
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.Equal(t, "text/event-stream", answer.Header.Get("Content-Type"))
	return eventsOf(answer)
}

// Gateway, Roles: the API tells a user with scopes of their streams only, so that nobody else is
// told by what was asked for in that one's name.
func TestViewersWithOtherScopesShareNoEvents(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.answers("GET /monitoring/grafana/groups", []protocol.GrafanaGroupRow{row("alpha", "g")})
	bound := user{name: "bound", roles: auth.Read, scopes: []auth.Scope{"alpha*"}}
	page := c.get(t, bound, "/console").body
	require.Contains(t, page, `<span class="badge">only alpha*</span>`)
	require.NotContains(t, c.get(t, reader(), "/console").body, "only alpha")
	before := len(c.calls("GET"))
	newRounds(c)
	c.overviewEvents(t, reader())
	c.overviewEvents(t, bound)
	require.Eventually(t, func() bool {
		asked := map[string]bool{}
		for _, each := range c.calls("GET")[before:] {
			asked[each.subject] = asked[each.subject] || strings.HasSuffix(each.path, "/monitoring/stream")
		}
		return asked["reader"] && asked["bound"]
	}, patience, 5*time.Millisecond)
}

// P26: a page is small however many groups there are.
func TestAnOverviewOfManyGroupsIsSmall(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	var rows []protocol.GrafanaGroupRow
	for i := range 5000 {
		one := sampled(fmt.Sprintf("a-stream-of-a-rather-long-name-%d", i), 40)
		for _, values := range []*[]*float64{&one.Samples.ProducedPerSecond, &one.Samples.ConsumedPerSecond} {
			*values = nil
			for at := range 30 {
				*values = append(*values, new(float64(at*7919%1000)))
			}
		}
		rows = append(rows, one)
	}
	c.answers("GET /monitoring/grafana/groups", rows)
	body := c.get(t, reader(), "/console").body
	require.Equal(t, 200, strings.Count(body, "<polyline"))
	require.Less(t, len(body), 200_000)
}

func TestNobodyIsKeptUpToDateWithoutTheRight(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.refuses("GET /monitoring/grafana/groups", protocol.CodeForbidden, "no")
	require.Equal(t, 401, c.get(t, user{}, "/console/live?page=overview").status)
	require.Equal(t, 404, c.get(t, ops(), "/console/live?page=other").status)
	require.Equal(t, 403, c.get(t, ops(), "/console/live?page=overview").status)
}
