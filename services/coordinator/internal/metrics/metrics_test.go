package metrics

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/httpapi"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func counted(t *testing.T) (*Metrics, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	return New(registry, "host-1"), registry
}

func replies(statuses ...protocol.HeartbeatStatus) []group.Reply {
	found := make([]group.Reply, len(statuses))
	for i, status := range statuses {
		found[i].Response = &protocol.HeartbeatResponse{Status: status}
	}
	return found
}

func text(t *testing.T, registry *prometheus.Registry) string {
	t.Helper()
	families, err := registry.Gather()
	require.NoError(t, err)
	return fmt.Sprint(families)
}

func billing() store.Key { return store.Key{Stream: "orders", Group: "billing"} }

func TestStepIsCountedByVerdictAndCause(t *testing.T) {
	t.Parallel()
	m, registry := counted(t)
	m.Stepped(loop.Step{
		Key:     billing(),
		Replies: replies(protocol.StatusOK, protocol.StatusFencedMemberEpoch, protocol.StatusOK),
		Changes: []group.Change{{Cause: group.CauseExpire}, {Cause: group.CauseExpire}, {Cause: group.CauseCorrection}},
		Ahead:   1, Changed: true, Reassigned: true, Took: 2 * time.Second,
	})
	m.Ticked(time.Millisecond)
	m.Stepped(loop.Step{Key: billing(), Ticked: true, Took: time.Millisecond})
	m.Ticked(time.Millisecond)
	m.Stepped(loop.Step{Key: billing(), Ticked: true, Changed: true, Took: time.Millisecond})
	m.Ticked(time.Millisecond)
	m.Unknown()
	m.Conflict(loop.OperationHeartbeat, 1)
	m.Conflict(loop.OperationHeartbeat, 99)
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP redis_stream_coord_heartbeat_total Heartbeats that were answered, by the verdict.
# TYPE redis_stream_coord_heartbeat_total counter
redis_stream_coord_heartbeat_total{coordinator="host-1",group="billing",status="FENCED_MEMBER_EPOCH",stream="orders"} 1
redis_stream_coord_heartbeat_total{coordinator="host-1",group="billing",status="OK",stream="orders"} 2
redis_stream_coord_heartbeat_total{coordinator="host-1",group="none",status="UNKNOWN_MEMBER_ID",stream="none"} 1
# HELP redis_stream_coord_member_expired_total Members whose lease ran out.
# TYPE redis_stream_coord_member_expired_total counter
redis_stream_coord_member_expired_total{coordinator="host-1",group="billing",stream="orders"} 2
# HELP redis_stream_coord_correction_round_total Correction rounds that were opened: the store lost writes, or an operator asked for one.
# TYPE redis_stream_coord_correction_round_total counter
redis_stream_coord_correction_round_total{coordinator="host-1",group="billing",stream="orders"} 1
# HELP redis_stream_coord_rebalance_total Changes of the wanted assignment.
# TYPE redis_stream_coord_rebalance_total counter
redis_stream_coord_rebalance_total{coordinator="host-1",group="billing",reason="reconcile",stream="orders"} 1
# HELP redis_stream_coord_tick_total Looks for what time has made due, by whether a group was changed by the one before.
# TYPE redis_stream_coord_tick_total counter
redis_stream_coord_tick_total{changed="false",coordinator="host-1"} 2
redis_stream_coord_tick_total{changed="true",coordinator="host-1"} 1
# HELP redis_stream_coord_state_conflict_total Changes that another coordinator was faster than, by try; 10 is any later one.
# TYPE redis_stream_coord_state_conflict_total counter
redis_stream_coord_state_conflict_total{attempt="1",coordinator="host-1",operation="heartbeat"} 1
redis_stream_coord_state_conflict_total{attempt="10",coordinator="host-1",operation="heartbeat"} 1
`), "redis_stream_coord_heartbeat_total", "redis_stream_coord_member_expired_total", "redis_stream_coord_rebalance_total",
		"redis_stream_coord_correction_round_total", "redis_stream_coord_tick_total", "redis_stream_coord_state_conflict_total"))
	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	require.Empty(t, problems)
}

// scaler answers what the test says.
type scaler struct {
	httpapi.Reshardings

	id  string
	err error
}

func (s scaler) Scale(context.Context, string, protocol.ScaleRequest) (protocol.StreamScaleResponse, error) {
	return protocol.StreamScaleResponse{Migrations: []protocol.Migration{{ReshardingID: s.id}}}, s.err
}

func TestShardCountRequestsAreCountedForTheStream(t *testing.T) {
	t.Parallel()
	m, registry := counted(t)
	conflict := protocol.Errorf(protocol.CodeStateVersionConflict, "meanwhile")
	for _, inner := range []scaler{{err: errors.New("no such stream")}, {id: "r1"}, {id: protocol.NoopReshardingID}, {err: conflict}} {
		_, _ = m.Reshardings(inner).Scale(t.Context(), "orders", protocol.ScaleRequest{})
	}
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP redis_stream_coord_scale_request_total Requests for another shard count; group is the stream, which is scaled as a whole.
# TYPE redis_stream_coord_scale_request_total counter
redis_stream_coord_scale_request_total{coordinator="host-1",group="none",status="ERROR",stream="none"} 1
redis_stream_coord_scale_request_total{coordinator="host-1",group="orders",status="ERROR",stream="orders"} 1
redis_stream_coord_scale_request_total{coordinator="host-1",group="orders",status="NOOP",stream="orders"} 1
redis_stream_coord_scale_request_total{coordinator="host-1",group="orders",status="SUCCESS",stream="orders"} 1
# HELP redis_stream_coord_state_conflict_total Changes that another coordinator was faster than, by try; 10 is any later one.
# TYPE redis_stream_coord_state_conflict_total counter
redis_stream_coord_state_conflict_total{attempt="1",coordinator="host-1",operation="scale-stream"} 1
`), "redis_stream_coord_scale_request_total", "redis_stream_coord_state_conflict_total"))
}

