package messages_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/messages"
)

func requireCode(t *testing.T, err error, code protocol.Code) {
	t.Helper()
	var refusal *protocol.Error
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, code, refusal.Code, refusal.Message)
}

func TestCursorsIDsAndDirectionsThatAreNoneAreRefused(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	reader := messages.NewReader(rdb)
	merged := all("orders", 3, protocol.DirectionForward, 10)
	single := merged
	single.AllShards = false
	for _, cursor := range []string{
		"x", "1", "1-", "-1", "1-0-0", "1-0,", "+", "-", "$", "(1-0", "all", "all:", "all:0", "all:0=", "all:0=1", "all:0=x-1", "all:3=1-0",
		"all:-1=1-0", "all:00=1-0", "all:0=1-0,", "all:,0=1-0", "all:0=1-0,0=2-0", "all:0=1-0 ,1=1-0", "all:*", "all:*=", "all:*=1-0,*=2-0", "*=1-0",
		"all:1-0", "all:1-0.", "all:1-0.x", "all:1-0.-1", "all:1-0.01", "all:1.0", "all:.0", "all:1-0.0.", "all:1-0.0.!", "all:1-0.0.AQ.AQ", "all:1-0.0.AQE", "__rsc_tail__:", "__rsc_tail__:-1",
		"__rsc_tail__:x", "__rsc_tail__:99999999999", "__rsc_tail__:10000", "__rsc_last__:0", "1-18446744073709551616", "1-0\r\nFLUSHALL", strings.Repeat("9", 30_000),
	} {
		merged.Cursor, single.Cursor = cursor, cursor
		_, err := reader.Rows(t.Context(), merged)
		requireCode(t, err, protocol.CodeInvalidRequest)
		_, err = reader.Page(t.Context(), single)
		requireCode(t, err, protocol.CodeInvalidRequest)
	}
	for _, ofAll := range []string{"all:0=1-0", "all:1-0.0"} {
		single.Cursor = ofAll
		_, err := reader.Page(t.Context(), single)
		requireCode(t, err, protocol.CodeInvalidRequest)
	}
	merged.Cursor, merged.Direction = "all:1-0.0.AQ", protocol.DirectionBackward
	_, err := reader.Rows(t.Context(), merged)
	requireCode(t, err, protocol.CodeInvalidRequest)

	for _, id := range []string{"1", "x", "1-", "*", "1-0 ", "all"} {
		_, err := reader.Rows(t.Context(), messages.Query{Shards: shardsOf("orders", 1), RecordID: id})
		requireCode(t, err, protocol.CodeInvalidRequest)
	}
	_, err = reader.Rows(t.Context(), messages.Query{Shards: shardsOf("orders", 1), Direction: "forward"})
	requireCode(t, err, protocol.CodeInvalidRequest)
	_, err = reader.Page(t.Context(), messages.Query{})
	requireCode(t, err, protocol.CodeNotFound)
}

func TestCursorsAtTheEndsOfAllIDsAreTaken(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	add(t.Context(), t, rdb, "orders:0", "1-0")
	const highest = "18446744073709551615-18446744073709551615"
	add(t.Context(), t, rdb, "orders:0", highest)
	for cursor, want := range map[string]map[protocol.MessageDirection]int{
		"0-0": {protocol.DirectionForward: 2, protocol.DirectionBackward: 0}, highest: {protocol.DirectionForward: 0, protocol.DirectionBackward: 1},
	} {
		for direction, count := range want {
			page, err := messages.NewReader(rdb).Page(t.Context(), messages.Query{Shards: shardsOf("orders", 1), Direction: direction, Cursor: cursor, Limit: 10})
			require.NoError(t, err)
			require.Len(t, page.Records, count, "%s from %s", direction, cursor)
			if count == 2 {
				require.Nil(t, page.Records[1].RecordTime, "no time is that late")
				require.NotNil(t, page.Records[0].RecordTime)
			}
		}
	}
}

func TestLimitsAreMovedIntoTheirBounds(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	fill(t, rdb, 1, 1200)
	for limit, want := range map[int]int{-5: 1, 0: 1, 1: 1, 1000: 1000, 1 << 40: 1000} {
		page, err := messages.NewReader(rdb).Page(t.Context(), messages.Query{Shards: shardsOf("orders", 1), Limit: limit})
		require.NoError(t, err)
		require.Len(t, page.Records, want)
		require.Equal(t, want, page.Limit)
	}
}

