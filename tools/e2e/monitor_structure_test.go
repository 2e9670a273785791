package e2e_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// between is how often the monitor of these tests looks at Redis: once while they run.
const between = time.Hour

// startBeside starts a monitor of a suite, and returns its URL when it has looked at Redis.
func (s *suite) startBeside() string {
	s.t.Helper()
	require.NoError(s.t, monitorBuilt())
	address, file := freeAddress(s.t), filepath.Join(s.t.TempDir(), "monitor.yaml")
	writeSettings(s.t, file, "coordinator:\n  redis:\n    url: "+s.redis+"\n")
	monitor := start(s.t, "monitor", "monitor", "--config", file, "--monitor-listen", address, "--monitor-metrics-listen", "",
		"--monitor-coordinator", s.url(), "--observe-interval", between.String(), "--observe-history", (2 * between).String(), "--api-dev", "--log-level", "warn")
	transport := &http.Transport{}
	s.t.Cleanup(transport.CloseIdleConnections)
	viewer := &http.Client{Transport: transport, Timeout: patience}
	s.eventually(func() bool {
		got, err := sendWith(viewer, "http://"+address, guardedCall{path: api("/monitoring/streams/" + stream + "/groups/" + group + "/offsets")})
		return monitor.ended() || err == nil && got.status == http.StatusOK
	}, "the monitor has looked at Redis")
	require.False(s.t, monitor.ended(), "the monitor has ended:\n%s", monitor.all.tail())
	return "http://" + address
}

// groupViews follows a monitor and returns the group as the stream of events tells it. The
// channel is closed at the end of the stream, which is that of the test at the latest.
func (s *suite) groupViews(monitor string) <-chan protocol.GroupResponse {
	s.t.Helper()
	ctx, leave := context.WithCancel(s.t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet,
		monitor+api("/monitoring/stream?streamPrefix="+stream+"&consumerGroup="+group), http.NoBody)
	require.NoError(s.t, err)
	views := make(chan protocol.GroupResponse, 1000)
	go func() {
		defer close(views)
		answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
		if err != nil {
			return
		}
		defer answer.Body.Close()
		lines := bufio.NewScanner(answer.Body)
		lines.Buffer(nil, 1<<20)
		for kind := ""; lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			if name == "event" {
				kind = value
			}
			var view protocol.GroupResponse
			if name == "data" && kind == "group" && json.Unmarshal([]byte(value), &view) == nil {
				views <- view
			}
		}
	}()
	s.t.Cleanup(func() {
		leave()
		for range views { // until its goroutine has ended
			continue
		}
	})
	return views
}

// Monitoring, Observe: a member that was killed shows within its lease and two seconds, however
// seldom Redis is looked at.
func TestAMemberThatIsKilledShowsBetweenTheRounds(t *testing.T) {
	t.Parallel()
	s := startSuite(t)
	s.createStream()
	s.consume("one")
	two := s.consume("two")
	leases := s.stable(2)
	var dies string
	for id, member := range leases {
		if member.MemberName == "two" || strings.HasPrefix(id, "two") {
			dies = id
		}
	}
	require.NotEmpty(t, dies, "%v", leases)
	views := s.groupViews(s.startBeside())
	await := func(wanted func(protocol.GroupResponse) bool) {
		t.Helper()
		for late := time.After(patience); ; {
			select {
			case view, more := <-views:
				require.True(t, more, "the stream has ended")
				if wanted(view) {
					return
				}
			case <-late:
				require.Fail(t, "it is not told between the rounds")
			}
		}
	}
	await(func(view protocol.GroupResponse) bool { return view.CurrentAssignmentSummary[dies] > 0 })
	two.kill()
	killed := time.Now()
	await(func(view protocol.GroupResponse) bool {
		return view.CurrentAssignmentSummary[dies] == 0 && view.TargetAssignmentSummary[dies] == 0
	})
	t.Logf("told %v after its death", time.Since(killed).Round(time.Millisecond))
}
