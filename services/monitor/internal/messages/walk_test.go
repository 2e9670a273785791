package messages_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/messages"
)

func directions() []protocol.MessageDirection {
	return []protocol.MessageDirection{protocol.DirectionForward, protocol.DirectionBackward}
}

// TestEveryRecordIsOnOnePageWhileWritesGoOn: 1,000,000 records of 8 shards merged, in pages of
// 1,000 (200,000 under the race detector). Between pages more are written to all shards, with ids around and before those just
// read too.
func TestEveryRecordIsOnOnePageWhileWritesGoOn(t *testing.T) {
	t.Parallel()
	const shards, records, changing = 8, walked, 150
	rdb := redisproc.Start(t).Client(t)
	fillFast(t, rdb, shards, records)
	written := 0
	for _, direction := range []protocol.MessageDirection{protocol.DirectionBackward, protocol.DirectionForward} {
		pages, seen, late := 0, make([]uint8, records), map[string]int{}
		follow(t.Context(), t, messages.NewReader(rdb), all("orders", shards, direction, 1000), func(rows []protocol.GrafanaMessageRow) {
			for _, row := range rows {
				id, err := redisx.ParseEntryID(row.RecordID)
				require.NoError(t, err)
				if id.Seq == 1 && id.Ms <= records && int(id.Ms-1)%shards == row.ShardIndex {
					seen[id.Ms-1]++
				} else {
					late[strconv.Itoa(row.ShardIndex)+"="+row.RecordID]++
				}
			}
			if pages++; pages <= changing {
				for shard := range shards { // ids that are lower than those of other shards
					written++
					add(t.Context(), t, rdb, routing.StreamKey("orders", shard), fmt.Sprintf("%d-%d", records+shard, 1+written))
				}
			}
		})
		require.Equal(t, -1, slices.IndexFunc(seen, func(times uint8) bool { return times != 1 }), "%s: every one that was there once", direction)
		if direction == protocol.DirectionBackward {
			require.Empty(t, late, "nothing newer than the first page appears")
			continue
		}
		require.Len(t, late, 2*changing*shards, "the pages go on as long as there is more")
		for place, times := range late {
			require.Equal(t, 1, times, place)
		}
	}
}

// fillFast is fill, done by the server.
func fillFast(t *testing.T, rdb redis.UniversalClient, shards, records int) {
	t.Helper()
	const script = `for i = ARGV[1] + 0, ARGV[2] + 0 do redis.call('XADD', 'orders:' .. (i - 1) % ARGV[3], i .. '-1', 'f', i) end`
	for from := 0; from < records; from += 50_000 {
		err := rdb.Eval(t.Context(), script, nil, from+1, min(from+50_000, records), shards).Err()
		require.ErrorIs(t, err, redis.Nil)
	}
}

// fill writes records in turn to the shards of the stream orders, with the ids 1-1, 2-1 and so on.
func fill(t *testing.T, rdb redis.UniversalClient, shards, records int) {
	t.Helper()
	for from := 0; from < records; from += 10_000 {
		_, err := rdb.Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
			for i := from; i < min(from+10_000, records); i++ {
				pipe.XAdd(t.Context(), &redis.XAddArgs{Stream: routing.StreamKey("orders", i%shards), ID: fmt.Sprintf("%d-1", i+1), Values: []any{"f", i}})
			}
			return nil
		})
		require.NoError(t, err)
	}
}

// TestPagesAreTheRecordsInOrder: for any records on any shards, with equal ids on several,
// the pages one after the other are the records in order, and so are the pages by tails.
func TestPagesAreTheRecordsInOrder(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	reader := messages.NewReader(rdb)
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		ctx := context.WithoutCancel(t.Context())
		prefix, shards := fmt.Sprintf("s%d", run), rapid.IntRange(1, 5).Draw(rt, "shards")
		want := scatter(ctx, rt, rdb, prefix, shards)
		limit := rapid.IntRange(1, 12).Draw(rt, "limit")
		for _, direction := range directions() {
			q := all(prefix, shards, direction, limit)
			got, pages := []string{}, 0
			follow(ctx, rt, reader, q, func(rows []protocol.GrafanaMessageRow) {
				got, pages = append(got, placesOf(rows)...), pages+1
			})
			require.Equal(rt, want, got)
			require.Equal(rt, max(1, (len(want)+limit-1)/limit), pages, "pages are full, and none comes after the last record")
			requireTails(ctx, rt, reader, q, want)
			slices.Reverse(want)
		}
	})
}