func TestARecordIsFoundByItsExactID(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	add(t.Context(), t, rdb, "orders:0", "5-1")
	add(t.Context(), t, rdb, "orders:0", "5-10")
	add(t.Context(), t, rdb, "orders:2", "5-1", "payload", "two")
	q := all("orders", 3, protocol.DirectionForward, 25)
	q.RecordID = "5-1"
	rows, err := messages.NewReader(rdb).Rows(t.Context(), q)
	require.NoError(t, err)
	require.Equal(t, []string{"0=5-1", "2=5-1"}, placesOf(rows), "a shard each")
	require.Equal(t, "two", *rows[1].Payload)
	require.Nil(t, rows[0].Payload)
	require.Nil(t, rows[0].PageNextCursor)
	require.Equal(t, int64(3), rows[0].PageTotalMessages)
	require.Equal(t, "all", rows[0].ShardSelector)
	q.RecordID = "5-2"
	rows, err = messages.NewReader(rdb).Rows(t.Context(), q)
	require.NoError(t, err)
	require.NotNil(t, rows)
	require.Empty(t, rows)
}

// TestLargeAndBinaryValuesAreCutAndFlagged: 64 kB of a value are shown, whole characters.
func TestLargeAndBinaryValuesAreCutAndFlagged(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	long, binary := strings.Repeat("é", 40_000), "\xff\x00"+strings.Repeat("\xfe", 70_000)
	add(t.Context(), t, rdb, "orders:0", "1-0",
		"payload", "x"+long, "bin", binary, "exact", strings.Repeat("a", 64<<10), "small", "\xff", "null", "\x00<script>", "na\xffme", "v",
		"twice", "\xff", "twice", "last")
	page, err := messages.NewReader(rdb).Page(t.Context(), messages.Query{Shards: shardsOf("orders", 1)})
	require.NoError(t, err)
	require.Len(t, page.Records, 1)
	record := page.Records[0]
	require.Equal(t, []string{"bin", "payload"}, record.CutFields)
	require.Equal(t, []string{"bin", "small"}, record.Base64Fields)
	require.Equal(t, ("x" + long)[:64<<10-1], *record.Payload, "a character is not torn apart")
	require.True(t, utf8.ValidString(*record.Payload))
	shown, err := base64.StdEncoding.DecodeString(record.Fields["bin"])
	require.NoError(t, err)
	require.Equal(t, binary[:64<<10], string(shown))
	require.Len(t, record.Fields["exact"], 64<<10)
	require.Equal(t, "\x00<script>", record.Fields["null"])
	require.Equal(t, "v", record.Fields["na\uFFFDme"])
	require.Equal(t, "last", record.Fields["twice"])
	rows, err := messages.NewReader(rdb).Rows(t.Context(), all("orders", 1, "", 5))
	require.NoError(t, err)
	var fields map[string]string
	require.NoError(t, json.Unmarshal([]byte(rows[0].FieldsJSON), &fields))
	require.Equal(t, record.Fields, fields)
}

// TestRecordsOfAMegabyteAreCutAndNoneIsLost: texts and binary values, merged, over pages that
// are asked to be as long as may be.
func TestRecordsOfAMegabyteAreCutAndNoneIsLost(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	text, binary := strings.Repeat("a", 1<<20), strings.Repeat("\xfe\x00", 1<<19)
	for i := range 40 {
		add(t.Context(), t, rdb, fmt.Sprintf("orders:%d", i%2), fmt.Sprintf("%d-0", i+1), "payload", []string{text, binary}[i/2%2])
	}
	for _, direction := range directions() {
		seen := map[string]bool{}
		follow(t.Context(), t, messages.NewReader(rdb), all("orders", 2, direction, 1000), func(rows []protocol.GrafanaMessageRow) {
			for i, place := range placesOf(rows) {
				require.False(t, seen[place])
				seen[place] = true
				shown := []byte(*rows[i].Payload)
				if len(rows[i].Base64Fields) > 0 {
					var err error
					shown, err = base64.StdEncoding.DecodeString(*rows[i].Payload)
					require.NoError(t, err)
					require.True(t, strings.HasPrefix(binary, string(shown)))
				}
				require.Len(t, shown, protocol.MaxMessagePayload)
				require.Equal(t, []string{"payload"}, rows[i].CutFields)
			}
		})
		require.Len(t, seen, 40)
	}
}

