package mutations_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/mutations"
)

// TestMain lets the Redis client look for a server that was killed for the second that it
// does so after its end.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// write puts a record where a gateway puts its copy.
func write(t *testing.T, rdb redis.UniversalClient, record protocol.AuditRecord) {
	t.Helper()
	line, err := audit.Encode(record)
	require.NoError(t, err)
	enter(t, rdb, audit.OwnStream("p", "orders", "billing"), string(line))
}

func enter(t *testing.T, rdb redis.UniversalClient, key, text string) {
	t.Helper()
	require.NoError(t, rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: key, Values: []any{audit.FieldRecord, text}}).Err())
}

func sent(number int, kind protocol.AuditKind) protocol.AuditRecord {
	record := protocol.AuditRecord{
		Time: protocol.AtMillis(int64(number)), Kind: kind, Operation: "SCALE_GROUP", Method: "POST", Route: "/r", Principal: "ops", RequestedBy: "ann",
		Reason: "load", RequestID: fmt.Sprintf("r%d", number), GatewayID: "g", Requested: map[string]string{"secret": "hunter2"}, BodySHA256: "b",
	}
	if kind == protocol.AuditOutcome {
		record.Intended, record.Status, record.Result = true, 202, protocol.AuditAllowed
	}
	return record
}

func TestAMutationIsToldOnceWithHowItEnded(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	for number := range 30 {
		write(t, rdb, sent(number, protocol.AuditIntent))
		write(t, rdb, sent(number, protocol.AuditOutcome))
	}
	found, err := mutations.NewReader(rdb, "p").Recent(t.Context(), "orders", "billing")
	require.NoError(t, err)
	require.Len(t, found, protocol.MaxRecentMutations)
	for i, head := range found {
		require.Equal(t, protocol.RecentMutation{
			Time: protocol.AtMillis(int64(29 - i)), Kind: protocol.AuditOutcome, Operation: "SCALE_GROUP", Method: "POST", Route: "/r", Principal: "ops",
			RequestedBy: "ann", Reason: "load", RequestID: fmt.Sprintf("r%d", 29-i), Result: protocol.AuditAllowed, Status: 202,
		}, withUTC(head))
	}
}

func withUTC(head protocol.RecentMutation) protocol.RecentMutation {
	head.Time = protocol.AtMillis(head.Time.UnixMilli())
	return head
}

func TestAnIntentWithoutAnOutcomeAndAReplayAreTold(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	write(t, rdb, sent(1, protocol.AuditIntent))
	write(t, rdb, sent(1, protocol.AuditIntent)) // a request id that is used again
	write(t, rdb, sent(1, protocol.AuditOutcome))
	write(t, rdb, sent(1, protocol.AuditReplay))
	found, err := mutations.NewReader(rdb, "p").Recent(t.Context(), "orders", "billing")
	require.NoError(t, err)
	kinds := make([]protocol.AuditKind, len(found))
	for i, head := range found {
		kinds[i] = head.Kind
	}
	require.Equal(t, []protocol.AuditKind{protocol.AuditReplay, protocol.AuditOutcome, protocol.AuditIntent}, kinds)
}

func TestWhatOthersHaveWrittenIsBounded(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	long := sent(1, protocol.AuditReplay)
	long.Reason, long.Principal = strings.Repeat("é", 1000), strings.Repeat("x", 1000)
	write(t, rdb, long)
	for _, text := range []string{"", "{", "[]", `{"status":"x"}`, `{"kind":"OTHER"}`, "{}"} {
		enter(t, rdb, audit.OwnStream("p", "orders", "billing"), text)
	}
	require.NoError(t, rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: audit.OwnStream("p", "orders", "billing"), Values: []any{"other", "1"}}).Err())
	found, err := mutations.NewReader(rdb, "p").Recent(t.Context(), "orders", "billing")
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, strings.Repeat("é", 128), found[0].Reason)
	require.Len(t, found[0].Principal, 256)
}

// TestWithoutAnAuditInRedisNothingIsKnown, but where there is one a group without changes
// has none.
func TestWithoutAnAuditInRedisNothingIsKnown(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	rdb := server.Client(t)
	reader := mutations.NewReader(rdb, "p")
	found, err := reader.Recent(t.Context(), "orders", "billing")
	require.NoError(t, err)
	require.Nil(t, found)
	enter(t, rdb, audit.Stream("p"), "{}")
	found, err = reader.Recent(t.Context(), "orders", "billing")
	require.NoError(t, err)
	require.NotNil(t, found)
	require.Empty(t, found)
	require.NoError(t, rdb.Set(t.Context(), audit.OwnStream("p", "orders", "billing"), "x", time.Hour).Err())
	_, err = reader.Recent(t.Context(), "orders", "billing")
	require.Error(t, err)
	server.Kill()
	_, err = reader.Recent(t.Context(), "orders", "other")
	require.Error(t, err)
}
