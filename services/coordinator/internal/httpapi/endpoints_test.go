package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/httpapi"
)

const (
	orders     = base + "/streams/orders"
	billing    = orders + "/groups/billing"
	resharding = billing + "/migrations/r1"
	monitoring = base + "/monitoring/streams/orders/groups/billing"
)

func TestReadsAskTheRightLayer(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	var calls []string
	for _, read := range []struct{ target, call string }{
		{base + "/streams", "Streams"},
		{orders, "Stream orders"},
		{billing, "Group orders billing"},
		{billing + "/producer-routing", "Routing orders billing"},
		{billing + "/events", `Events orders billing "" 100`},
		{billing + "/events?after=17-1&limit=1000&x=y", `Events orders billing "17-1" 1000`},
		{resharding, "Migration orders billing r1"},
		{base + "/monitoring/groups", "Groups"},
		{base + "/internal/groups", "Snapshots"},
		{monitoring, "Group orders billing"},
		{monitoring + "/members", "Members orders billing"},
		{monitoring + "/assignments", "Assignments orders billing"},
		{monitoring + "/migrations", "Migrations orders billing"},
	} {
		got := a.call(t, "GET", read.target, "")
		require.Equalf(t, 200, got.status, "%s: %s", read.target, got.body)
		require.NotEmpty(t, got.header.Get("X-Request-Id"))
		require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
		calls = append(calls, read.call)
	}
	require.Equal(t, calls, a.seen())
}

func TestRefusalsFromBelowAreAnsweredByTheirCode(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	for _, code := range []protocol.Code{
		protocol.CodeGroupNotFound, protocol.CodeStreamNotFound, protocol.CodeGroupAlreadyExists, protocol.CodeShardCountMismatch,
		protocol.CodeGroupHasActiveMembers, protocol.CodeMetadataSyncInProgress, protocol.CodeStoreUnavailable,
		protocol.CodeMetadataCorrupt, protocol.CodeProvisioningFailed, protocol.CodeTerminating, protocol.CodeActiveMigrationExists,
		protocol.CodeMigrationNotFound, protocol.CodeRollbackNotAllowed, protocol.CodeDrainNotConfirmable,
	} {
		a.reject = fmt.Errorf("layer: %w", protocol.Errorf(code, "words for the caller").Because(errors.New("redis://secret@10.0.0.1")))
		for name, taker := range takers() {
			got := a.call(t, taker.method, taker.target, taker.body)
			requireRefusal(t, got, protocol.FaultOf(code).Status, code, "")
			require.Contains(t, string(got.body), "words for the caller", name)
			require.NotContains(t, string(got.body), "secret")
			require.Equal(t, got.status == 503, got.header.Get("Retry-After") == "1")
		}
		for _, target := range []string{orders, billing, monitoring + "/members", base + "/streams", billing + "/producer-routing", billing + "/events", resharding} {
			requireRefusal(t, a.call(t, "GET", target, ""), protocol.FaultOf(code).Status, code, "")
		}
	}
}

func TestOtherErrorsAndPanicsFromBelowSayNothing(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	for name, fail := range map[string]func(context.Context) error{
		"error": func(context.Context) error { return errors.New("redis://secret@10.0.0.1 refused") },
		"panic": func(context.Context) error { panic("secret invariant") },
	} {
		a.before = fail
		for _, taker := range takers() {
			got := a.call(t, taker.method, taker.target, taker.body)
			requireRefusal(t, got, 500, protocol.CodeInternal, "")
			require.NotContains(t, string(got.body), "secret", name)
		}
		requireRefusal(t, a.call(t, "GET", billing+"/producer-routing", ""), 500, protocol.CodeInternal, "")
	}
	a.before, a.heartbeat = nil, nil
	requireRefusal(t, a.call(t, "POST", beat, goodBeat), 500, protocol.CodeInternal, "")
}

func TestALayerThatHangsIsLeftAfterTheTimeLimit(t *testing.T) {
	t.Parallel()
	a := startAPI(t, func(config *httpapi.Config, _ *httpx.Limits) {
		config.CallTimeout, config.MutationTimeout = 20*time.Millisecond, 40*time.Millisecond
	})
	a.before = func(ctx context.Context) error {
		<-ctx.Done()
		return fmt.Errorf("wait for the worker: %w", ctx.Err())
	}
	for _, taker := range takers() {
		got := a.call(t, taker.method, taker.target, taker.body)
		requireRefusal(t, got, 503, protocol.CodeStoreUnavailable, "")
		require.Equal(t, "1", got.header.Get("Retry-After"))
	}
	requireRefusal(t, a.call(t, "GET", orders, ""), 503, protocol.CodeStoreUnavailable, "")
}

