package app_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/openapitest"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/app"
)

// lastKey is the shard that the examples remove.
const lastKey = "orders:3"

// reader is somebody who tries the examples of the API's document, from the first to the
// last.
type reader struct {
	*coordinator

	rdb *redis.Client
	// resharding is the id of the last answer that had one.
	resharding string
}

// Wire contract: the document's examples work as they stand, in the order that it gives.
func TestExamplesOfTheDocumentWork(t *testing.T) {
	t.Parallel()
	document := openapitest.Load(t)
	server := redisproc.Start(t)
	cfg := settings(server)
	cfg.Coordination.RoutingLease = 5 * time.Second // removed shards are looked at when it is over
	r := &reader{coordinator: start(t, cfg, app.Deps{}), rdb: server.Client(t)}
	examples := slices.DeleteFunc(document.Operations(), func(o openapitest.Operation) bool { return o.Example == nil })
	slices.SortFunc(examples, func(a, b openapitest.Operation) int { return cmp.Compare(a.Example.Order, b.Example.Order) })
	require.Greater(t, len(examples), 25)
	for i, example := range examples {
		require.False(t, i > 0 && examples[i-1].Example.Order == example.Example.Order, "%s has no place of its own", example.ID)
		switch example.ID {
		case "scaleStreamShards":
			r.publishUnread(t)
		case "confirmShardDrain":
			r.leaveShardWithoutLag(t)
		case "deleteCoordinatorGroup":
			r.reaches(t, func(m protocol.Migration) bool { return m.State == protocol.MigrationDeprecated })
		}
		r.try(t, document, example)
	}
	var left protocol.StreamsResponse
	r.call(http.MethodGet, "/coord/v1/streams", nil, &left)
	require.Empty(t, left.Streams, "the examples clean up")
}

// try sends an example's request and holds request and answer against the document.
func (r *reader) try(t *testing.T, document *openapitest.Document, o openapitest.Operation) {
	t.Helper()
	path := strings.Replace(o.Example.Path, "{reshardingId}", r.resharding, 1)
	var body any
	if o.Body != nil {
		body = json.RawMessage(o.Body)
	}
	var answer json.RawMessage
	status, header := r.call(o.Method, path, body, &answer)
	require.Equalf(t, o.Example.Status, status, "%s %s: %s", o.Method, path, answer)
	e := openapitest.Exchange{Method: o.Method, Path: path, Request: o.Body, Status: status, Header: header, Body: answer}
	document.Check(t, e)
	require.NoError(t, document.ValidateRequest(t.Context(), e))

	var scaled protocol.StreamScaleResponse
	if json.Unmarshal(answer, &scaled) == nil && len(scaled.Migrations) == 1 {
		r.resharding = scaled.Migrations[0].ReshardingID
	}
}

// publishUnread keeps the resharding that removes shard 3 from ending before it is rolled
// back, however long that takes.
func (r *reader) publishUnread(t *testing.T) {
	t.Helper()
	require.NoError(t, r.rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: lastKey, ID: "1-1", Values: []string{"f", "v"}}).Err())
}

// leaveShardWithoutLag brings about what an operator vouches for: the rolled back
// resharding is over, the last entry of shard 3 was deleted unread, and a new resharding
// that removes the shard cannot prove it empty (protocol L9).
func (r *reader) leaveShardWithoutLag(t *testing.T) {
	t.Helper()
	r.reaches(t, func(m protocol.Migration) bool { return m.State == protocol.MigrationRolledBack })
	for _, group := range []string{"billing", "shipping"} {
		args := &redis.XReadGroupArgs{Group: group, Consumer: "c", Streams: []string{lastKey, ">"}}
		require.NoError(t, r.rdb.XReadGroup(t.Context(), args).Err())
		require.NoError(t, r.rdb.XAck(t.Context(), lastKey, group, "1-1").Err())
	}
	require.NoError(t, r.rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: lastKey, ID: "1-2", Values: []string{"f", "v"}}).Err())
	require.NoError(t, r.rdb.XDel(t.Context(), lastKey, "1-2").Err())

	target := 3
	var scaled protocol.StreamScaleResponse
	status, _ := r.call(http.MethodPost, "/coord/v1/streams/orders/scale",
		protocol.ScaleRequest{TargetShardCount: &target, RequestedBy: "ops", Reason: "again"}, &scaled)
	require.Equal(t, http.StatusAccepted, status)
	r.resharding = scaled.Migrations[0].ReshardingID
	r.reaches(t, func(m protocol.Migration) bool {
		return len(m.Progress.Shards) == 1 && m.Progress.Shards[0].Reason != nil && *m.Progress.Shards[0].Reason == protocol.DrainLagUnknown
	})
}

// reaches waits until the resharding is as wanted.
func (r *reader) reaches(t *testing.T, wanted func(protocol.Migration) bool) {
	t.Helper()
	var last protocol.Migration
	require.Eventuallyf(t, func() bool {
		last = protocol.Migration{}
		status, _ := r.call(http.MethodGet, ordersURL+"/migrations/"+r.resharding, nil, &last)
		return status == http.StatusOK && wanted(last)
	}, patience, interval, "%+v", &last)
}
