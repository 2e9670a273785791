package messages_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/messages"
)

// manyShards is how many a stream may have, unless limits.max-shards says otherwise.
const manyShards = protocol.DefaultMaxShards

// requireShort fails for a cursor that makes a query of 8,000 bytes or more beside the
// longest names, the most that the gateway passes on.
func requireShort(t require.TestingT, cursor *string) {
	if cursor == nil {
		return
	}
	query := url.Values{
		"streamPrefix": {strings.Repeat("@", protocol.MaxStreamPrefix)}, "consumerGroup": {strings.Repeat("@", protocol.MaxConsumerGroup)},
		"shardIndex": {"all"}, "direction": {"FORWARD"}, "limit": {"1000"}, "cursor": {*cursor},
	}
	require.Less(t, len(query.Encode()), 8000)
}

// TestCursorsOfManyShardsStayShort: as many shards as a stream may have, both ways, over all pages; with ids that
// are all different, and with one that all shards have.
func TestCursorsOfManyShardsStayShort(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	fill(t, rdb, manyShards, 2*manyShards)
	scatterOver(t, rdb, "equal", manyShards, func(int) []string { return []string{"5-1"} })
	for prefix, records := range map[string]int{"orders": 2 * manyShards, "equal": manyShards} {
		for _, direction := range directions() {
			seen := map[string]bool{}
			follow(t.Context(), t, messages.NewReader(rdb), all(prefix, manyShards, direction, 1000), func(rows []protocol.GrafanaMessageRow) {
				for _, place := range placesOf(rows) {
					require.False(t, seen[place], place)
					seen[place] = true
				}
				requireShort(t, rows[0].PageNextCursor)
				if next := rows[0].PageNextCursor; next != nil && direction == protocol.DirectionBackward {
					require.Less(t, len(*next), 100)
				}
			})
			require.Len(t, seen, records)
		}
	}
}

// scatterOver writes records with given ids to each shard.
func scatterOver(t *testing.T, rdb redis.UniversalClient, prefix string, shards int, idsOf func(shard int) []string) (places []string) {
	t.Helper()
	_, err := rdb.Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
		for shard := range shards {
			for _, id := range idsOf(shard) {
				pipe.XAdd(t.Context(), &redis.XAddArgs{Stream: routing.StreamKey(prefix, shard), ID: id, Values: []any{"f", "v"}})
				places = append(places, fmt.Sprintf("%d=%s", shard, id))
			}
		}
		return nil
	})
	require.NoError(t, err)
	return places
}

// TestRecordsBehindThePositionAreShownOnceOnManyShards: most shards fell
// silent at some time of the last day, and some have a server that is ahead by hours. After
// each page shards of all kinds get records with the ids that Redis gives, most of them below those on
// the page.
func TestRecordsBehindThePositionAreShownOnceOnManyShards(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	now := time.Now().UnixMilli()
	want := scatterOver(t, rdb, "orders", manyShards, func(shard int) []string {
		if shard%16 != 5 {
			return []string{fmt.Sprintf("%d-%d", now-1000-rand.Int64N(86_400_000), rand.IntN(3))}
		}
		var ids []string
		for i := range 16 {
			ids = append(ids, fmt.Sprintf("%d-%d", now+3_600_000*int64(i+1)+rand.Int64N(3_600_000), i))
		}
		return ids
	})
	seen, pages := map[string]int{}, 0
	follow(t.Context(), t, messages.NewReader(rdb), all("orders", manyShards, protocol.DirectionForward, 1000), func(rows []protocol.GrafanaMessageRow) {
		requireShort(t, rows[0].PageNextCursor)
		for _, place := range placesOf(rows) {
			seen[place]++
		}
		if pages++; rows[0].PageNextCursor == nil {
			return
		}
		for range 100 {
			shard := rand.IntN(manyShards)
			id, err := rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: routing.StreamKey("orders", shard), Values: []any{"late", "1"}}).Result()
			require.NoError(t, err)
			want = append(want, fmt.Sprintf("%d=%s", shard, id))
		}
	})
	require.Greater(t, pages, 7)
	require.Len(t, seen, len(want))
	for _, place := range want {
		require.Equal(t, 1, seen[place], place)
	}
}

