package app_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

const ordersEvents = "redis-stream:coord:{orders:billing}:events"

// page reads one page of the flight recorder.
func (c *coordinator) page(query string) protocol.EventsResponse {
	c.t.Helper()
	var page protocol.EventsResponse
	status, _ := c.call("GET", ordersURL+"/events"+query, nil, &page)
	require.Equal(c.t, http.StatusOK, status)
	return page
}

// recorded reads the whole flight recorder by pages of limit events.
func (c *coordinator) recorded(limit int) []protocol.GroupEvent {
	c.t.Helper()
	var all []protocol.GroupEvent
	for after := ""; ; {
		page := c.page(fmt.Sprintf("?limit=%d&after=%s", limit, after))
		require.LessOrEqual(c.t, len(page.Events), limit)
		all = append(all, page.Events...)
		if page.Next == nil {
			return all
		}
		require.Len(c.t, page.Events, limit)
		after = *page.Next
	}
}

// of returns the events of one cause about one member, "" for any.
func of(events []protocol.GroupEvent, cause protocol.EventCause, member string) []protocol.GroupEvent {
	var found []protocol.GroupEvent
	for _, e := range events {
		if e.Cause == cause && (member == "" || e.MemberID != nil && *e.MemberID == member) {
			found = append(found, e)
		}
	}
	return found
}

// Protocol, Flight recorder: every structural commit is one event with its cause, and
// nothing else is.
func TestLifeOfAGroupIsRecordedEventByEvent(t *testing.T) {
	t.Parallel()
	redis := redisproc.Start(t)
	c := start(t, settings(redis), app.Deps{})
	c.createOrders("billing")
	a, b := newMember("ma", ordersURL), newMember("mb", ordersURL)
	settle(c, a)
	settle(c, a, b)

	steady := c.recorded(7)
	for range 5 {
		a.beat(c)
		b.beat(c)
	}
	require.Equal(t, steady, c.recorded(7), "steady heartbeats record nothing (A1)")

	events := steady
	require.Equal(t, protocol.EventAdmin, events[0].Cause)
	require.Equal(t, protocol.ActionCreate, *events[0].Action)
	require.Equal(t, "test", *events[0].Actor)
	require.NotEmpty(t, *events[0].RequestID)

	joins := append(of(events, protocol.EventJoin, "ma"), of(events, protocol.EventJoin, "mb")...)
	require.Len(t, joins, 2)
	require.Equal(t, "ma-1", *joins[0].RequestID)
	require.Len(t, joins[0].Shards, shards, "nobody else held anything")
	require.Equal(t, "ma", *joins[0].Shards[0].Target.After)
	require.Equal(t, "ma", joins[0].Shards[0].Hold.After.MemberID)
	require.Equal(t, "mb-1", *joins[1].RequestID)
	require.Len(t, joins[1].Shards, 2)
	require.True(t, joins[1].Shards[0].Hold.After.Told, "H2: the holder is told to drop, the hold stays")

	handOffs := of(events, protocol.EventRelease, "ma")
	require.Len(t, handOffs, 1)
	require.True(t, strings.HasPrefix(*handOffs[0].RequestID, "ma-"), "the heartbeat that released: %s", *handOffs[0].RequestID)
	require.Len(t, handOffs[0].Shards, 2)
	for _, shard := range handOffs[0].Shards {
		require.Equal(t, "ma", shard.Hold.Before.MemberID)
		require.Equal(t, "mb", shard.Hold.After.MemberID)
		require.Nil(t, shard.Target)
	}
	requireUnbroken(t, events)

	require.Eventually(t, func() bool { // mb falls silent
		a.beat(c)
		return len(of(c.recorded(100), protocol.EventExpire, "mb")) > 0
	}, patience, interval)
	settle(c, a)
	expired := of(c.recorded(100), protocol.EventExpire, "mb")
	require.Len(t, expired, 1)
	require.Nil(t, expired[0].RequestID, "time did it")

	var gone protocol.GroupResponse
	status, _ := c.call("DELETE", ordersURL, protocol.DeleteRequest{RequestedBy: "ops", Reason: "over", Force: true}, &gone)
	require.Equal(t, http.StatusOK, status)
	events = c.recorded(3)
	last := events[len(events)-1]
	require.Len(t, of(events, protocol.EventAdmin, ""), 2)
	require.Equal(t, protocol.ActionDelete, *last.Action)
	require.Equal(t, "ops over", *last.Actor+" "+*last.Reason)
	require.Len(t, last.Shards, shards)
	requireUnbroken(t, events[:len(events)-1])
}