func TestHealthReadinessAndVersion(t *testing.T) {
	t.Parallel()
	build := protocol.VersionResponse{Version: "0.1.0", Commit: "abc", GoVersion: "go1.26"}
	a := startAPI(t, func(config *httpapi.Config, _ *httpx.Limits) { config.Build = build })
	a.health = protocol.HealthResponse{Status: protocol.HealthDegraded, CoordinatorID: "c1", Redis: "DOWN: refused", Loop: "UP"}

	require.JSONEq(t, `{"status":"UP"}`, string(a.call(t, "GET", "/healthz", "").body))
	require.JSONEq(t, `{"status":"UP"}`, string(a.call(t, "GET", "/readyz", "").body))
	require.JSONEq(t, `{"version":"0.1.0","commit":"abc","goVersion":"go1.26"}`, string(a.call(t, "GET", "/version", "").body))
	health := a.call(t, "GET", base+"/monitoring/health", "")
	require.Equal(t, 200, health.status, "dashboards read the body")
	require.JSONEq(t, `{"status":"DEGRADED","coordinatorId":"c1","redis":"DOWN: refused","loop":"UP","problems":[]}`, string(health.body))

	a.notReady = protocol.Errorf(protocol.CodeRedisNotConfigured, "no store")
	requireRefusal(t, a.call(t, "GET", "/readyz", ""), 503, protocol.CodeRedisNotConfigured, "")
	a.notReady = errors.New("redis://secret@10.0.0.1")
	got := a.call(t, "GET", "/readyz", "")
	requireRefusal(t, got, 503, protocol.CodeStoreUnavailable, "")
	require.NotContains(t, string(got.body), "secret")
	require.Equal(t, 200, a.call(t, "GET", "/healthz", "").status, "a process without its store lives")
}

func TestCompatibilityReportsTheRunningTiming(t *testing.T) {
	t.Parallel()
	a := startAPI(t, func(config *httpapi.Config, _ *httpx.Limits) {
		config.Timing = httpapi.Timing{HeartbeatInterval: 1500 * time.Millisecond, RebalanceTimeout: time.Hour + 2*time.Minute + 3*time.Second}
	})
	require.JSONEq(t, `{
		"currentCoordinationVersion": 1,
		"supportedCoordinationVersions": {"min": 1, "max": 1},
		"coordinationVersions": [{
			"version": 1, "status": "ACTIVE", "deprecatedIn": null, "removedIn": null,
			"introducedIn": {"major": 0, "minor": 1, "patch": 0, "qualifier": null, "version": "0.1.0"},
			"minimumSupportedUntil": {"major": 1, "minor": 0, "patch": 0, "qualifier": null, "version": "1.0.0"},
			"timingDefaults": {"heartbeatInterval": "PT1.5S", "memberLeaseTtl": "PT10S", "rebalanceTimeout": "PT1H2M3S"}
		}]}`, string(a.call(t, "GET", base+"/monitoring/compatibility", "").body))
}

func TestBasePathIsConfigurable(t *testing.T) {
	t.Parallel()
	for prefix, target := range map[string]string{
		"/api/coordinator/": "/api/coordinator/streams", "/x": "/x/streams", "/": "/streams",
	} {
		a := startAPI(t, func(config *httpapi.Config, _ *httpx.Limits) { config.BasePath = prefix })
		require.Equal(t, 200, a.call(t, "GET", target, "").status)
		require.Equal(t, 404, a.call(t, "GET", base+"/streams", "").status)
		require.Equal(t, 200, a.call(t, "GET", "/healthz", "").status)
		requireRefusal(t, a.call(t, "PUT", target, "{}"), 405, protocol.CodeMethodNotAllowed, "")
	}
}

func TestRequestIDIsEchoedOrMade(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	for id, taken := range map[string]bool{"trace.1:a_B-9": true, strings.Repeat("x", 129): false, "a b": false, "<script>": false} {
		for _, target := range []string{orders, "/nothing", base + "/streams/%2e%2e"} {
			got := a.call(t, "GET", target, "", "X-Request-Id: "+id)
			require.Equal(t, taken, got.header.Get("X-Request-Id") == id)
			require.NotEmpty(t, got.header.Get("X-Request-Id"))
			if got.status >= 400 {
				requireRefusal(t, got, got.status, protocol.Code(fieldOf(t, got, "errorCode")), "")
			}
		}
	}
}

func TestTheRequestIDReachesTheLayersBelow(t *testing.T) {
	t.Parallel()
	a := startAPI(t)
	ids := make(chan string, 1)
	a.before = func(ctx context.Context) error {
		ids <- httpx.RequestID(ctx)
		return nil
	}
	a.call(t, "POST", beat, goodBeat, "X-Request-Id: id-7")
	require.Equal(t, "id-7", <-ids)
}

func TestHeartbeatsAreLoggedQuietly(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
	below := newLayer()
	deps := below.deps()
	deps.Log = log
	handler := httpapi.New(httpapi.Config{}, deps)
	ask := func(method, target, body string) map[string]any {
		lines.Reset()
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		handler.ServeHTTP(httptest.NewRecorder(), r)
		line := map[string]any{}
		require.NoErrorf(t, json.Unmarshal(lines.Bytes(), &line), "one line: %s", lines.String())
		return line
	}
	line := ask(http.MethodPost, beat, goodBeat)
	require.Equal(t, "DEBUG", line["level"])
	require.Equal(t, base+"/streams/{streamPrefix}/groups/{consumerGroup}/members/{memberId}/heartbeat", line["route"])
	require.Equal(t, "DEBUG", ask(http.MethodPost, beat, "{}")["level"], "a broken client does not flood the log")
	require.Equal(t, "INFO", ask(http.MethodGet, orders, "")["level"])
	below.reject = protocol.Errorf(protocol.CodeStoreUnavailable, "away")
	line = ask(http.MethodPost, beat, goodBeat)
	require.Equal(t, "WARN", line["level"])
	require.NotEmpty(t, line["requestId"])
}

func fieldOf(t *testing.T, got said, name string) string {
	t.Helper()
	fields := map[string]any{}
	require.NoError(t, json.Unmarshal(got.body, &fields))
	text, _ := fields[name].(string)
	return text
}
