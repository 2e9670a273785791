package pages_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const patience = time.Minute

// monitor is the stream of events of a fake gateway. Each round is sent to all that follow.
type monitor struct {
	rounds chan string
	number int64
}

func newMonitor(c *console) *monitor {
	m := &monitor{rounds: make(chan string, 16)}
	c.api.HandleFunc("GET /coord/v1/monitoring/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		for {
			select {
			case <-r.Context().Done():
				return
			case round := <-m.rounds:
				_, _ = w.Write([]byte(round))
				_ = http.NewResponseController(w).Flush()
			}
		}
	})
	return m
}

// round tells of the group; the structure and shards that are given have changed. Rounds are a
// second apart by the monitor's clock.
func (m *monitor) round(g *aGroup, structure bool, shards ...protocol.GrafanaShardRow) {
	m.number++
	var text strings.Builder
	row := row("orders", "billing", func(r *protocol.GrafanaGroupRow) { r.State = g.group.State })
	write := func(kind string, body any) {
		data, _ := json.Marshal(body)
		fmt.Fprintf(&text, "event: %s\ndata: %s\n\n", kind, data)
	}
	write(protocol.FollowGroups, protocol.GroupsEvent{
		Round: m.number, At: protocol.AtMillis(g.group.ObservedAt.UnixMilli() + 1000*m.number), Groups: []protocol.GrafanaGroupRow{row},
	})
	if structure {
		write(protocol.FollowGroup, g.group.GroupResponse)
	}
	if len(shards) > 0 {
		write(protocol.FollowShards, protocol.ShardsEvent{Shards: shards})
	}
	m.rounds <- text.String()
}

// events are those of a page, and what it shows by them.
type events struct {
	*bufio.Scanner

	page map[string]string
}

func eventsOf(answer *http.Response) *events {
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	return &events{lines, map[string]string{}}
}

// looks opens the events of a group's page.
func looks(t *testing.T, c *console) *events {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	t.Cleanup(leave)
	r := c.request(t, reader(), http.MethodGet, "/console/live?page=group&stream=orders&group=billing", nil)
	answer, err := http.DefaultClient.Do(r.WithContext(ctx))
	require.NoError(t, err)
	t.Cleanup(func() { _ = answer.Body.Close() })
	require.Equal(t, http.StatusOK, answer.StatusCode)
	return eventsOf(answer)
}

// rowText is a row of a table.
var rowText = regexp.MustCompile(`(?s)<tr.*?</tr>`)