// requireUnbroken checks that no structural commit of a lineage is missing or told twice.
func requireUnbroken(t *testing.T, events []protocol.GroupEvent) {
	t.Helper()
	for i, e := range events {
		require.Equal(t, int64(i+1), e.MetadataVersion, "%+v", e)
		require.Equal(t, events[0].Lineage, e.Lineage)
		require.NotEmpty(t, e.Cause)
		require.NotEqual(t, protocol.EventUnreadable, e.Cause)
		if i > 0 {
			require.False(t, e.At.Before(events[i-1].At.Time))
		}
	}
}

func TestPagesOfACappedHistoryAreCompleteFromTheOldestEventKept(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	rdb := server.Client(t)
	cfg := settings(server)
	cfg.Coordination.MemberLeaseTTL = 5 * time.Minute // an expiry meanwhile would be an event that trims
	cfg.Coordination.RebalanceTimeout = 10 * time.Minute
	c := start(t, cfg, app.Deps{})
	c.createOrders("billing")
	first := c.page("").Events[0]
	settle(c, newMember("ma", ordersURL))
	before := len(c.recorded(100))
	for i := range 2500 { // what an older, long life would have left behind
		require.NoError(t, add(t.Context(), rdb, fmt.Sprintf(`{"cause":"JOIN","metadataVersion":%d}`, 1000+i)))
	}
	for _, limit := range []int{1000, 333} {
		events := c.recorded(limit)
		require.Len(t, events, before+2500)
		for i, e := range events[before:] {
			require.Equal(t, int64(1000+i), e.MetadataVersion)
		}
	}
	require.Len(t, c.page("").Events, protocol.DefaultEvents)

	require.NoError(t, rdb.XTrimMaxLen(t.Context(), ordersEvents, 1000).Err())
	require.Len(t, c.recorded(100), 1000)
	rest := c.page("?limit=1&after=" + first.ID)
	require.Equal(t, int64(2500), rest.Events[0].MetadataVersion, "a cursor that was cut off goes on with the oldest event kept")

	require.NoError(t, add(t.Context(), rdb, "by hand"))
	require.Equal(t, protocol.EventUnreadable, c.recorded(1000)[1000].Cause, "one bad entry costs no other")
}

func add(ctx context.Context, rdb *redis.Client, event string) error {
	return rdb.XAdd(ctx, &redis.XAddArgs{Stream: ordersEvents, Values: []string{"revision", "1", "event", event}}).Err()
}

// Protocol M6: the events outlive the metadata, and without either the answer is that of
// every other read.
func TestEventsCanBeReadWithoutTheMetadata(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	rdb := server.Client(t)
	c := start(t, settings(server), app.Deps{})
	require.Equal(t, protocol.CodeGroupNotFound, c.refused("GET", ordersURL+"/events", nil, http.StatusNotFound))
	c.createOrders("billing")
	settle(c, newMember("ma", ordersURL))
	events := c.recorded(100)

	require.NoError(t, rdb.HSet(t.Context(), ordersKey, "aggregate", "{").Err())
	require.Equal(t, events, c.recorded(100), "corrupt")
	require.NoError(t, rdb.Del(t.Context(), ordersKey).Err())
	require.Equal(t, events, c.recorded(100), "gone")
	require.NoError(t, rdb.Del(t.Context(), ordersEvents).Err())
	require.Equal(t, protocol.CodeMetadataMissing, c.refused("GET", ordersURL+"/events", nil, http.StatusServiceUnavailable))
	require.Equal(t, protocol.CodeInvalidRequest, c.refused("GET", ordersURL+"/events?limit=0", nil, http.StatusBadRequest))
}
