package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// scrapedEvery is how often the suite is scraped, and observed, in these tests.
const scrapedEvery = "500ms"

// scraped is a guarded suite of two coordinators, a gateway and two monitors with metrics
// ports, and a Prometheus with the project's own configuration.
type scraped struct {
	*guarded

	monitors     []*guardedService
	metricsPorts map[string][]string // by job
	prometheus   *guardedService
	redis        *redis.Client
	ops          string // a token
}

// monitorBuilt builds the monitor once for all tests, beside the other programs.
var monitorBuilt = sync.OnceValue(func() error {
	build := exec.Command("go", "build", "-buildvcs=false", "-o", binaries+string(filepath.Separator), "./cmd/monitor")
	build.Dir = filepath.Join("..", "..", "services", "monitor")
	if said, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the monitor: %w\n%s", err, said)
	}
	return nil
})

// startScraped returns when all of it is ready. Prometheus starts with scrape.
func startScraped(t *testing.T) *scraped {
	t.Helper()
	require.NoError(t, monitorBuilt())
	s := &scraped{metricsPorts: map[string][]string{}}
	coordinator, gateway := s.port(t, "rsc-coordinator"), s.port(t, "rsc-gateway")
	watched := freeAddress(t)
	s.guarded = startGuarded(t, guardedPlan{
		coordinators: 1, gateways: 1,
		coordinatorFlags: append([]string{"--metrics-listen", coordinator}, scrapedTiming()...), logLevel: "warn",
		gatewayFlags: []string{
			"--gateway-metrics-listen", gateway, "--gateway-monitor", "http://" + watched, "--api-rate-limit-enabled=false",
		},
	})
	s.redis = s.audited.Client(t)
	s.ops = s.login(userOps)
	s.coordinators = append(s.coordinators, s.startSecond())
	for i, address := range []string{watched, freeAddress(t)} {
		s.monitors = append(s.monitors, s.startMonitor(fmt.Sprintf("monitor-%d", i), address, s.port(t, "rsc-monitor")))
	}
	for _, one := range append(s.monitors, s.coordinators[1]) {
		s.ready(one)
	}
	return s
}

// startSecond starts a coordinator beside the first one, which the gateway does not know.
func (s *scraped) startSecond() *guardedService {
	s.t.Helper()
	address := freeAddress(s.t)
	file := filepath.Join(s.t.TempDir(), "coordinator.yaml")
	writeSettings(s.t, file, redisSettings(s.t, s.audited, ""))
	return s.service(address, "coordinator-1", "coordinator", append([]string{
		"--config", file, "--listen", address, "--metrics-listen", s.port(s.t, "rsc-coordinator"), "--log-level", "warn",
		"--api-jwks-url", s.gateways[0].url() + "/.well-known/jwks.json",
	}, scrapedTiming()...))
}

// scrapedTiming has members expire soon.
func scrapedTiming() []string {
	return []string{
		"--coordination-member-lease-ttl", "4s", "--coordination-client-lease", "3s", "--coordination-heartbeat-interval", "200ms",
		"--coordination-rebalance-timeout", "8s", "--coordination-routing-lease", "5s",
	}
}

// port takes a metrics port for a job.
func (s *scraped) port(t *testing.T, job string) string {
	t.Helper()
	address := freeAddress(t)
	s.metricsPorts[job] = append(s.metricsPorts[job], address)
	return address
}

func (s *scraped) startMonitor(name, address, metrics string) *guardedService {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "monitor.yaml")
	writeSettings(s.t, file, redisSettings(s.t, s.audited, ""))
	return s.service(address, name, "monitor", []string{
		"--config", file, "--monitor-listen", address, "--monitor-metrics-listen", metrics, "--monitor-coordinator", s.coordinators[0].url(),
		"--observe-interval", scrapedEvery, "--observe-memory-every", "1",
		"--api-jwks-url", s.gateways[0].url() + "/.well-known/jwks.json", "--log-level", "info",
	})
}

