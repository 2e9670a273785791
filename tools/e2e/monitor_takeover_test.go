package e2e_test

import (
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// surelyHeld is less than the lease of the metrics lasts in these tests: who has lost it has
// not got it back within this time.
const surelyHeld = 4 * time.Second

// monitoring, Prometheus: a monitor that hangs loses the lease of the series, another one takes
// over, and when the first one goes on nothing is shown twice. Nothing is counted twice either
// by two coordinators and two monitors.
func TestAMonitorThatHangsIsFollowedAndNothingIsShownTwice(t *testing.T) {
	t.Parallel()
	s := startScraped(t)
	s.newStream("orders", 2)
	s.fill("orders:0", 20)
	ports := s.metricsPorts["rsc-monitor"]
	first := s.holder(ports)
	second := 1 - first
	s.requireShownOnce()

	freeze(t, s.monitors[first].process)
	require.Eventually(t, func() bool { return showsGroups(s.at(ports[second])) }, patience, often, "the other one takes over")
	thaw(t, s.monitors[first].process)
	before := rounds(s.at(ports[first]))
	require.NotEmpty(t, before)
	began := time.Now()
	for made := 0; made < 5; { // until it has made five rounds, which renew a lease
		require.Less(t, time.Since(began), 2*patience, "it makes rounds")
		s.requireShownOnce()
		if now := rounds(s.at(ports[first])); now != "" && now != before {
			before = now
			made++
		}
	}
	s.holder(ports)

	// The same the other way round: who is frozen shortly keeps it, or loses it to nobody else
	// than the other one.
	freeze(t, s.monitors[second].process)
	thaw(t, s.monitors[second].process)
	s.requireShownOnce()
	s.holder(ports)
}

// showsGroups tells whether a metrics port shows groups.
func showsGroups(text string) bool {
	return strings.Contains(text, "\nredis_stream_coord_group_epoch{")
}

var (
	roundsLine = regexp.MustCompile(`(?m)^redis_stream_coord_observation_round_total (\S+)$`)
	gaugeType  = regexp.MustCompile(`(?m)^# TYPE (\S+) gauge$`)
	oneSeries  = regexp.MustCompile(`(?m)^(redis_stream_coord_\w+)\{([^}]*)\} `)
	instanceID = regexp.MustCompile(`coordinator="[^"]*",?`)
)

// rounds returns how many rounds a monitor has made, empty where it does not tell.
func rounds(text string) string {
	if found := roundsLine.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}

// gauges returns the gauges of groups, members and shards that a port shows, whoever it is.
func gauges(text string) map[string]bool {
	gauge := map[string]bool{}
	for _, found := range gaugeType.FindAllStringSubmatch(text, -1) {
		gauge[found[1]] = true
	}
	shown := map[string]bool{}
	for _, found := range oneSeries.FindAllStringSubmatch(text, -1) {
		if gauge[found[1]] && strings.Contains(found[2], `stream="`) {
			shown[found[1]+"{"+instanceID.ReplaceAllString(found[2], "")+"}"] = true
		}
	}
	return shown
}

// requireShownOnce scrapes all coordinators, monitors and the gateway one after the other and
// the first ones again: a gauge that one of them shows before and after another one does is
// shown twice. The lease may change hands in between, but does not come back.
func (s *scraped) requireShownOnce() {
	s.t.Helper()
	var ports []string
	for _, job := range []string{"rsc-coordinator", "rsc-gateway", "rsc-monitor"} {
		ports = append(ports, s.metricsPorts[job]...)
	}
	began := time.Now()
	before := s.shownAt(ports)
	after := s.shownAt(ports)
	if time.Since(began) >= surelyHeld {
		return // a machine so slow that the lease may have gone there and back
	}
	for i, port := range ports {
		for other := range ports[:i] {
			for gauge := range before[port] {
				twice := before[ports[other]][gauge] && after[ports[other]][gauge] && after[port][gauge]
				require.False(s.t, twice, "%s is at %s and at %s", gauge, ports[other], port)
			}
		}
	}
}

// shownAt scrapes ports one after the other.
func (s *scraped) shownAt(ports []string) map[string]map[string]bool {
	shown := map[string]map[string]bool{}
	for _, port := range ports {
		shown[port] = maps.Clone(gauges(s.at(port)))
	}
	return shown
}
