package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const getEvents = "GET /streams/orders/groups/g/events?limit=1000"

func eventsAt(after string) string {
	return "GET /streams/orders/groups/g/events?after=" + after + "&limit=1000"
}

func joined() protocol.GroupEvent {
	return protocol.GroupEvent{
		ID: "1-0", At: at(0), Cause: protocol.EventJoin, MemberID: new("m1"), RequestID: new("r1"), MetadataVersion: 2,
		Changes: []protocol.EventChange{
			{Cause: protocol.EventJoin, MemberID: "m1"}, {Cause: protocol.EventGrant, MemberID: "m1", Shards: 1},
		},
	}
}

func barred() protocol.GroupEvent {
	return protocol.GroupEvent{
		ID: "2-0", At: at(1), Cause: protocol.EventAdmin, Action: new(protocol.ActionBarrier), Actor: new("ann"),
		Reason: new("hash\nrestored"), MetadataVersion: 3, ChangesLeftOut: 2,
	}
}

const (
	joinedLine = "2026-01-02T03:04:05.000Z  v2  JOIN  m1  +GRANT 1 shard m1  request r1\n"
	barredLine = `2026-01-02T03:04:06.000Z  v3  ADMIN  BARRIER  by ann  "hash\nrestored"  and 2 more` + "\n"
)

func TestEventsAreReadPageByPage(t *testing.T) {
	t.Parallel()
	says := answers{
		getEvents:       {protocol.EventsResponse{Events: []protocol.GroupEvent{joined()}, Next: new("1-0")}},
		eventsAt("1-0"): {protocol.EventsResponse{Events: []protocol.GroupEvent{barred()}}},
		eventsAt("2-0"): {protocol.EventsResponse{}},
	}
	_, url := serve(t, says)
	require.Equal(t, outcome{out: joinedLine + barredLine}, rscctl(t, scene{}, url, "events orders g"))
	require.Equal(t, outcome{out: barredLine}, rscctl(t, scene{}, url, "events orders g --last 1"))
	require.Equal(t, outcome{out: barredLine}, rscctl(t, scene{}, url, "events orders g --after 1-0"))
	require.Equal(t, outcome{out: "No events.\n"}, rscctl(t, scene{}, url, "events orders g --after 2-0"))
	requireJSON(t, protocol.EventsResponse{Events: []protocol.GroupEvent{joined(), barred()}},
		rscctl(t, scene{}, url, "events orders g -o json").out)
}

func TestEventsAreFollowedUntilTheInterrupt(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{"table": joinedLine + barredLine, "json": ""} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{answers: answers{
				getEvents: {protocol.EventsResponse{Events: []protocol.GroupEvent{joined()}}},
				eventsAt("1-0"): {
					protocol.EventsResponse{},
					refused{protocol.CodeTerminating, "it ends"},
					refused{protocol.CodeTerminating, "it ends"},
					protocol.EventsResponse{Events: []protocol.GroupEvent{barred()}},
				},
				eventsAt("2-0"): {protocol.EventsResponse{}},
			}}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			got := inBubble(ctx, scene{}, f, "events orders g --follow -o "+output)
			require.Zero(t, got.code)
			require.Equal(t, 1, strings.Count(got.err, "trying again"), got.err)
			if output == "table" {
				require.Equal(t, want, got.out)
			} else {
				require.Equal(t, 2, strings.Count(got.out, "\n"), "one event a line")
			}
		})
	}
}

func TestFollowingEndsWithARefusalThatStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{answers: answers{
			getEvents:       {protocol.EventsResponse{Events: []protocol.GroupEvent{joined()}}},
			eventsAt("1-0"): {refused{protocol.CodeGroupNotFound, "it is gone"}},
		}}
		got := inBubble(t.Context(), scene{}, f, "events orders g --follow")
		require.Equal(t, 1, got.code)
		require.Equal(t, joinedLine, got.out)
		require.Contains(t, got.err, "code: GROUP_NOT_FOUND")
	})
}

// Monitoring, rscctl: an event tells its cause and the shards that moved.
func TestAnEventTellsWhichShardsWentFromWhomToWhom(t *testing.T) {
	t.Parallel()
	hold := func(member string) *protocol.HoldState {
		if member == "" {
			return nil
		}
		return &protocol.HoldState{MemberID: member}
	}
	moved := func(shard int, from, to string) protocol.ShardChange {
		return protocol.ShardChange{Shard: shard, Hold: &protocol.HoldChange{Before: hold(from), After: hold(to)}}
	}
	event := protocol.GroupEvent{At: at(0), Cause: protocol.EventExpire, MetadataVersion: 4, Shards: []protocol.ShardChange{
		moved(2, "two", "one"), moved(3, "two", "one"), moved(5, "", "one"), moved(6, "one", ""),
		{Shard: 7, Target: &protocol.TargetChange{Before: new("two"), After: new("one")}},
	}}
	require.Equal(t, []string{"2-3: two -> one", "5: - -> one", "6: one -> -", "wanted 7: two -> one"}, moveWords(event))
	require.Equal(t, "2026-01-02T03:04:05.000Z  v4  EXPIRE  2-3: two -> one  5: - -> one  6: one -> -  wanted 7: two -> one",
		strings.Join(eventWords(event), "  "))

	told := moved(8, "one", "one")
	told.Hold.After.Told = true
	both := moved(9, "two", "one")
	both.Target = &protocol.TargetChange{Before: new("two"), After: new("one")}
	event.Shards, event.ShardsLeftOut = []protocol.ShardChange{told, both}, 3
	require.Equal(t, []string{"9: two -> one", "and 3 shards more"}, moveWords(event), "who is told to stop may still be reading")
	event.Shards, event.ShardsLeftOut = nil, 0
	for shard := range 6 {
		event.Shards = append(event.Shards, moved(shard, "two", fmt.Sprintf("m%d", shard)))
	}
	require.Equal(t, "and 2 shards more", moveWords(event)[4])
}