// scrape starts Debian's Prometheus with the project's configuration, at the suite's ports and
// faster, and returns when it has scraped all of them.
func (s *scraped) scrape() {
	s.t.Helper()
	program, err := exec.LookPath("prometheus")
	require.NoError(s.t, err, "scripts/with-test-tools brings it")
	link := filepath.Join(binaries, "prometheus")
	if err := os.Symlink(program, link); err != nil {
		require.ErrorIs(s.t, err, os.ErrExist)
	}
	text, err := os.ReadFile(filepath.Join(prometheusDir, "prometheus.yml"))
	require.NoError(s.t, err)
	rules, err := filepath.Abs(filepath.Join(prometheusDir, "rules"))
	require.NoError(s.t, err)
	config := strings.NewReplacer(
		": 15s", ": "+scrapedEvery, ": 10s", ": "+scrapedEvery, "- rules/*.yml", "- "+rules+"/*.yml",
		"localhost:9081", strings.Join(s.metricsPorts["rsc-coordinator"], ", "), "localhost:9080", strings.Join(s.metricsPorts["rsc-gateway"], ", "),
		"localhost:9082", strings.Join(s.metricsPorts["rsc-monitor"], ", "),
		"localhost:9083", "", // the scene has no console
	).Replace(string(text))
	file := filepath.Join(s.t.TempDir(), "prometheus.yml")
	writeSettings(s.t, file, config)
	address := freeAddress(s.t)
	s.prometheus = s.service(address, "prometheus", "prometheus", []string{
		"--config.file", file, "--web.listen-address", address, "--storage.tsdb.path", s.t.TempDir(), "--log.level", "warn",
	})
	require.Eventually(s.t, func() bool {
		return !s.prometheus.ended() && s.value(`count(up == 1)`) == 5
	}, patience, often, "all metrics ports are scraped")
}

// api asks Prometheus and returns what it answers, nothing before it is ready.
func (s *scraped) api(path string) json.RawMessage {
	got, err := s.send(s.prometheus, guardedCall{path: "/api/v1/" + path})
	var answer struct {
		Status string          `json:"status"`
		Data   json.RawMessage `json:"data"`
	}
	if err != nil || got.status != http.StatusOK || json.Unmarshal(got.body, &answer) != nil || answer.Status != "success" {
		return nil
	}
	return answer.Data
}

// value returns what an expression comes to now, -1 for nothing.
func (s *scraped) value(expression string) float64 {
	var found struct {
		Result []struct {
			Value [2]any `json:"value"`
		} `json:"result"`
	}
	if json.Unmarshal(s.api("query?query="+url.QueryEscape(expression)), &found) != nil || len(found.Result) != 1 {
		return -1
	}
	text, is := found.Result[0].Value[1].(string)
	value, err := strconv.ParseFloat(text, 64)
	if !is || err != nil {
		return -1
	}
	return value
}

// names returns the names of all series that Prometheus has ever been given.
func (s *scraped) names() map[string]bool {
	var list []string
	_ = json.Unmarshal(s.api("label/__name__/values"), &list)
	names := map[string]bool{}
	for _, name := range list {
		names[name] = true
	}
	return names
}

// at returns the text of a metrics port, empty where none answers.
func (s *scraped) at(address string) string {
	got, err := sendWith(s.http, "http://"+address, guardedCall{path: "/metrics"})
	if err != nil || got.status != http.StatusOK {
		return ""
	}
	return string(got.body)
}

// newStream creates a stream with the group of the tests.
func (s *scraped) newStream(name string, shards int) {
	s.t.Helper()
	s.passes(guardedCall{
		method: http.MethodPost, path: api("/streams/" + name), token: s.ops,
		body: fmt.Sprintf(`{"initialShardCount": %d, "consumerGroups": [%q], "requestedBy": "e2e"}`, shards, group),
	}, http.StatusCreated)
}

// fill adds records to a shard.
func (s *scraped) fill(key string, records int) {
	s.t.Helper()
	pipe := s.redis.Pipeline()
	for i := range records {
		pipe.XAdd(s.t.Context(), &redis.XAddArgs{Stream: key, Values: []string{"n", strconv.Itoa(i)}})
	}
	_, err := pipe.Exec(s.t.Context())
	require.NoError(s.t, err)
}

// beat sends a heartbeat to a service, which takes it.
func (s *scraped) beat(to *guardedService, stream, member string, epoch, version int64) protocol.HeartbeatResponse {
	s.t.Helper()
	got := s.askAt(to, s.heartbeat(stream, member, epoch, version))
	require.Equal(s.t, http.StatusOK, got.status, "%s", got.body)
	var answer protocol.HeartbeatResponse
	got.decode(s.t, &answer)
	return answer
}

// heartbeat is that of an old client, which has no incarnation.
func (s *scraped) heartbeat(stream, member string, epoch, version int64) guardedCall {
	s.t.Helper()
	body, err := json.Marshal(protocol.HeartbeatRequest{
		ProtocolVersion: 1, RequestID: fmt.Sprint(member, time.Now().UnixNano()), MemberID: member, MemberEpoch: epoch, MetadataVersion: version,
		RuntimeConsumerCapacity: protocol.Capacity{RuntimeMaxConcurrency: 4, AvailableConcurrency: 4},
		OwnedShards:             []protocol.ShardID{}, RevokingShards: []protocol.RevokingShard{},
		ShardProgress: []protocol.ShardProgress{{StreamKey: stream + ":0", PendingCount: 1}},
	})
	require.NoError(s.t, err)
	return guardedCall{
		method: http.MethodPost, path: api("/streams/" + stream + "/groups/" + group + "/members/" + member + "/heartbeat"), body: string(body),
	}
}
