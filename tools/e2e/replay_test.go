package e2e_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// replayBudget bounds one replay of the default size.
const replayBudget = 4 * time.Minute

func TestReplaySurvivesKilledConsumers(t *testing.T) {
	t.Parallel()
	replayWithKills(t, startSuite(t))
}

func TestReplaySurvivesKilledConsumersOnACluster(t *testing.T) {
	t.Parallel()
	replayWithKills(t, startClusterSuite(t))
}

// replayWithKills replays with consumers in processes of their own, of which three are
// killed with SIGKILL, with default timing.
func replayWithKills(t *testing.T, s *suite) {
	t.Helper()
	input, records := source(t)
	p := start(t, "replay", "replay", slices.Concat([]string{"run"}, input, []string{
		"--shards", strconv.Itoa(shards), "--consumers", "3", "--processes", "--kill", "3", "--join", "1",
		"--work", "300us", "--ledgers", s.ledgers, "--coordinator", s.url(), "--redis", s.redis, "--json", "--verbose",
		"--timeout", "1h",
	})...)
	budget := replayBudget
	if records > 0 {
		budget *= time.Duration(1 + records/100_000)
	} else {
		budget = time.Hour
	}
	select {
	case <-p.done:
	case <-time.After(budget):
		require.Fail(t, "replay does not end", p.all.tail())
	}
	r := parse(t, p)
	t.Logf("%s", strings.SplitN(string(p.all.bytes()), "\n", 2)[0])
	t.Logf("handled %d of %d, lost %d, duplicates %d (%d of killed consumers, %d published twice), "+
		"keys %d (%d out of order), %d shards changed hands, %.1f s, %.0f records/s", r.Handled, r.Records, r.Lost,
		r.Duplicates.Total, r.Duplicates.Killed, r.Duplicates.Republished, r.Keys, r.OutOfOrderKeys, r.Moves,
		r.Seconds, r.RecordsPerSecond)
	require.Zero(t, p.exitCode(), r.Faults)
	require.True(t, r.Holds, r.Faults)
	require.Empty(t, r.Faults)
	if records > 0 {
		require.Equal(t, records, r.Records)
	}
	require.Equal(t, 3, r.Killed)
	require.Equal(t, 7, r.Consumers, "three at the beginning, one in the place of each that was killed, one more")
	require.Positive(t, r.Moves)

	all := s.allLedgers()
	require.Equal(t, proven{acked: r.Records, handled: r.Records, handlings: r.Handlings}, prove(all),
		"the ledgers as the test reads them")
	requireSpreadKills(t, all, r.Records)
}

// requireSpreadKills looks for the ledgers that just stop: between their ends much was
// handled, so the kills did not come all at once.
func requireSpreadKills(t *testing.T, all map[string][]entry, records int) {
	t.Helper()
	var ends, stops []time.Time
	for name, entries := range all {
		for _, one := range of("end", entries) {
			ends = append(ends, one.at())
		}
		if last := entries[len(entries)-1]; last.Kind != "close" {
			stops = append(stops, last.at())
			require.NotEmpty(t, of("end", entries), "%s was at work when it was killed", name)
		}
	}
	require.Len(t, stops, 3)
	slices.SortFunc(stops, time.Time.Compare)
	for i := 1; i < len(stops); i++ {
		between := 0
		for _, end := range ends {
			if end.After(stops[i-1]) && end.Before(stops[i]) {
				between++
			}
		}
		require.Greater(t, between, records/10, "records handled between kill %d and %d", i, i+1)
	}
}

// source returns the flags for the records to replay and their number, 0 if it is not
// known.
func source(t *testing.T) (flags []string, records int) {
	t.Helper()
	if file := os.Getenv("RSC_E2E_FILE"); file != "" {
		return []string{"--file", file, "--format", "lines", "--key", "1"}, 0
	}
	records = 30_000
	if text := os.Getenv("RSC_E2E_RECORDS"); text != "" {
		var err error
		records, err = strconv.Atoi(text)
		require.NoError(t, err, "RSC_E2E_RECORDS")
	}
	return []string{"--generate", fmt.Sprint(records), "--seed", "1"}, records
}
