package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// watched is a guarded suite of two coordinators with a monitor that knows both.
type watched struct {
	*guarded

	redis *redis.Client
	ops   string // a token
}

func startWatched(t *testing.T) *watched {
	t.Helper()
	require.NoError(t, monitorBuilt())
	address := freeAddress(t)
	s := &watched{guarded: startGuarded(t, guardedPlan{
		coordinators: 2, gateways: 1, logLevel: "warn",
		gatewayFlags: []string{"--gateway-monitor", "http://" + address, "--api-rate-limit-enabled=false"},
	})}
	s.guarded.t = t
	s.redis = s.audited.Client(t)
	s.ops = s.login(userOps)
	file := filepath.Join(t.TempDir(), "monitor.yaml")
	writeSettings(t, file, redisSettings(t, s.audited, ""))
	s.ready(s.service(address, "monitor", "monitor", []string{
		"--config", file, "--monitor-listen", address, "--monitor-metrics-listen", "",
		"--monitor-coordinator", s.coordinators[0].url() + "," + s.coordinators[1].url(), "--observe-interval", "500ms",
		"--api-jwks-url", s.gateways[0].url() + "/.well-known/jwks.json", "--log-level", "info",
	}))
	return s
}

// view is a group as the gateway passes it on from the monitor, false while there is none.
func (s *watched) view(stream, name string) (protocol.MonitoredGroup, bool) {
	s.t.Helper()
	var shown protocol.MonitoredGroup
	got, err := s.send(s.gateways[0], guardedCall{path: api("/monitoring/streams/" + stream + "/groups/" + name), token: s.ops})
	if err != nil || got.status != http.StatusOK {
		return shown, false
	}
	got.decode(s.t, &shown)
	return shown, !shown.ObservedAt.IsZero()
}

// seesAnew waits for a round that began after now, with the groups as they are.
func (s *watched) seesAnew(stream, name string) {
	s.t.Helper()
	now := time.Now()
	require.Eventually(s.t, func() bool {
		shown, there := s.view(stream, name)
		return there && !shown.Partial && shown.ObservedAt.After(now)
	}, patience, seldom, "the monitor sees groups as they are")
}

// A monitor of two coordinators goes on with one, whether the other is killed or hangs; and
// what was changed in a group is told with the group (monitoring, APIs).
func TestAMonitorGoesOnWithTheCoordinatorThatAnswers(t *testing.T) {
	t.Parallel()
	s := startWatched(t)
	require.Less(t, s.ask(createStream(s.ops, "orders")).status, 300)
	require.Less(t, s.ask(guardedCall{
		method: http.MethodPost, path: api("/streams/orders/groups/later"), token: s.ops, body: `{"requestedBy": "ann"}`,
	}).status, 300)
	s.seesAnew("orders", group)

	require.Eventually(t, func() bool {
		shown, there := s.view("orders", "later")
		return there && shown.RecentMutations != nil && len(*shown.RecentMutations) == 1
	}, patience, seldom, "the one who made it is told")
	shown, _ := s.view("orders", "later")
	head := (*shown.RecentMutations)[0]
	require.Equal(t, protocol.AuditOutcome, head.Kind)
	require.Equal(t, []string{userOps, "ann", http.MethodPost}, []string{head.Principal, head.RequestedBy, head.Method})
	require.Equal(t, protocol.AuditAllowed, head.Result)
	require.NotEmpty(t, head.RequestID)
	shown, _ = s.view("orders", group)
	require.NotNil(t, shown.RecentMutations)

	for range 2 { // the second time it is the other one that was asked last
		for _, one := range s.coordinators {
			freeze(t, one.process)
			s.seesAnew("orders", group)
			thaw(t, one.process)
		}
	}
	for _, one := range s.coordinators {
		one.kill()
		s.seesAnew("orders", group)
		one.restart()
		s.ready(one)
	}
}

// Monitoring, APIs: a walk over 4,096 shards passes the gateway, forward and backward, and
// shows every record once while shards get more.
func TestAWalkOverManyShardsPassesTheGateway(t *testing.T) {
	t.Parallel()
	const many = 4096
	s := startWatched(t)
	require.Less(t, s.ask(guardedCall{
		method: http.MethodPost, path: api("/streams/orders"), token: s.ops,
		body: fmt.Sprintf(`{"initialShardCount": %d, "consumerGroups": [%q], "requestedBy": "e2e"}`, many, group),
	}).status, 300)
	want := map[string]bool{}
	now := time.Now().UnixMilli()
	_, err := s.redis.Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
		for shard := range many {
			id := fmt.Sprintf("%d-0", now-1000-rand.Int64N(86_400_000))
			pipe.XAdd(t.Context(), &redis.XAddArgs{Stream: routing.StreamKey("orders", shard), ID: id, Values: []any{"f", "v"}})
			want[fmt.Sprintf("%d=%s", shard, id)] = true
		}
		return nil
	})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		shown, there := s.view("orders", group)
		return there && shown.TotalStreamLength == many
	}, patience, seldom, "all shards are observed")

	seen := s.walk(protocol.DirectionForward, func() {
		for range 50 {
			key := rand.IntN(many)
			id, err := s.redis.XAdd(t.Context(), &redis.XAddArgs{Stream: routing.StreamKey("orders", key), Values: []any{"late", "1"}}).Result()
			require.NoError(t, err)
			want[fmt.Sprintf("%d=%s", key, id)] = true
		}
	})
	require.Len(t, seen, len(want))
	for place := range want {
		require.Equal(t, 1, seen[place], place)
	}
	seen = s.walk(protocol.DirectionBackward, func() {})
	require.Len(t, seen, len(want))
}

// walk reads all pages through the gateway, and counts how often each record is shown.
// Between two of the pages it calls between.
func (s *watched) walk(direction protocol.MessageDirection, between func()) map[string]int {
	s.t.Helper()
	seen, cursor := map[string]int{}, ""
	for range 100 {
		query := url.Values{
			"streamPrefix": {"orders"}, "consumerGroup": {group}, "shardIndex": {"all"}, "limit": {"1000"},
			"direction": {string(direction)}, "cursor": {cursor},
		}
		var rows []protocol.GrafanaMessageRow
		s.passes(guardedCall{path: api("/monitoring/grafana/messages?" + query.Encode()), token: s.ops}, http.StatusOK).decode(s.t, &rows)
		for _, row := range rows {
			seen[fmt.Sprintf("%d=%s", row.ShardIndex, row.RecordID)]++
		}
		if len(rows) == 0 || rows[0].PageNextCursor == nil {
			return seen
		}
		cursor = *rows[0].PageNextCursor
		between()
	}
	require.Fail(s.t, "the pages do not end")
	return nil
}
