package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Monitoring, Console: the first picture of a page has its lines already.
func TestSamplesComeWithTheGroupsWhereTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	m := serving(t)
	for round := range int64(5) {
		m.publish(roundOf(2 + round))
	}
	require.NotContains(t, string(m.get(http.StatusOK, rowsOf+"/groups")), "samples", "dashboards have not asked")
	require.NotContains(t, string(m.get(http.StatusOK, billing)), "samples")

	rows := read[[]protocol.GrafanaGroupRow](m, rowsOf+"/groups?samples=30")
	require.Len(t, rows, 2)
	for _, row := range rows {
		requireLine(t, row.Samples, 30)
	}
	requireLine(t, read[protocol.MonitoredGroup](m, billing+"?samples=60").Samples, 60)
	events := m.listen("")
	for range 2 { // the pause that is asked for, and the first event
		told, more := events.next()
		require.True(t, more)
		require.NotContains(t, told.data, "samples", "events tell of one round")
	}
}

func requireLine(t *testing.T, samples *protocol.Samples, count int) {
	t.Helper()
	require.NotNil(t, samples)
	require.Len(t, samples.ProducedPerSecond, count)
	require.Len(t, samples.Lag, count)
	require.Equal(t, int64(60_000/count), samples.StepMs)
	require.Nil(t, samples.ConsumedPerSecond[0], "nobody has looked then")
	require.InDelta(t, 4, *samples.ConsumedPerSecond[count-1], 0.1, "10 entries in 5 s on each of 2 shards")
	require.NotNil(t, samples.Lag[count-1])
}

func TestAnotherNumberOfSamplesIsRefused(t *testing.T) {
	t.Parallel()
	m := serving(t)
	for _, target := range []string{rowsOf + "/groups", billing} {
		for _, query := range []string{"samples=0", "samples=61", "samples=-1", "samples=x", "samples=1&samples=2", "Samples=3"} {
			require.Equal(t, protocol.CodeInvalidRequest, m.code(400, target+"?"+query), query)
		}
		m.get(http.StatusOK, fmt.Sprintf("%s?samples=%d", target, protocol.MaxSamples))
		m.get(http.StatusOK, target+"?samples=")
	}
}