// TestShardsThatAreAllAheadOfTheClockHaveFullPages: where no clock helps, and not all can be
// named, pages are as long as ever but for the first few, and what was there is shown once.
func TestShardsThatAreAllAheadOfTheClockHaveFullPages(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	now := time.Now().UnixMilli()
	want := scatterOver(t, rdb, "orders", manyShards, func(shard int) []string {
		ids := []string{fmt.Sprintf("%d-0", now+3_600_000+rand.Int64N(3_600_000))}
		if shard == 7 {
			ids = append(ids, strconv.FormatInt(now+9_000_000, 10)+"-0")
		}
		return ids
	})
	seen, pages := map[string]int{}, 0
	follow(t.Context(), t, messages.NewReader(rdb), all("orders", manyShards, protocol.DirectionForward, 1000), func(rows []protocol.GrafanaMessageRow) {
		requireShort(t, rows[0].PageNextCursor)
		for _, place := range placesOf(rows) {
			seen[place]++
		}
		pages++
	})
	require.LessOrEqual(t, pages, 2*manyShards/1000)
	require.Len(t, seen, len(want))
	for _, place := range want {
		require.Equal(t, 1, seen[place], place)
	}
}

// TestWithoutTheRightToAskForTheTimePagesGoOn.
func TestWithoutTheRightToAskForTheTimePagesGoOn(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	fill(t, rdb, 500, 2000)
	require.NoError(t, rdb.Do(t.Context(), "ACL", "SETUSER", "default", "-time").Err())
	require.Error(t, rdb.Time(t.Context()).Err())
	seen := map[string]bool{}
	follow(t.Context(), t, messages.NewReader(rdb), all("orders", 500, protocol.DirectionForward, 300), func(rows []protocol.GrafanaMessageRow) {
		for _, place := range placesOf(rows) {
			seen[place] = true
		}
	})
	require.Len(t, seen, 2000)
}

// TestAWalkForwardShowsEveryRecordOnceWhateverIsWritten: any ids above those of the shard,
// before and behind the page, between any two pages, and shards that are made meanwhile.
func TestAWalkForwardShowsEveryRecordOnceWhateverIsWritten(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		ctx := context.WithoutCancel(t.Context())
		prefix, shards := fmt.Sprintf("w%d", run), rapid.IntRange(1, 4).Draw(rt, "shards")
		highest := make([]redisx.EntryID, 8)
		want := map[string]int{}
		write := func(rt *rapid.T) {
			shard := rapid.IntRange(0, shards-1).Draw(rt, "shard")
			id := redisx.EntryID{
				Ms:  highest[shard].Ms + rapid.Uint64Range(0, 4).Draw(rt, "ms"),
				Seq: highest[shard].Seq + rapid.Uint64Range(1, 2).Draw(rt, "seq"),
			}
			highest[shard] = id
			add(ctx, rt, rdb, routing.StreamKey(prefix, shard), id.String())
			want[fmt.Sprintf("%d=%s", shard, id)] = 1
		}
		for range rapid.IntRange(1, 30).Draw(rt, "before") {
			write(rt)
		}
		got := map[string]int{}
		q := all(prefix, shards, protocol.DirectionForward, rapid.IntRange(1, 5).Draw(rt, "limit"))
		for {
			rows, err := messages.NewReader(rdb).Rows(ctx, q)
			require.NoError(rt, err)
			for _, place := range placesOf(rows) {
				got[place]++
			}
			if len(rows) == 0 || rows[0].PageNextCursor == nil {
				break
			}
			requireShort(rt, rows[0].PageNextCursor)
			q.Cursor = *rows[0].PageNextCursor
			if shards < 8 && rapid.IntRange(0, 9).Draw(rt, "scale") == 0 {
				shards++
				q.Shards = shardsOf(prefix, shards)
			}
			for range rapid.IntRange(0, 2*q.Limit-1).Draw(rt, "between") {
				if len(want) < 120 {
					write(rt)
				}
			}
		}
		require.Equal(rt, want, got)
	})
}

// TestCursorsThatPagesGaveBeforeAreStillAnswered: they name every shard, or one id for all.
func TestCursorsThatPagesGaveBeforeAreStillAnswered(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	fill(t, rdb, 3, 12)
	for cursor, want := range map[string][]string{
		"all:0=4-1,1=5-1":     {"2=3-1", "2=6-1", "0=7-1", "1=8-1", "2=9-1", "0=10-1", "1=11-1", "2=12-1"},
		"all:*=10-1,0=9-1":    {"0=10-1", "1=11-1", "2=12-1"},
		"9-1":                 {"0=10-1", "1=11-1", "2=12-1"},
		"all:0=1-1,1=11-1":    {"2=3-1", "0=4-1", "2=6-1", "0=7-1", "2=9-1", "0=10-1", "2=12-1"},
		"all:10-1.0":          {"1=11-1", "2=12-1"},
		"all:11-1.0":          {"1=11-1", "2=12-1"},
		"all:11-1.1":          {"2=12-1"},
		"all:99-1.9999999999": {},
	} {
		q := all("orders", 3, protocol.DirectionForward, 2)
		q.Cursor = cursor
		got := []string{}
		follow(t.Context(), t, messages.NewReader(rdb), q, func(rows []protocol.GrafanaMessageRow) { got = append(got, placesOf(rows)...) })
		require.Equal(t, want, got, cursor)
	}
}
