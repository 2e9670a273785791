package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// monitoring, Prometheus: Debian's Prometheus scrapes the suite, and finds every metric that
// rules and dashboards name, with groups counted once though two monitors are scraped.
func TestPrometheusFindsWhatRulesAndDashboardsName(t *testing.T) {
	t.Parallel()
	s := startScraped(t)
	s.scrape()
	s.trouble()

	want := map[string]bool{}
	for _, name := range metricsOfRules(t) {
		want[name] = true
	}
	for _, text := range readAll(t, "..", "..", "grafana", "dashboards", "*.json") {
		for _, match := range ruleMetric.FindAllStringSubmatch(text, -1) {
			want[match[1]] = true
		}
	}
	var missing []string
	require.Eventually(t, func() bool {
		found := s.names()
		missing = missing[:0]
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if !found[name] {
				missing = append(missing, name)
			}
		}
		return len(missing) == 0
	}, patience, often, "all names are there: %v", &missing)

	for expression, want := range map[string]float64{
		`sum(redis_stream_coord_monitor_lease_held)`:                     1, // shows
		`count(redis_stream_coord_monitor_lease_held)`:                   2, // are scraped
		`count(redis_stream_coord_group_epoch{stream="orders"})`:         1,
		`count(redis_stream_coord_shard_stream_length{stream="orders"})`: 2,
	} { // who has just taken over from the other shows nothing for a moment
		require.Eventually(t, func() bool { return s.value(expression) == want }, patience, often, "%s is %v", expression, want)
	}
	s.requireHealthyRules()
}

// trouble makes everything happen once that has a series of its own.
func (s *scraped) trouble() {
	s.t.Helper()
	for _, stream := range []string{"orders", "spoiled", "gone"} {
		s.newStream(stream, 2)
	}
	viewer := s.login(userViewer)
	s.refused(guardedCall{
		method: http.MethodPost, path: api("/auth/login"), body: `{"username": "viewer", "password": "` + wrongPassword + `"}`,
	}, http.StatusUnauthorized, protocol.CodeUnauthorized)
	s.passes(guardedCall{
		path: api("/streams/orders/groups/" + group + "/producer-routing"), token: viewer, header: map[string]string{"If-None-Match": `"of-old"`},
	}, http.StatusOK)

	// A member that is heard once and expires, and one that is ahead of the metadata.
	front := s.gateways[0]
	s.beat(front, "orders", "brief", 0, 0)
	joined := s.beat(front, "orders", "ahead", 0, 0)
	s.beat(front, "orders", "ahead", joined.MemberEpoch, joined.MetadataVersion+1000)
	s.contend()

	// A shard whose lag nobody knows, which is removed; then one that is no stream any more.
	s.fill("orders:0", 20)
	s.fill("spoiled:1", 300)
	entries, err := s.redis.XRangeN(s.t.Context(), "spoiled:1", "-", "+", 150).Result()
	require.NoError(s.t, err)
	require.NoError(s.t, s.redis.XGroupSetID(s.t.Context(), "spoiled:1", group, entries[100].ID).Err())
	s.passes(scaleTo("spoiled", 1, s.ops), http.StatusAccepted)
	s.waitFor("redis_stream_coord_lag_unknown_shards", "redis_stream_coord_drain_shards")

	require.NoError(s.t, s.redis.Del(s.t.Context(), "gone:0").Err())
	require.NoError(s.t, s.redis.Set(s.t.Context(), "gone:0", "no stream", 0).Err())
	s.waitFor("redis_stream_coord_problem_shards", "redis_stream_coord_member_expired_total")
	require.NoError(s.t, s.redis.Del(s.t.Context(), "redis-stream:coord:{gone:"+group+"}:metadata").Err())
	s.waitFor("redis_stream_coord_group_problem")

	// A stream that somebody is at work on, and a coordinator that is gone.
	require.NoError(s.t, s.redis.Set(s.t.Context(), "redis-stream:coord:{orders}:stream:lease", "somebody", time.Minute).Err())
	require.GreaterOrEqual(s.t, s.ask(scaleTo("orders", 3, s.ops)).status, 400)
	s.waitFor("redis_stream_coord_state_mutex_busy_total")
	s.coordinators[0].kill()
	require.GreaterOrEqual(s.t, s.ask(guardedCall{path: api("/streams/orders"), token: s.ops}).status, 500)
	s.coordinators[0].restart()
	s.ready(s.coordinators[0])
	s.waitFor("redis_stream_coord_upstream_failed_total")

	// A Redis that is full refuses what the coordinators write.
	require.NoError(s.t, s.redis.ConfigSet(s.t.Context(), "maxmemory", "1").Err())
	s.askAt(front, s.heartbeat("orders", "refused", 0, 0))
	s.waitFor("redis_stream_coord_state_write_failed_total")
	require.NoError(s.t, s.redis.ConfigSet(s.t.Context(), "maxmemory", "0").Err())
}

