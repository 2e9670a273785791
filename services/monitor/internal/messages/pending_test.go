package messages_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/messages"
)

// take lets a consumer of the group g read the next records of orders:0.
func take(t *testing.T, rdb redis.Cmdable, consumer string, count int64) {
	t.Helper()
	require.NoError(t, rdb.XReadGroup(t.Context(), &redis.XReadGroupArgs{
		Group: "g", Consumer: consumer, Streams: []string{"orders:0", ">"}, Count: count,
	}).Err())
}

func pendingOf(consumer, cursor string, limit int) messages.PendingQuery {
	return messages.PendingQuery{Stream: "orders", Group: "g", Shard: shardsOf("orders", 1)[0], Consumer: consumer, Cursor: cursor, Limit: limit}
}

// idsOf follows all pages and returns the ids that they have.
func idsOf(t *testing.T, reader *messages.Reader, q messages.PendingQuery) []string {
	t.Helper()
	var ids []string
	for range 1000 {
		page, err := reader.Pending(t.Context(), q)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.Entries), min(max(q.Limit, 1), protocol.MaxMessages))
		for _, entry := range page.Entries {
			ids = append(ids, entry.RecordID)
		}
		if page.NextCursor == nil {
			return ids
		}
		q.Cursor = *page.NextCursor
	}
	require.Fail(t, "the pages do not end")
	return nil
}

func TestPendingEntriesAreOnOnePageEach(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	reader := messages.NewReader(rdb)
	require.NoError(t, rdb.XGroupCreateMkStream(t.Context(), "orders:0", "g", "0").Err())
	page, err := reader.Pending(t.Context(), pendingOf("", "", 10))
	require.NoError(t, err)
	require.Empty(t, page.Entries)
	require.NotNil(t, page.Entries, "a list in JSON")

	var all, ofB []string
	for i := range 25 {
		id := fmt.Sprintf("%d-%d", 1_700_000_000_000+i/10, i%10)
		add(t.Context(), t, rdb, "orders:0", id)
		consumer := "a"
		if i%5 == 0 {
			consumer, ofB = "b", append(ofB, id)
		}
		take(t, rdb, consumer, 1)
		all = append(all, id)
	}
	for _, limit := range []int{-1, 1, 7, 12, 24, 25, 26, 5000} {
		require.Equal(t, all, idsOf(t, reader, pendingOf("", "", limit)), limit)
		require.Equal(t, ofB, idsOf(t, reader, pendingOf("b", "", limit)), limit)
	}
	require.Empty(t, idsOf(t, reader, pendingOf("nobody", "", 3)))
	require.Equal(t, all[11:], idsOf(t, reader, pendingOf("", all[10], 3)))

	// What was acknowledged meanwhile is no place to lose: the next page begins after it.
	require.NoError(t, rdb.XAck(t.Context(), "orders:0", "g", all[10]).Err())
	require.Equal(t, all[11:], idsOf(t, reader, pendingOf("", all[10], 3)))
}

func TestAPendingEntryTellsWhoHasItSinceWhen(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	require.NoError(t, rdb.XGroupCreateMkStream(t.Context(), "orders:0", "g", "0").Err())
	const highest = "18446744073709551615-18446744073709551615"
	add(t.Context(), t, rdb, "orders:0", "1700000000000-1")
	add(t.Context(), t, rdb, "orders:0", highest)
	take(t, rdb, "m\xff\n", 2)
	require.NoError(t, rdb.Do(t.Context(), "XCLAIM", "orders:0", "g", "other", 0, "1700000000000-1", "IDLE", 3_600_000, "RETRYCOUNT", 7).Err())
	require.NoError(t, rdb.XDel(t.Context(), "orders:0", "1700000000000-1").Err(), "its record may be gone")
	page, err := messages.NewReader(rdb).Pending(t.Context(), pendingOf("", "", 10))
	require.NoError(t, err)
	require.Len(t, page.Entries, 2)
	first, second := page.Entries[0], page.Entries[1]
	require.Equal(t, "other", first.Consumer)
	require.EqualValues(t, 7, first.DeliveryCount)
	require.GreaterOrEqual(t, first.IdleMs, int64(3_600_000))
	require.Equal(t, "2023-11-14T22:13:20.000Z", mustText(t, first.RecordTime))
	require.Equal(t, "m\uFFFD\n", second.Consumer)
	require.Nil(t, second.RecordTime, "no time is that late")
	page, err = messages.NewReader(rdb).Pending(t.Context(), pendingOf("other", highest, 10))
	require.NoError(t, err)
	require.Empty(t, page.Entries, "no id follows")
	require.Equal(t, "other", *page.Consumer)
}

func mustText(t *testing.T, at *protocol.Timestamp) string {
	t.Helper()
	require.NotNil(t, at)
	text, err := at.MarshalJSON()
	require.NoError(t, err)
	unquoted, err := strconv.Unquote(string(text))
	require.NoError(t, err)
	return unquoted
}

func TestWhatIsPendingIsRefusedWithAReason(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	rdb := server.Client(t)
	reader := messages.NewReader(rdb)
	refused := func(code protocol.Code, words string, q messages.PendingQuery) {
		t.Helper()
		_, err := reader.Pending(t.Context(), q)
		requireCode(t, err, code)
		require.ErrorContains(t, err, words)
	}
	refused(protocol.CodeNotFound, `no consumer group "g"`, pendingOf("", "", 1))
	add(t.Context(), t, rdb, "orders:0", "1-0")
	refused(protocol.CodeNotFound, `no consumer group "g"`, pendingOf("a", "", 1))
	require.NoError(t, rdb.Del(t.Context(), "orders:0").Err())
	require.NoError(t, rdb.Set(t.Context(), "orders:0", "sealed", 0).Err())
	refused(protocol.CodeNotFound, "no stream", pendingOf("", "", 1))
	for _, cursor := range []string{"x", "1", "1-", "-", "+", "$", "(1-0", "1-0 ", "01-0", "1-0\r\nFLUSHALL", "1-18446744073709551616", "all:1-0.0"} {
		refused(protocol.CodeInvalidRequest, "is not an id", pendingOf("", cursor, 1))
	}
	server.Kill()
	refused(protocol.CodeStoreUnavailable, "cannot be read now", pendingOf("", "", 1))
}