func TestARecordOfManyLargeFieldsIsBounded(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	var values []any
	for i := range 40 {
		values = append(values, fmt.Sprintf("f%02d", i), strings.Repeat("a", 60<<10))
	}
	add(t.Context(), t, rdb, "orders:0", "1-0", values...)
	page, err := messages.NewReader(rdb).Page(t.Context(), messages.Query{Shards: shardsOf("orders", 1)})
	require.NoError(t, err)
	shown := 0
	for _, value := range page.Records[0].Fields {
		shown += len(value)
	}
	require.LessOrEqual(t, shown, 256<<10)
	require.Len(t, page.Records[0].Fields, 40)
	require.Len(t, page.Records[0].CutFields, 36, "what is left out is named")
}

// TestLargePagesEndEarlyAndGoOn: every record is there, in pages that can be sent.
func TestLargePagesEndEarlyAndGoOn(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	value := strings.Repeat("a", 60<<10)
	_, err := rdb.Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
		for i := range 400 {
			pipe.XAdd(t.Context(), &redis.XAddArgs{Stream: fmt.Sprintf("orders:%d", i%2), ID: fmt.Sprintf("%d-0", i+1), Values: []any{"payload", value}})
		}
		return nil
	})
	require.NoError(t, err)
	for _, direction := range directions() {
		pages, seen := 0, map[string]bool{}
		follow(t.Context(), t, messages.NewReader(rdb), all("orders", 2, direction, 1000), func(rows []protocol.GrafanaMessageRow) {
			pages++
			bytes := 0
			for i, place := range placesOf(rows) {
				seen[place] = true
				bytes += len(*rows[i].Payload)
			}
			require.Less(t, bytes, 9<<20)
		})
		require.Len(t, seen, 400)
		require.Greater(t, pages, 2)
	}
	tail := all("orders", 2, protocol.DirectionForward, 400)
	tail.Cursor = "__rsc_last__"
	rows, err := messages.NewReader(rdb).Rows(t.Context(), tail)
	require.NoError(t, err)
	require.Len(t, rows, 400, "pages from the end are counted")
	require.Equal(t, []string{"payload"}, rows[0].CutFields)
	require.Empty(t, rows[399].CutFields)
}

// TestFieldF35BrokenShardsHaveNoRecordsAndHideNoOthers: one key is missing, one is no stream.
func TestFieldF35BrokenShardsHaveNoRecordsAndHideNoOthers(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	add(t.Context(), t, rdb, "orders:0", "1-0")
	require.NoError(t, rdb.Set(t.Context(), "orders:2", "sealed", 0).Err())
	add(t.Context(), t, rdb, "orders:3", "2-0")
	for _, direction := range directions() {
		rows, err := messages.NewReader(rdb).Rows(t.Context(), all("orders", 4, direction, 1))
		require.NoError(t, err)
		require.Len(t, rows, 1)
		require.Equal(t, int64(2), rows[0].PageTotalMessages)
		require.NotNil(t, rows[0].PageNextCursor)
	}
}

func TestAServerThatIsAwayRefusesThePage(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	rdb := server.Client(t)
	add(t.Context(), t, rdb, "orders:0", "1-0")
	server.Kill()
	reader := messages.NewReader(rdb)
	_, err := reader.Page(t.Context(), messages.Query{Shards: shardsOf("orders", 1)})
	requireCode(t, err, protocol.CodeStoreUnavailable)
	var refusal *protocol.Error
	require.ErrorAs(t, err, &refusal)
	require.NotContains(t, refusal.Message, "127.0.0.1", "what is said to callers has no addresses")
	_, err = reader.Rows(t.Context(), messages.Query{Shards: shardsOf("orders", 1), RecordID: "1-0"})
	requireCode(t, err, protocol.CodeStoreUnavailable)
}
