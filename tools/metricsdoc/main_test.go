package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// committed is the page that people read.
var committed = filepath.Join("..", "..", "docs", "metrics.md")

func TestTheCommittedPageIsTheOneThatIsWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "metrics.md")
	require.Zero(t, run(t.Context(), []string{"-out", path}, io.Discard))
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	got, err := os.ReadFile(committed)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "a metric is registered and not told, or told and gone: run make generate")
	require.NotZero(t, run(t.Context(), []string{"-out", filepath.Join(path, "below")}, io.Discard))
}

// Contract, metric names: dashboards of the original read these.
func TestThePageHasEveryNameOfTheContractWithItsTypeAndLabels(t *testing.T) {
	t.Parallel()
	found, err := services(t.Context())
	require.NoError(t, err)
	text := page(found)
	const own, member = "coordinator, stream, group", "stream, group, member"
	for line, labels := range map[string]string{
		"up` | gauge":                                  own[:len("coordinator")],
		"heartbeat_total` | counter":                   own + ", status",
		"member_expired_total` | counter":              own,
		"rebalance_total` | counter":                   own + ", reason",
		"rebalance_duration_seconds` | timer":          own + ", reason",
		"scale_request_total` | counter":               own + ", status",
		"scale_request_failed_total` | counter":        own + ", status",
		"producer_routing_request_total` | counter":    own + ", status",
		"tick_total` | counter":                        "coordinator, changed",
		"tick_duration_seconds` | timer":               "coordinator, changed",
		"state_conflict_total` | counter":              "coordinator, operation, attempt",
		"api_request_total` | counter":                 "method, route, status, outcome, stream, group",
		"api_request_duration_seconds` | timer":        "method, route, status, outcome, stream, group",
		"members` | gauge":                             "stream, group, state",
		"migration_active` | gauge":                    "stream, group",
		"revoke_pending` | gauge":                      "stream, group",
		"invariant_violations` | gauge":                "stream, group",
		"member_heartbeat_age_seconds` | gauge":        member,
		"consumer_shard_pending` | gauge":              member + ", shard",
		"shard_lag` | gauge":                           "stream, group, shard, stream_key",
		"shard_pending` | gauge":                       "stream, group, shard, stream_key",
		"shard_stream_length` | gauge":                 "stream, group, shard, stream_key",
		"shard_memory_usage_bytes` | gauge":            "stream, group, shard, stream_key",
		"shard_consumer_last_acked_seq` | gauge":       "stream, group, shard, stream_key",
		"member_lease_remaining_seconds` | gauge":      member,
		"migration_active_age_seconds` | gauge":        "stream, group",
		"invariant_violation_total` | counter":         "stream, group",
		"assignment_epoch` | gauge":                    "stream, group",
		"group_epoch` | gauge":                         "stream, group",
		"member_runtime_max_concurrency` | gauge":      member,
		"shard_group_last_delivered_seq` | gauge":      "stream, group, shard, stream_key",
		"consumer_shard_last_delivered_ms` | gauge":    member + ", shard",
		"consumer_shard_progress_age_seconds` | gauge": member + ", shard",
	} {
		require.Contains(t, text, "| `redis_stream_coord_"+line+" | "+labels+" |")
	}
}

// A sum over all services counts nothing twice.
func TestNoTwoServicesHaveAMetricButWhatAllHave(t *testing.T) {
	t.Parallel()
	found, err := services(t.Context())
	require.NoError(t, err)
	text := page(found)
	for _, s := range found {
		for _, m := range s.metrics {
			require.LessOrEqual(t, strings.Count(text, "| `"+m.name+"` |"), 1, m.name)
		}
	}
}

func TestDescriptionsAreReadWhole(t *testing.T) {
	t.Parallel()
	got, err := parse(`Desc{fqName: "a_total", help: "says \"x\", {y}", unit: "", constLabels: {one="1, two=",two="2"}, variableLabels: {three,four}}`)
	require.NoError(t, err)
	require.Equal(t, metric{name: "a_total", help: `says "x", {y}`, labels: []string{"one", "two", "three", "four"}}, got)
	_, err = parse("something else")
	require.ErrorIs(t, err, errDescription)
}
