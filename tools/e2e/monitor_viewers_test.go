package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// monitoring, Observe: who looks at the monitor, or scrapes it, costs Redis nothing. Nobody else
// works on this Redis, and the monitor's next round is in an hour.
func TestViewersOfTheMonitorAddNoCallsToRedis(t *testing.T) {
	t.Parallel()
	t.Cleanup(forgetResult)
	require.NoError(t, monitorBuilt())
	server := redisproc.Start(t)
	rdb := server.Client(t)
	for _, key := range []string{"orders:0", "orders:1"} {
		require.NoError(t, rdb.XGroupCreateMkStream(t.Context(), key, group, "0").Err())
	}
	settings := t.TempDir() + "/monitor.yaml"
	writeSettings(t, settings, redisSettings(t, server, ""))
	transport := &http.Transport{MaxConnsPerHost: 20}
	t.Cleanup(transport.CloseIdleConnections)
	viewer := &http.Client{Transport: transport, Timeout: patience}
	address, metrics := freeAddress(t), freeAddress(t)
	monitor := start(t, "monitor", "monitor", "--config", settings, "--monitor-listen", address, "--monitor-metrics-listen", metrics,
		"--monitor-coordinator", tellsOf(t, "orders", 2), "--observe-interval", "1h", "--observe-history", "2h", "--api-dev", "--log-level", "warn")
	paths := viewerPaths()
	require.Eventually(t, func() bool {
		if monitor.ended() {
			return true
		}
		got, err := sendWith(viewer, "http://"+address, guardedCall{path: paths[0]})
		scraped, err2 := sendWith(viewer, "http://"+metrics, guardedCall{path: "/metrics"})
		return err == nil && err2 == nil && strings.Contains(string(got.body), `"streamKey":"orders:1"`) &&
			showsGroups(string(scraped.body)) // the lease, the last thing that a round asks for
	}, patience, often, "the first round is there")
	require.False(t, monitor.ended(), "it has ended:\n%s", monitor.all.tail())

	before := commandsOf(t, rdb)
	var crowd sync.WaitGroup
	const viewers, scrapers = 20, 4 // the port of the metrics serves eight at a time
	answers := make(chan guardedReply, viewers*len(paths)+scrapers)
	for i := range viewers {
		crowd.Go(func() {
			for _, path := range paths {
				if got, err := sendWith(viewer, "http://"+address, guardedCall{path: path}); err == nil {
					answers <- got
				}
			}
			if i >= scrapers {
				return
			}
			if got, err := sendWith(viewer, "http://"+metrics, guardedCall{path: "/metrics"}); err == nil {
				answers <- got
			}
		})
	}
	crowd.Wait()
	close(answers)
	served := 0
	for got := range answers {
		require.Equal(t, http.StatusOK, got.status, "%s", got.body)
		served++
	}
	require.Equal(t, cap(answers), served, "all were answered")
	require.Equal(t, before+1, commandsOf(t, rdb), "the first of these two questions; %d answers", served)
}

// viewerPaths are what the console, dashboards and curious people ask for, but records and the
// view of one group, whose last changes are read when somebody looks.
func viewerPaths() []string {
	const of = "/coord/v1/monitoring/streams/orders/groups/" + group
	paths := []string{of + "/offsets", of + "/members", of + "/assignments", of + "/migrations", of + "/consumption", "/coord/v1/monitoring/groups"}
	for _, rows := range []string{"groups", "shards", "members", "assignments", "options/streams", "options/consumer-groups", "options/shards"} {
		paths = append(paths, "/coord/v1/monitoring/grafana/"+rows+"?streamPrefix=orders&consumerGroup="+group)
	}
	return append(paths, "/healthz", "/readyz", "/version")
}

// tellsOf is a coordinator that tells of one group and does nothing else.
func tellsOf(t *testing.T, stream string, shards int) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var answer any = protocol.ErrorResponse{ErrorCode: protocol.CodeGroupNotFound}
		if strings.HasSuffix(r.URL.Path, "/internal/groups") {
			answer = protocol.GroupSnapshotsResponse{Groups: []protocol.GroupSnapshot{{
				Group:     protocol.GroupResponse{StreamPrefix: stream, ConsumerGroup: group, State: protocol.GroupEmpty, ShardCount: shards},
				ReadCount: shards,
			}}}
		} else {
			w.WriteHeader(http.StatusNotFound)
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

var commandsLine = regexp.MustCompile(`total_commands_processed:(\d+)`)

// commandsOf returns how many commands a Redis had processed before this question.
func commandsOf(t *testing.T, rdb *redis.Client) int {
	t.Helper()
	text, err := rdb.Info(t.Context(), "stats").Result()
	require.NoError(t, err)
	found := commandsLine.FindStringSubmatch(text)
	require.Len(t, found, 2)
	count, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	return count
}
