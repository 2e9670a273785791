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

// running is a part that answers, with settings.
func running(service, address, instance string) protocol.SystemPart {
	part := protocol.SystemPart{Service: service, Process: &protocol.SystemProcess{
		Service: service, Instance: "host-" + instance, Version: protocol.VersionResponse{Version: "v1", GoVersion: "go1.26"}, StartedAt: protocol.AtMillis(1_767_323_045_000),
		Configuration: []protocol.SystemSetting{{Key: "listen", Value: ":8081"}, {Key: "redis.password", Value: "********", Masked: true}, {Key: "redis.username"}},
	}}
	if address != "" {
		part.Address = &address
	}
	return part
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
	c.answers("GET /system", protocol.SystemResponse{Parts: []protocol.SystemPart{running("gateway", "", "g-1"), running("coordinator", "http://c-0:8081", "c-1")}})
	c.answers("GET /monitoring/health", healthy())
	c.answers("GET /monitoring/compatibility", spoken())
	c.rounds(protocol.GroupsEvent{
		Round: 1234, At: protocol.Timestamp{Time: clock.Now()}, Groups: []protocol.GrafanaGroupRow{row("orders", "readers"), row("orders", "b")},
	})
	got := c.get(t, reader(), "/console/system")
	require.Equal(t, http.StatusOK, got.status)
	for _, text := range []string{
		"answered by c-1", "Round 1\u202f234", "2 groups seen", "every 2.5 s", "for 1 min 30 s", "has P1D for it", "current", "deprecated", "go1.26",
		"redis_stream_coord_build_info", "<code>http://c-0:8081</code></td>", "host-c-1", "2026-01-02 03:04:05 UTC",
		"<summary>Coordinator host-c-1 ", "3 settings", "<code>listen</code>", "<code>:8081</code>", "secret, not shown", "not set",
	} {
		require.Contains(t, got.body, text)
	}
	require.NotContains(t, got.body, "What to do")
	require.NotContains(t, got.body, "Different builds")
	require.NotContains(t, got.body, "does not answer")
	require.Contains(t, got.body, `data-live="/console/live?page=system"`)
}

func TestSystemTellsOfBuildsThatDiffer(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.build("v2")
	got := c.get(t, reader(), "/console/system")
	require.Contains(t, got.body, "Different builds run")
	require.Contains(t, got.body, "v2")
}

// A part that does not answer is a problem, with what to look at; its text is somebody else's.
func TestSystemTellsOfPartsThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.build("v1")
	two := running("coordinator", "http://c-1:8081", "c-2")
	two.Process.Configuration[2].Value = "<i>ops</i>"
	c.answers("GET /system", protocol.SystemResponse{Parts: []protocol.SystemPart{
		running("gateway", "", "g-1"), running("coordinator", "http://c-0:8081", "c-1"), two,
		{Service: "monitor", Address: new("http://m:8082"), Problem: new("cannot be <b>reached</b>; look whether it runs")},
		{Service: "<b>next</b>"},
	}})
	got := c.get(t, reader(), "/console/system")
	for _, text := range []string{
		"Monitor http://m:8082 does not tell what it is", "It cannot be &lt;b&gt;reached&lt;/b&gt;.", "Look whether it runs.", "&lt;b&gt;next&lt;/b&gt; does not tell",
		"The coordinators differ in their settings", "redis.username:  and &lt;i&gt;ops&lt;/i&gt;",
	} {
		require.Contains(t, got.body, text)
	}
	require.NotContains(t, got.body, "<b>")
	require.NotContains(t, got.body, "<i>")
}

// An older gateway knows nothing of that: what the console knows itself is shown.
func TestSystemIsShownWithoutWhatPartsTell(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.build("v1")
	c.refuses("GET /system", protocol.CodeNotFound, "there is no such endpoint")
	got := c.get(t, reader(), "/console/system")
	require.Contains(t, got.body, "More is not known. there is no such endpoint.")
	require.Contains(t, got.body, "The settings are not known.")
	require.NotContains(t, got.body, "<details>")
}

// Many parts stay a page that can be looked at.
func TestSystemOfManyPartsIsBounded(t *testing.T) {
	t.Parallel()
	c := newConsole(t)
	c.build("v1")
	said := protocol.SystemResponse{}
	for range 500 {
		part := running("coordinator", "http://c-0:8081", "c-1")
		part.Process.Configuration = nil
		for i := range 80 {
			part.Process.Configuration = append(part.Process.Configuration, protocol.SystemSetting{Key: "a.setting.of.some.length", Value: strings.Repeat("x", 60+i)})
		}
		said.Parts = append(said.Parts, part)
	}
	c.answers("GET /system", said)
	got := c.get(t, reader(), "/console/system")
	require.Less(t, len(got.body), 300_000)
	require.Contains(t, got.body, "And 400 more")
	require.Contains(t, got.body, "Those of 88 more parts")
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
