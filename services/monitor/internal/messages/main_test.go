package messages_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shardsOf returns the shards of a stream.
func shardsOf(prefix string, count int) []facts.Shard {
	shards := make([]facts.Shard, count)
	for i := range shards {
		shards[i] = facts.Shard{Index: i, Key: routing.StreamKey(prefix, i)}
	}
	return shards
}

// all asks for records of all shards.
func all(prefix string, count int, direction protocol.MessageDirection, limit int) messages.Query {
	return messages.Query{
		Stream: prefix, Group: "g", Shards: shardsOf(prefix, count), AllShards: true, Direction: direction, Limit: limit,
	}
}

// tb is what a *testing.T and a *rapid.T have in common here.
type tb interface {
	require.TestingT
	Helper()
}

// follow reads all pages and hands each to see; pages that do not end fail the test.
func follow(ctx context.Context, t tb, reader *messages.Reader, q messages.Query, see func([]protocol.GrafanaMessageRow)) {
	t.Helper()
	for range 10_000 {
		rows, err := reader.Rows(ctx, q)
		require.NoError(t, err)
		see(rows)
		if len(rows) == 0 || rows[len(rows)-1].PageNextCursor == nil {
			return
		}
		require.LessOrEqual(t, len(rows), q.Limit)
		q.Cursor = *rows[len(rows)-1].PageNextCursor
	}
	require.Fail(t, "the pages do not end")
}

// placesOf names records by shard and id, in their order.
func placesOf(rows []protocol.GrafanaMessageRow) []string {
	places := make([]string, len(rows))
	for i, row := range rows {
		places[i] = fmt.Sprintf("%d=%s", row.ShardIndex, row.RecordID)
	}
	return places
}

// add writes a record with a given id.
func add(ctx context.Context, t tb, rdb redis.Cmdable, key, id string, values ...any) {
	t.Helper()
	if len(values) == 0 {
		values = []any{"f", "v"}
	}
	require.NoError(t, rdb.XAdd(ctx, &redis.XAddArgs{Stream: key, ID: id, Values: values}).Err())
}