// scaleTo asks for another number of shards.
func scaleTo(stream string, shards int, token string) guardedCall {
	return guardedCall{
		method: http.MethodPost, path: api("/streams/" + stream + "/scale"), token: token,
		body: fmt.Sprintf(`{"targetShardCount": %d, "requestedBy": "e2e", "reason": "test"}`, shards),
	}
}

// contend has crowds join by two coordinators at once, until one meets what the other wrote.
func (s *scraped) contend() {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		var crowd sync.WaitGroup
		for i := range 20 {
			crowd.Go(func() { _, _ = s.send(s.coordinators[i%2], s.heartbeat("orders", "crowd-"+strconv.Itoa(i), 0, 0)) })
		}
		crowd.Wait()
		return s.names()["redis_stream_coord_state_conflict_total"]
	}, patience, often, "coordinators contend")
}

// waitFor waits until Prometheus has been given series of these names.
func (s *scraped) waitFor(names ...string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		found := s.names()
		return !slices.ContainsFunc(names, func(name string) bool { return !found[name] })
	}, patience, often, "there are %v", names)
}

// requireHealthyRules requires that Prometheus evaluates every rule without an error, and
// that no alert fires of which there is no reason.
func (s *scraped) requireHealthyRules() {
	s.t.Helper()
	var found struct {
		Groups []struct {
			Rules []struct {
				Name, Health, LastError, State string
			} `json:"rules"`
		} `json:"groups"`
	}
	require.NoError(s.t, json.Unmarshal(s.api("rules"), &found))
	alerts, records := ruleTexts(s.t)
	count := 0
	for _, g := range found.Groups {
		for _, rule := range g.Rules {
			count++
			require.Equal(s.t, "ok", rule.Health, "%s: %s", rule.Name, rule.LastError)
			if slices.Contains([]string{"NobodyShowsGroups", "GroupsShownTwice", "AuditSinkDown", "TargetDown", "AuditRecordsLost"}, rule.Name) {
				require.NotEqual(s.t, "firing", rule.State, rule.Name)
			}
		}
	}
	require.Equal(s.t, len(alerts)+len(records), count)
}

// heldLine is the series of a monitor that shows groups.
var heldLine = regexp.MustCompile(`(?m)^redis_stream_coord_monitor_lease_held 1$`)

// holder waits until exactly one of these metrics ports shows groups, and returns which.
func (s *scraped) holder(ports []string) int {
	s.t.Helper()
	who := -1
	require.Eventually(s.t, func() bool {
		who = -1
		showing := 0
		for i, port := range ports {
			text := s.at(port)
			shows := strings.Contains(text, "\nredis_stream_coord_group_epoch{")
			if held := heldLine.MatchString(text); shows != held && shows {
				return false
			}
			if shows {
				who = i
				showing++
			}
		}
		if showing > 1 { // or one took over between the looks at the two: then the first shows nothing now
			require.NotContains(s.t, s.at(ports[0]), "\nredis_stream_coord_group_epoch{", "two monitors show groups")
		}
		return showing == 1
	}, patience, 10*time.Millisecond, "one monitor shows groups")
	return who
}

// Of two monitors one shows groups; when it is killed or ends, the other one does.
func TestOneOfTwoMonitorsShowsGroupsWhateverHappensToTheOther(t *testing.T) {
	t.Parallel()
	s := startScraped(t)
	s.newStream("orders", 2)
	ports := s.metricsPorts["rsc-monitor"]
	first := s.holder(ports)
	s.monitors[first].kill()
	second := s.holder(ports)
	require.NotEqual(t, first, second, "the other one took over")
	s.monitors[first].restart()
	s.ready(s.monitors[first])
	require.Equal(t, second, s.holder(ports), "who holds the lease keeps it")

	// One that ends gives it back, so that nobody waits.
	require.NoError(t, s.monitors[second].input.Close())
	require.NoError(t, s.monitors[second].cmd.Process.Signal(os.Interrupt))
	s.monitors[second].wait()
	require.Equal(t, first, s.holder(ports))
}
