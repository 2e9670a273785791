package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// F11: a record that nobody can handle is delivered again and again. The server's own count is
// shown. How many became dead letters is counted by the clients, in metrics of their own.
func TestFieldF11ARecordThatIsDeliveredAgainAndAgainStandsOut(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.answers(shardPending, protocol.PendingResponse{Entries: []protocol.PendingEntry{
		entryOf("5-1", "m-1", 90_000, 812), entryOf("6-1", "m-1", 10, 1),
	}})
	body := c.get(t, reader(), pendingPage+"?shard=2").body
	require.Contains(t, body, "812")
	require.Equal(t, 1, strings.Count(body, "given again"), "and those behind it do not")
	require.Contains(t, body, `href="`+messagesPage+`?id=5-1&amp;shard=2"`, "what it says is one click away")
}

// F24: what was trimmed before it was read is a loss, and how much it was is said.
func TestFieldF24RecordsLostByTrimmingAreCounted(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	g := stableGroup()
	g.shards[2].TrimmedUnreadAlarm, g.shards[2].TrimmedUnread, g.shards[2].ShardLabel = true, new(int64(1200)), ":2"
	g.tells(c)
	body := c.get(t, reader(), groupPage).body
	require.Contains(t, body, "Records went away before they were read")
	require.Contains(t, body, "1\u202f200 records lost on shard :2")

	lost := func(count *int64) func(*protocol.GrafanaGroupRow) {
		return func(r *protocol.GrafanaGroupRow) { r.TrimmedUnreadAlarm, r.TrimmedUnread = true, count }
	}
	c.answers("GET /monitoring/grafana/groups", []protocol.GrafanaGroupRow{row("alpha", "g", lost(new(int64(1200)))), row("beta", "g", lost(nil))})
	body = c.get(t, reader(), "/console").body
	require.Contains(t, body, "1\u202f200 records went away unread")
	require.Contains(t, body, "records went away before they were read", "a loss that nobody can count is one all the same")
}

// F30: two processes with one member id are told apart, and both are named. The API has no
// addresses of members, only what tells their processes apart.
func TestFieldF30BothProcessesWithOneMemberIDAreNamed(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	g := stableGroup()
	g.members[1].Incarnation, g.members[1].Successor = "01JFIRST", new("01JSECOND")
	g.tells(c)
	body := c.get(t, reader(), groupPage).body
	require.Contains(t, body, "m-1: process 01JFIRST has it, process 01JSECOND asks for it")
	require.Contains(t, body, "process 01JSECOND asks for the same id")
}

// F32: shards that nobody reads are named, at the head of the page, while they are.
func TestFieldF32ShardsWithoutAReaderAreNamedAtTheHead(t *testing.T) {
	t.Parallel()
	for _, state := range []protocol.GroupState{protocol.GroupReconciling, protocol.GroupEmpty} {
		c := newConsole(t)
		g := stableGroup()
		g.group.State, g.group.UnassignedShards = state, []int{1, 3}
		if state == protocol.GroupEmpty {
			g.members = []protocol.MemberMetadata{}
		}
		for _, index := range g.group.UnassignedShards {
			g.shards[index].CurrentOwnerMemberIDs, g.shards[index].TargetOwnerMemberIDs, g.shards[index].OwnerState = "", "", protocol.OwnerUnassigned
		}
		g.tells(c)
		got := c.get(t, reader(), groupPage)
		require.Equal(t, http.StatusOK, got.status)
		problems := got.body[strings.Index(got.body, `<div id="problems">`):strings.Index(got.body, `<h2 id="shards">`)]
		for _, shard := range []string{"1", "3"} {
			require.Contains(t, problems, `href="`+groupPage+`?shard=`+shard+`#shards"`, state)
		}
		require.Contains(t, problems, "What to do:")
	}
	c := newConsole(t)
	c.answers("GET /monitoring/grafana/groups", []protocol.GrafanaGroupRow{row("alpha", "g", func(r *protocol.GrafanaGroupRow) { r.CurrentShards = 2 })})
	require.Contains(t, c.get(t, reader(), "/console").body, "2 shards nobody reads")
}