// Series end with their group, whoever deleted it.
func TestGroupThatIsGoneLosesItsSeries(t *testing.T) {
	t.Parallel()
	m, registry := counted(t)
	shipping, audits := store.Key{Stream: "orders", Group: "shipping"}, store.Key{Stream: "audits", Group: "archive"}
	for _, key := range []store.Key{billing(), shipping, audits} {
		m.Stepped(loop.Step{Key: key, Replies: replies(protocol.StatusOK), Changes: []group.Change{{Cause: group.CauseJoin}}, Reassigned: true})
		m.routed(key, nil)
		m.StaleRouting(key.Stream, key.Group)
		_, _ = m.Reshardings(scaler{id: "r1"}).Scale(t.Context(), key.Stream, protocol.ScaleRequest{})
	}
	m.Deleted(billing())
	require.NotContains(t, text(t, registry), "billing")
	require.Contains(t, text(t, registry), "shipping")
	m.Listed([]store.Key{{Stream: "orders"}, shipping})
	require.NotContains(t, text(t, registry), "audits")
	require.Contains(t, text(t, registry), "shipping")
	m.Listed([]store.Key{{Stream: "orders"}})
	require.NotContains(t, text(t, registry), "shipping")
	require.Contains(t, text(t, registry), `"orders"`, "the stream is there")
	m.Listed(nil)
	require.NotContains(t, text(t, registry), "orders")
}

func TestWhatFailsForAMadeUpNameHasNoLabelOfIt(t *testing.T) {
	t.Parallel()
	m, registry := counted(t)
	for i := range 20 {
		m.routed(store.Key{Stream: "made", Group: fmt.Sprint("up", i)}, errors.New("there is none"))
	}
	require.NotContains(t, text(t, registry), "made")
	require.InDelta(t, 20, testutil.ToFloat64(m.routings.WithLabelValues(none, none, failed)), 0)
	m.know(billing())
	m.routed(billing(), errors.New("the store is away"))
	require.InDelta(t, 1, testutil.ToFloat64(m.routings.WithLabelValues("orders", "billing", failed)), 0)
}

// answers is a store that answers every write with one error.
type answers struct {
	store.Archive

	err error
}

func (a answers) Commit(context.Context, store.Commit) (store.Committed, error) {
	return store.Committed{}, a.err
}

func (a answers) Touch(context.Context, store.Touch) (store.Touched, error) {
	return store.Touched{}, a.err
}

func (a answers) Lease(context.Context, store.Key, time.Duration) (store.Lease, error) {
	return nil, store.ErrBusy
}

func TestWritesAreCountedAndAConflictIsNoFailure(t *testing.T) {
	t.Parallel()
	m, _ := counted(t)
	for _, err := range []error{nil, store.ErrConflict, &store.UnavailableError{State: "OOM"}} {
		_, got := m.Store(answers{err: err}).Commit(t.Context(), store.Commit{Beats: make([]store.Beat, 3)})
		require.Equal(t, err, got)
	}
	_, err := m.Store(answers{}).Touch(t.Context(), store.Touch{})
	require.NoError(t, err)
	_, err = m.Store(answers{}).Lease(t.Context(), billing(), time.Second)
	require.ErrorIs(t, err, store.ErrBusy)
	require.InDelta(t, 1, testutil.ToFloat64(m.commits.WithLabelValues(opCommit)), 0)
	require.InDelta(t, 1, testutil.ToFloat64(m.commits.WithLabelValues(opTouch)), 0)
	require.InDelta(t, 1, testutil.ToFloat64(m.writesFailed.WithLabelValues(opCommit)), 0)
	require.InDelta(t, 1, testutil.ToFloat64(m.busy.WithLabelValues()), 0)
	require.Equal(t, 1, testutil.CollectAndCount(m.batch))
}
