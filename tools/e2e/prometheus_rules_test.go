package e2e_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// prometheusDir is where the scrape configuration and the rules are.
var prometheusDir = filepath.Join("..", "..", "prometheus")

// Parts of rules and of their tests.
var (
	ruleBlock     = regexp.MustCompile(`(?m)^      - (?:alert|record): `)
	ruleName      = regexp.MustCompile(`^[\w:]+`)
	ruleMetric    = regexp.MustCompile(`(?:^|[^:\w])(redis_stream_coord_\w+)`)
	rulePage      = regexp.MustCompile(`runbook_url: docs/operations-runbook\.md#(\S+)`)
	alertSilent   = regexp.MustCompile(`alertname: (\w+), eval_time: \w+, exp_alerts: \[\]`)
	alertFires    = regexp.MustCompile(`alertname: (\w+)\n +eval_time: \w+\n +exp_alerts:\n +- exp_labels`)
	runbookTitle  = regexp.MustCompile(`(?m)^## (.+)$`)
	notInAnAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// readAll returns the texts of files.
func readAll(t *testing.T, pattern ...string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(pattern...))
	require.NoError(t, err)
	require.NotEmpty(t, paths, pattern)
	texts := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		texts[path] = string(text)
	}
	return texts
}

// ruleTexts returns the text of every rule by its name; alerts are those that say so.
func ruleTexts(t *testing.T) (alerts, records map[string]string) {
	t.Helper()
	alerts, records = map[string]string{}, map[string]string{}
	for path, text := range readAll(t, prometheusDir, "rules", "*.yml") {
		starts := ruleBlock.FindAllStringIndex(text, -1)
		for i, start := range starts {
			end := len(text)
			if i+1 < len(starts) {
				end = starts[i+1][0]
			}
			body := text[start[1]:end]
			name := ruleName.FindString(body)
			require.NotEmpty(t, name, path)
			into := records
			if strings.Contains(text[start[0]:start[1]], "alert") {
				into = alerts
			}
			require.NotContains(t, into, name, "a name is given once")
			into[name] = body
		}
	}
	require.NotEmpty(t, alerts)
	require.NotEmpty(t, records)
	return alerts, records
}

// metricsOfRules are the names of the suite that the rules read.
func metricsOfRules(t *testing.T) []string {
	t.Helper()
	alerts, records := ruleTexts(t)
	found := map[string]bool{}
	for _, one := range []map[string]string{alerts, records} {
		for _, body := range one {
			for _, match := range ruleMetric.FindAllStringSubmatch(body, -1) {
				found[match[1]] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func TestPromtoolFindsTheRulesSoundAndTheirTestsPass(t *testing.T) {
	t.Parallel()
	tests := slices.Sorted(maps.Keys(readAll(t, prometheusDir, "rules", "tests", "*.yml")))
	for _, args := range [][]string{
		{"check", "config", filepath.Join(prometheusDir, "prometheus.yml")},
		append([]string{"test", "rules"}, tests...),
	} {
		said, err := exec.CommandContext(t.Context(), "promtool", args...).CombinedOutput()
		require.NoError(t, err, "promtool %v (scripts/with-test-tools brings it):\n%s", args, said)
	}
}

// monitoring, Prometheus: each with summary, description, runbook link, and a unit test that
// makes it fire and not fire.
func TestEveryAlertSaysWhatToDoAndIsTestedBothWays(t *testing.T) {
	t.Parallel()
	runbook, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations-runbook.md"))
	require.NoError(t, err)
	pages := map[string]bool{}
	for _, title := range runbookTitle.FindAllStringSubmatch(string(runbook), -1) {
		pages[strings.ReplaceAll(notInAnAnchor.ReplaceAllString(strings.ToLower(title[1]), ""), " ", "-")] = true
	}
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, text := range readAll(t, prometheusDir, "rules", "tests", "*.yml") {
		for _, match := range alertFires.FindAllStringSubmatch(text, -1) {
			fires[match[1]] = true
		}
		for _, match := range alertSilent.FindAllStringSubmatch(text, -1) {
			silent[match[1]] = true
		}
	}
	alerts, _ := ruleTexts(t)
	for name, body := range alerts {
		require.Contains(t, body, "\n          summary: ", name)
		require.Contains(t, body, "\n          description: ", name)
		require.Contains(t, body, "\n          severity: ", name)
		page := rulePage.FindStringSubmatch(body)
		require.NotNil(t, page, "%s names its page", name)
		require.True(t, pages[page[1]], "%s: the runbook has no page %s", name, page[1])
		require.True(t, fires[name], "no test makes %s fire", name)
		require.True(t, silent[name], "no test keeps %s silent", name)
	}
}

// The alerts that have to be there: all of source document 003, and those that monitoring adds.
func TestNoAlertThatIsAskedForIsMissing(t *testing.T) {
	t.Parallel()
	alerts, _ := ruleTexts(t)
	for reason, name := range map[string]string{
		"member expiration spike":                                    "MemberExpirationSpike",
		"revoke pending age exceeds threshold":                       "RevokePendingTooLong",
		"group epoch changed but assignment epoch does not progress": "AssignmentEpochStuck",
		"duplicate owner invariant violation":                        "DuplicateOwner",
		"active resharding remains in progress too long":             "ReshardingTooLong",
		"Redis metadata write failures":                              "MetadataWriteFailures",
		"store revision conflict spike":                              "StoreConflictSpike",
		"monitoring projection refresh failures":                     "ObservationFails",
		"producer stale routing refresh spike":                       "StaleRoutingSpike",
		"higher client versions":                                     "ClientsAheadOfMetadata",
		"unknown lag during a drain":                                 "LagUnknownDuringDrain",
		"trimmed unread":                                             "TrimmedUnread",
		"audit sink down":                                            "AuditSinkDown",
	} {
		require.Contains(t, alerts, name, reason)
	}
}
