package audit

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

const globalStream = protocol.DefaultKeyPrefix + ":gateway:audit"

func sinkOf(rdb redis.UniversalClient, id string) *Redis {
	return NewRedis(rdb, RedisConfig{KeyPrefix: protocol.DefaultKeyPrefix, GatewayID: id, Cap: 100_000}, nil)
}

func TestWhatIsDoneToTheStreamByHandIsFound(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		do   func(context.Context, *redis.Client, []redis.XMessage)
		want []audit.Kind
	}{
		"nothing": {func(context.Context, *redis.Client, []redis.XMessage) {}, nil},
		"a record is removed": {func(ctx context.Context, rdb *redis.Client, found []redis.XMessage) {
			rdb.XDel(ctx, globalStream, found[1].ID)
		}, []audit.Kind{audit.Missing}},
		"the newest is removed": {func(ctx context.Context, rdb *redis.Client, found []redis.XMessage) {
			rdb.XDel(ctx, globalStream, found[3].ID)
		}, []audit.Kind{audit.EndMissing}},
		"all are removed": {func(ctx context.Context, rdb *redis.Client, _ []redis.XMessage) {
			rdb.Del(ctx, globalStream)
		}, []audit.Kind{audit.EndMissing}},
		"a record is put at the end": {func(ctx context.Context, rdb *redis.Client, found []redis.XMessage) {
			rdb.XDel(ctx, globalStream, found[1].ID)
			rdb.XAdd(ctx, &redis.XAddArgs{Stream: globalStream, Values: found[1].Values})
		}, []audit.Kind{audit.Reordered}},
		"a record is changed": {func(ctx context.Context, rdb *redis.Client, found []redis.XMessage) {
			rdb.Del(ctx, globalStream)
			for i, entry := range found {
				if i == 2 {
					entry.Values["record"] = strings.Replace(fmt.Sprint(entry.Values["record"]), `"principal":"ann"`, `"principal":"bob"`, 1)
				}
				rdb.XAdd(ctx, &redis.XAddArgs{Stream: globalStream, ID: entry.ID, Values: entry.Values})
			}
		}, []audit.Kind{audit.Changed}},
		"a record is forged": {func(ctx context.Context, rdb *redis.Client, found []redis.XMessage) {
			last := recordOf(found[3])
			forged, _, _ := audit.Chain(protocol.AuditHead{Chain: last.Chain, Sequence: last.Sequence, Hash: last.Hash}, note("5"))
			line, _ := audit.Encode(forged)
			rdb.XAdd(ctx, &redis.XAddArgs{Stream: globalStream, Values: []any{"record", line}})
		}, []audit.Kind{audit.Forged}},
		"something else is added": {func(ctx context.Context, rdb *redis.Client, _ []redis.XMessage) {
			rdb.XAdd(ctx, &redis.XAddArgs{Stream: globalStream, Values: []any{"what", "ever"}})
		}, []audit.Kind{audit.Reordered, audit.Forged, audit.Changed}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rdb := redisproc.Start(t).Client(t)
			sink := sinkOf(rdb, "a")
			write(t, sink, "1", "2", "3", "4")
			one.do(t.Context(), rdb, rdb.XRange(t.Context(), globalStream, "-", "+").Val())
			require.Equal(t, one.want, verify(t, sink))
			require.NoError(t, sink.Append(t.Context(), note("later")), "what was done does not stop the audit")
		})
	}
}

func TestTheOldestRecordsAreTrimmedAndTheRestIsWhole(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	sink := NewRedis(rdb, RedisConfig{KeyPrefix: "p", GatewayID: "a", Cap: 100}, nil)
	for i := range 500 {
		write(t, sink, strconv.Itoa(i))
	}
	records, head := all(t, sink, 50)
	require.GreaterOrEqual(t, len(records), 100)
	require.Less(t, len(records), 300)
	found := audit.Verify(records, head)
	require.Len(t, found, 1)
	require.Equal(t, audit.Anchor, found[0].Kind)
	require.Less(t, rdb.XLen(t.Context(), "p:gateway:audit:{orders/billing}").Val(), int64(300))
}