// readInto reads the next event into pieces, and returns of when it is.
func readInto(t *testing.T, lines *events, pieces map[string]string) int64 {
	t.Helper()
	var event struct {
		At     protocol.Timestamp
		Pieces []struct {
			ID, HTML string
			Rows     []struct {
				At   int
				HTML string
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(nextEvent(t, lines.Scanner)), &event))
	for _, each := range event.Pieces {
		if each.Rows == nil {
			lines.page[each.ID], pieces[each.ID] = each.HTML, each.HTML
			continue
		}
		rows := rowText.FindAllString(lines.page[each.ID], -1)
		for _, row := range each.Rows { // as the browser does it
			rows[row.At] = row.HTML
		}
		lines.page[each.ID] = rowText.ReplaceAllStringFunc(lines.page[each.ID], func(string) string {
			row := rows[0]
			rows = rows[1:]
			return row
		})
		pieces[each.ID] = lines.page[each.ID]
	}
	return event.At.UnixMilli()
}

// until reads events until one has a piece with a text, and returns all pieces that came.
func until(t *testing.T, lines *events, id, text string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for !strings.Contains(found[id], text) {
		readInto(t, lines, found)
	}
	return found
}

// asks counts what was asked, by the end of the path.
func (c *console) asks(end string) int {
	count := 0
	for _, each := range c.calls("GET") {
		if strings.HasSuffix(each.path, end) {
			count++
		}
	}
	return count
}

func TestAGroupsPageChangesWithItsShards(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	g := stableGroup()
	g.tells(c)
	m := newMonitor(c)
	lines := looks(t, c)
	m.round(g, true, g.shards...)
	first := until(t, lines, "shardmap", "m-1")
	require.Contains(t, first["memberlist"], "8.0 s of 10.0 s", "never without what was on the page before")
	require.Contains(t, first["timeline"], "a member joined")

	g.shards[3].CurrentOwnerMemberIDs, g.shards[3].OwnerState = "", protocol.OwnerTransitioning
	m.round(g, false, g.shards[3])
	found := until(t, lines, "shardmap", "m-1 is to read it")
	require.NotContains(t, found, "memberlist", "what stays the same is not sent")
	require.NotContains(t, found, "timeline")
	require.NotContains(t, found, "changes")
}

// Monitoring, Console: no layout jump on updates.
func TestAGroupsLinesTakeTheSameRoomFromTheFirstPictureOn(t *testing.T) {
	t.Parallel()
	for name, samples := range map[string]*protocol.Samples{
		"known": {StepMs: 15_000, ProducedPerSecond: []*float64{new(3.0), new(6.0)}, ConsumedPerSecond: []*float64{nil, new(6.0)}, Lag: []*float64{nil, nil}},
		"not":   nil,
	} {
		c := newConsole(t)
		g := stableGroup()
		g.group.Samples = samples
		g.tells(c)
		first := c.get(t, reader(), groupPage).body
		require.Equal(t, 3, strings.Count(first, `<svg class="spark" viewBox="-1 -1 120 22" role="img">`), name)
		require.Equal(t, samples != nil, strings.Contains(first, `<polyline points="116,10 118,0"></polyline>`), name)
		m := newMonitor(c)
		lines := looks(t, c)
		m.round(g, true, g.shards...)
		head := until(t, lines, "head", "Every shard is read")["head"]
		require.Equal(t, 3, strings.Count(head, `<svg class="spark" viewBox="-1 -1 120 22" role="img">`), name)
		require.Equal(t, samples != nil, strings.Contains(head, `<polyline points="116,10 118,0"></polyline>`), name)
	}
}

func TestNothingIsSentOfAGroupThatStaysTheSame(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	g := stableGroup()
	g.tells(c)
	m := newMonitor(c)
	lines := looks(t, c)
	m.round(g, true, g.shards...)
	until(t, lines, "shardmap", "m-1")
	quiet := func() map[string]string {
		m.round(g, false)
		now := g.group.ObservedAt.UnixMilli() + 1000*m.number
		found := map[string]string{}
		for readInto(t, lines, found) != now {
		}
		return found
	}
	quiet() // with the second round the lines begin
	for range 3 {
		require.Empty(t, quiet())
	}
}

// However many look at a group, what the events do not tell is asked for once.
func TestManyViewersOfAGroupCostNoMoreThanOne(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	g := stableGroup()
	g.tells(c)
	m := newMonitor(c)
	var viewers []*events
	for range 50 {
		viewers = append(viewers, looks(t, c))
	}
	m.round(g, true, g.shards...)
	for _, each := range viewers {
		until(t, each, "shardmap", "m-1")
	}
	g.group.MetadataVersion++
	g.shards[0].CurrentOwnerMemberIDs = "m-9"
	m.round(g, true, g.shards[0])
	for _, each := range viewers {
		until(t, each, "shardmap", "m-9")
	}
	require.Eventually(t, func() bool { return c.asks("/members") == 2 }, patience, time.Millisecond, "the structure is another one")
	for _, end := range []string{"/groups/billing", "/members", "/assignments"} {
		require.LessOrEqual(t, c.asks(end), 2, end)
	}
	require.Equal(t, 1, c.asks("/monitoring/stream"))
	require.Zero(t, c.asks("/grafana/shards"), "the events tell them")
}

func TestTheHistoryIsReadOnFromWhereItEnded(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	g := stableGroup()
	g.tells(c)
	m := newMonitor(c)
	lines := looks(t, c)
	m.round(g, true, g.shards...)
	until(t, lines, "timeline", "a member joined")
	g.group.MetadataVersion++
	m.round(g, true)
	cursors := func() []string {
		var found []string
		for _, each := range c.calls("GET") {
			if strings.HasSuffix(each.path, "/events") {
				found = append(found, each.query)
			}
		}
		return found
	}
	require.Eventually(t, func() bool { return len(cursors()) == 2 }, patience, time.Millisecond)
	require.Equal(t, []string{"limit=1000", "after=1-0&limit=1000"}, cursors())
}

func TestAGroupThatGoesIsSaidToBeGone(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	g := stableGroup()
	g.tells(c)
	m := newMonitor(c)
	lines := looks(t, c)
	m.round(g, true, g.shards...)
	until(t, lines, "shardmap", "m-1")
	m.rounds <- `event: groups` + "\n" + `data: {"round":9,"at":"2023-11-14T22:13:25.000Z","groups":[],"removed":[{"streamPrefix":"orders","consumerGroup":"billing"}],"unreadable":[{"streamPrefix":"orders","consumerGroup":"billing","problem":"METADATA_CORRUPT"}]}` + "\n\n"
	require.Contains(t, until(t, lines, "head", "metadata corrupt")["head"], `role="alert"`)
}
