package pages_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// rounds answers whoever follows the monitor with one round, and leaves the stream open.
func (c *console) rounds(event protocol.GroupsEvent) {
	c.api.HandleFunc("GET /coord/v1/monitoring/stream", func(w http.ResponseWriter, r *http.Request) {
		data, _ := json.Marshal(event)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("event: groups\ndata: " + string(data) + "\n\n"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
}

// build makes the gateway tell its version, which is not below the API's base path.
func (c *console) build(version string) {
	c.api.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(protocol.VersionResponse{Version: version, GoVersion: "go1.26"})
	})
}

func healthy() protocol.HealthResponse {
	return protocol.HealthResponse{
		Status: protocol.HealthUp, CoordinatorID: "c-1", Redis: protocol.HealthUp, Loop: protocol.HealthUp, Problems: []string{},
	}
}

func spoken() protocol.CompatibilityResponse {
	return protocol.CompatibilityResponse{
		CurrentCoordinationVersion: 2,
		CoordinationVersions: []protocol.VersionSupport{
			{Version: 1, Status: "DEPRECATED", IntroducedIn: protocol.ReleaseVersion{Version: "1.0.0"}, DeprecatedIn: &protocol.ReleaseVersion{Version: "2.0.0"}},
			{
				Version: 2, Status: "SUPPORTED", IntroducedIn: protocol.ReleaseVersion{Version: "2.0.0"},
				TimingDefaults: protocol.TimingValues{HeartbeatInterval: "PT2.5S", MemberLeaseTTL: "PT1M30S", RebalanceTimeout: "P1D"},
			},
		},
	}
}

func TestSystemSaysHowEachPartIs(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.build("v1")
	c.answers("GET /monitoring/health", healthy())
	c.answers("GET /monitoring/compatibility", spoken())
	c.rounds(protocol.GroupsEvent{
		Round: 1234, At: protocol.Timestamp{Time: clock.Now()}, Groups: []protocol.GrafanaGroupRow{row("orders", "readers"), row("orders", "b")},
	})
	got := c.get(t, reader(), "/console/system")
	require.Equal(t, http.StatusOK, got.status)
	for _, text := range []string{
		"answered by c-1", "Round 1\u202f234", "2 groups seen", "every 2.5 s", "for 1 min 30 s", "has P1D for it", "current", "deprecated", "go1.26",
		"redis_stream_coord_build_info",
	} {
		require.Contains(t, got.body, text)
	}
	require.NotContains(t, got.body, "What to do")
	require.NotContains(t, got.body, "different builds")
	require.NotContains(t, got.body, "does not answer")
	require.Contains(t, got.body, `data-live="/console/live?page=system"`)
}

func TestSystemTellsOfBuildsThatDiffer(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.build("v2")
	got := c.get(t, reader(), "/console/system")
	require.Contains(t, got.body, "Console and gateway are of different builds")
	require.Contains(t, got.body, "v2")
}

// What is known is shown when nothing else answers.
func TestSystemIsShownWhateverDoesNotAnswer(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	for _, pattern := range []string{"GET /monitoring/health", "GET /monitoring/compatibility", "GET /monitoring/stream"} {
		c.refuses(pattern, protocol.CodeUpstreamUnavailable, "no <b>coordinator</b> answers")
	}
	got := c.get(t, ops(), "/console/system")
	require.Equal(t, http.StatusOK, got.status)
	for _, text := range []string{
		"No coordinator answers", "The monitor does not answer", "The gateway does not answer", "gateway.coordinators", "gateway.monitor",
		"no &lt;b&gt;coordinator&lt;/b&gt; answers.", "What the coordinator speaks is not known",
	} {
		require.Contains(t, got.body, text)
	}
	require.Contains(t, got.body, "v1", "the console's own version")
	require.NotContains(t, got.body, "<b>")
}

func TestSystemSaysWhatIsDegradedAndWhatToDo(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.build("v1")
	c.answers("GET /monitoring/health", protocol.HealthResponse{
		Status: protocol.HealthDegraded, Redis: protocol.HealthDown, Loop: "STOPPED", Problems: []string{"group <i>a</i> fails closed"},
	})
	c.answers("GET /monitoring/compatibility", spoken())
	c.rounds(protocol.GroupsEvent{
		Round: 7, At: protocol.Timestamp{Time: clock.Now().Add(-time.Hour)}, Problem: new("the coordinator <i>does not answer</i>"),
		Unreadable: []protocol.UnreadableGroup{{GroupName: protocol.GroupName{StreamPrefix: "orders:eu", ConsumerGroup: "javascript:a"}, Problem: "METADATA_CORRUPT"}},
	})
	got := c.get(t, reader(), "/console/system")
	for _, text := range []string{
		"does not reach its Redis", "loop does not run", "group &lt;i&gt;a&lt;/i&gt; fails closed", "shows what was earlier",
		"the coordinator &lt;i&gt;does not answer&lt;/i&gt;", "The newest round is 1 h 0 min old.",
		`<a href="/console/streams/orders:eu/groups/javascript:a">orders:eu / javascript:a</a>: metadata corrupt`,
	} {
		require.Contains(t, got.body, text)
	}
}

// Who is bound to streams may not ask how the whole is; that is no fault of a part.
func TestSystemTellsWhoIsBoundToStreamsWhyThereIsLittle(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.build("v1")
	for _, pattern := range []string{"GET /monitoring/health", "GET /monitoring/compatibility", "GET /monitoring/stream"} {
		c.refuses(pattern, protocol.CodeForbidden, "this is outside of the streams to which user is bound")
	}
	got := c.get(t, reader(), "/console/system")
	require.Equal(t, http.StatusOK, got.status)
	require.Contains(t, got.body, "not shown to you")
	require.NotContains(t, got.body, "What to do")
	require.Contains(t, got.body, `data-live=""`)

	c = newConsole(t)
	c.refuses("GET /monitoring/health", protocol.CodeUnauthorized, "over")
	require.Equal(t, "/console/login?next=%2Fconsole%2Fsystem", c.get(t, reader(), "/console/system").header.Get("Location"))
}

func TestTheMonitorsPartIsKeptUpToDate(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.answers("GET /monitoring/grafana/groups", []protocol.GrafanaGroupRow{})
	c.rounds(protocol.GroupsEvent{Round: 8, At: protocol.Timestamp{Time: clock.Now()}})
	answer, err := http.DefaultClient.Do(c.request(t, reader(), http.MethodGet, "/console/live?page=system", nil))
	require.NoError(t, err)
	t.Cleanup(func() { _ = answer.Body.Close() })
	event := nextEvent(t, lines(answer.Body))
	require.Contains(t, event, `"id":"system-monitor"`)
	require.Contains(t, event, "Round 8")
}

// Rows do not tell of groups that cannot be read: they are what somebody should see first.
func TestOverviewPutsGroupsThatCannotBeReadFirst(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.answers("GET /monitoring/grafana/groups", []protocol.GrafanaGroupRow{row("alpha", "g")})
	event := protocol.GroupsEvent{Round: 8, Groups: []protocol.GrafanaGroupRow{row("alpha", "g")}}
	for range 70 {
		name := protocol.GroupName{StreamPrefix: "broken", ConsumerGroup: "g"}
		event.Unreadable = append(event.Unreadable, protocol.UnreadableGroup{GroupName: name, Problem: "METADATA_MISSING"})
	}
	c.rounds(event)
	got := c.get(t, reader(), "/console")
	require.Contains(t, got.body, `<a href="/console/streams/broken/groups/g">broken / g</a>: metadata missing`)
	require.Less(t, strings.Index(got.body, "broken / g"), strings.Index(got.body, "alpha / g"))
	require.Contains(t, got.body, "And 20 more.")
	require.Contains(t, got.body, "<dd>70</dd>")

	answer, err := http.DefaultClient.Do(c.request(t, reader(), http.MethodGet, "/console/live?page=overview", nil))
	require.NoError(t, err)
	t.Cleanup(func() { _ = answer.Body.Close() })
	piece := nextEvent(t, lines(answer.Body))
	require.Contains(t, piece, `"id":"unreadable"`)
	require.Contains(t, piece, "broken / g")
}

// lines reads events, which may be long.
func lines(from io.Reader) *bufio.Scanner {
	scanner := bufio.NewScanner(from)
	scanner.Buffer(nil, 1<<20)
	return scanner
}
