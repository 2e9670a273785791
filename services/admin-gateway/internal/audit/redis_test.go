package audit

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

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

func note(id string) protocol.AuditRecord {
	return protocol.AuditRecord{
		Time: protocol.Timestamp{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, Kind: protocol.AuditOutcome,
		Operation: "DELETE_GROUP", StreamPrefix: "orders", ConsumerGroup: "billing", Principal: "ann", RequestID: id,
		Intended: true,
	}
}

// write appends records with these request ids.
func write(t *testing.T, sink Sink, ids ...string) {
	t.Helper()
	for _, id := range ids {
		require.NoError(t, sink.Append(t.Context(), note(id)))
	}
}

// all reads the whole audit, oldest first, and the head.
func all(t *testing.T, reader Reader, limit int) ([]protocol.AuditRecord, *protocol.AuditHead) {
	t.Helper()
	var records []protocol.AuditRecord
	query, head := Query{Limit: limit}, (*protocol.AuditHead)(nil)
	for first := true; ; first = false {
		page, err := reader.Page(t.Context(), query)
		require.NoError(t, err)
		if first {
			head = page.Head
		} else {
			require.Nil(t, page.Head)
		}
		records = append(records, page.Records...)
		if page.Next == nil {
			slices.Reverse(records)
			return records, head
		}
		query.Cursor = *page.Next
	}
}

func faults(findings []audit.Finding) []audit.Kind {
	var kinds []audit.Kind
	for _, finding := range findings {
		if !finding.Kind.Note() {
			kinds = append(kinds, finding.Kind)
		}
	}
	return kinds
}

func verify(t *testing.T, reader Reader) []audit.Kind {
	t.Helper()
	return faults(audit.Verify(all(t, reader, protocol.MaxAudit)))
}

func TestTwoGatewaysThatAppendAtOnceMakeOneChainWithoutAGap(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	const each, gateways = 1000, 2
	var group sync.WaitGroup
	failed := make(chan error, gateways)
	for i := range gateways {
		sink := sinkOf(server.Client(t), fmt.Sprintf("gateway-%d", i))
		group.Go(func() {
			for n := range each {
				if err := sink.Append(t.Context(), note(fmt.Sprintf("%d-%d", i, n))); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(failed)
	require.NoError(t, <-failed)

	records, head := all(t, sinkOf(server.Client(t), "reader"), 777)
	require.Len(t, records, gateways*each)
	require.Equal(t, int64(gateways*each), head.Sequence)
	require.Empty(t, audit.Verify(records, head))
	ids := make(map[string]bool)
	for _, record := range records {
		ids[record.RequestID] = true
	}
	require.Len(t, ids, gateways*each, "each record once")
}

func TestAGatewayThatStartsGoesOnWithTheChain(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	write(t, sinkOf(server.Client(t), "a"), "1", "2")
	again := sinkOf(server.Client(t), "a")
	write(t, again, "3")
	records, head := all(t, again, 2)
	require.Empty(t, audit.Verify(records, head))
	require.Equal(t, []string{"1", "2", "3"}, []string{records[0].RequestID, records[1].RequestID, records[2].RequestID})
}

func TestAnEmptyAuditHasAHeadWithoutANumber(t *testing.T) {
	t.Parallel()
	records, head := all(t, sinkOf(redisproc.Start(t).Client(t), "a"), 1)
	require.Empty(t, records)
	require.Equal(t, &protocol.AuditHead{Chain: redisChain}, head)
	require.Empty(t, audit.Verify(records, head))
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