// requireTails reads the pages from the last to the first by tails, and from each of them on
// by cursors.
func requireTails(ctx context.Context, t tb, reader *messages.Reader, q messages.Query, want []string) {
	for n := range len(want)/q.Limit + 2 {
		q.Cursor = fmt.Sprintf("__rsc_tail__:%d", n)
		rows, err := reader.Rows(ctx, q)
		require.NoError(t, err)
		end := max(0, len(want)-n*q.Limit)
		begin := max(0, end-q.Limit)
		require.Equal(t, want[begin:end], placesOf(rows))
		if len(rows) == 0 || end == len(want) {
			require.True(t, len(rows) == 0 || rows[0].PageNextCursor == nil)
			continue
		}
		q.Cursor = *rows[0].PageNextCursor
		rest := []string{}
		follow(ctx, t, reader, q, func(rows []protocol.GrafanaMessageRow) { rest = append(rest, placesOf(rows)...) })
		require.Equal(t, want[end:], rest, "after the page %d before the last one", n)
	}
}

// scatter writes records with few different ids, and returns where they are, in order.
func scatter(ctx context.Context, t *rapid.T, rdb redis.UniversalClient, prefix string, shards int) []string {
	type place struct {
		id    redisx.EntryID
		shard int
	}
	var places []place
	for shard := range shards {
		ids := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) redisx.EntryID {
			return redisx.EntryID{Ms: rapid.Uint64Range(1, 9).Draw(t, "ms"), Seq: rapid.Uint64Range(0, 3).Draw(t, "seq")}
		}), 0, 20, func(id redisx.EntryID) redisx.EntryID { return id }).Draw(t, "ids")
		slices.SortFunc(ids, redisx.EntryID.Compare)
		for _, id := range ids {
			add(ctx, t, rdb, routing.StreamKey(prefix, shard), id.String())
			places = append(places, place{id, shard})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(a.id.Compare(b.id), cmp.Compare(a.shard, b.shard)) })
	named := make([]string, 0, len(places))
	for _, p := range places {
		named = append(named, fmt.Sprintf("%d=%s", p.shard, p.id))
	}
	return named
}

func TestPagesOfOneShardHaveItsRecordIDsAsCursors(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	fill(t, rdb, 1, 60)
	q := all("orders", 1, "", 25)
	q.AllShards = false
	reader := messages.NewReader(rdb)
	var got []string
	for range 3 {
		page, err := reader.Page(t.Context(), q)
		require.NoError(t, err)
		require.Equal(t, protocol.DirectionBackward, page.Direction)
		for _, record := range page.Records {
			got = append(got, record.RecordID)
		}
		if page.NextCursor != nil {
			require.Equal(t, page.Records[24].RecordID, *page.NextCursor)
			q.Cursor = *page.NextCursor
		}
	}
	require.Len(t, got, 60)
	require.Equal(t, "60-1", got[0])
	require.Equal(t, "1-1", got[59])
}

// TestFieldF36PagesOfAClusterAreMergedOverItsNodes, of shards on all of them.
func TestFieldF36PagesOfAClusterAreMergedOverItsNodes(t *testing.T) {
	t.Parallel()
	rdb := redisproc.StartCluster(t, 3).Client(t)
	fill(t, rdb, 8, 1000)
	for _, direction := range directions() {
		var got []string
		follow(t.Context(), t, messages.NewReader(rdb), all("orders", 8, direction, 77), func(rows []protocol.GrafanaMessageRow) {
			got = append(got, placesOf(rows)...)
		})
		require.Len(t, got, 1000)
		if direction == protocol.DirectionBackward {
			slices.Reverse(got)
		}
		for i, place := range got {
			require.Equal(t, fmt.Sprintf("%d=%d-1", i%8, i+1), place)
		}
	}
}

// TestShardsThatWereIdleOnTheFirstPageShowNothingNewer: going backward, what is written later
// to a shard of which nothing was on the page, or nothing was there, stays out.
func TestShardsThatWereIdleOnTheFirstPageShowNothingNewer(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	for _, cursor := range []string{"", "__rsc_tail__:1"} {
		prefix := "orders" + cursor
		for i := range 8 {
			add(t.Context(), t, rdb, routing.StreamKey(prefix, 0), fmt.Sprintf("%d-0", 10+i))
		}
		add(t.Context(), t, rdb, routing.StreamKey(prefix, 1), "11-0")
		q := all(prefix, 3, protocol.DirectionBackward, 4)
		q.Cursor = cursor
		rows, err := messages.NewReader(rdb).Rows(t.Context(), q)
		require.NoError(t, err)
		require.Len(t, rows, 4)
		for shard := range 3 {
			add(t.Context(), t, rdb, routing.StreamKey(prefix, shard), "99-0")
		}
		got := placesOf(rows)
		q.Cursor = *rows[0].PageNextCursor
		follow(t.Context(), t, messages.NewReader(rdb), q, func(rows []protocol.GrafanaMessageRow) { got = append(got, placesOf(rows)...) })
		want := []string{"0=17-0", "0=16-0", "0=15-0", "0=14-0", "0=13-0", "0=12-0", "1=11-0", "0=11-0", "0=10-0"}
		require.Equal(t, want[len(want)-len(got):], got)
		require.GreaterOrEqual(t, len(got), 8)
	}
}
