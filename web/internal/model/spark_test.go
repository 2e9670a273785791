package model_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
)

// lagged is the line of the lag that a group's page shows for samples.
func lagged(values ...*float64) model.Spark {
	scene := sceneOf(nil, nil, func(_ *protocol.MonitoredGroup, d *model.GroupDetails) {
		d.Samples = &protocol.Samples{StepMs: 15_000, Lag: values}
	})
	return *pageOf(scene).Head.Facts[2].Spark
}

// Monitoring, Console: what nobody knows is a gap, and never 0.
func TestALineHasGapsWhereNothingIsKnown(t *testing.T) {
	t.Parallel()
	values := make([]*float64, model.GroupSamples)
	values[56], values[57], values[59] = new(100.0), new(50.0), new(0.0)
	drawn := lagged(values...)
	require.Equal(t, []string{"112,0 114,10", "118,20 118,20"}, drawn.Lines, "one on its own is a dot")
	require.Equal(t, 118, drawn.Width)
	require.Equal(t, "Lag of the last 15 min: up to 100, newest 0, partly not known", drawn.Says)

	for _, unknown := range []model.Spark{lagged(), lagged(make([]*float64, 60)...), *pageOf(sceneOf(nil, nil)).Head.Facts[2].Spark} {
		require.Empty(t, unknown.Lines)
		require.Equal(t, 118, unknown.Width, "it takes the same room")
		require.Equal(t, "Lag of the last minutes: not known", unknown.Says)
	}
}

func TestALineIsDrawnFromNothingToTheHighest(t *testing.T) {
	t.Parallel()
	same := make([]*float64, model.GroupSamples)
	for i := range same {
		same[i] = new(7.0)
	}
	require.Equal(t, []string{"0,0 118,0"}, lagged(same...).Lines, "what stays the same is short")
	require.Equal(t, "Lag of the last 15 min: up to 7.0, newest 7.0", lagged(same...).Says)
	for i := range same {
		same[i] = new(0.0)
	}
	require.Equal(t, []string{"0,20 118,20"}, lagged(same...).Lines)
	require.Equal(t, []string{"116,20 118,0"}, lagged(new(1.0), new(math.MaxFloat64)).Lines, "fewer are the newest")
	require.Empty(t, lagged(make([]*float64, 500)...).Lines)
	more := make([]*float64, 500)
	more[499] = new(3.0)
	require.Equal(t, []string{"118,0 118,0"}, lagged(more...).Lines, "more than were asked for")
	for _, odd := range []float64{math.NaN(), math.Inf(1), -5} {
		for _, line := range lagged(&odd, new(1.0)).Lines {
			require.NotContains(t, line, "-", line)
		}
	}
}

// Monitoring, Console: rates with lines; P26: a page stays below 300 kB.
func TestEachRowOfTheOverviewHasItsLines(t *testing.T) {
	t.Parallel()
	samples := &protocol.Samples{StepMs: 30_000, ProducedPerSecond: make([]*float64, 30), ConsumedPerSecond: make([]*float64, 30)}
	samples.ProducedPerSecond[28], samples.ProducedPerSecond[29] = new(40.0), new(20.0)
	page := model.NewOverview([]protocol.GrafanaGroupRow{
		{StreamPrefix: "a", ConsumerGroup: "g", Samples: samples}, {StreamPrefix: "b", ConsumerGroup: "g"},
	}, model.OverviewQuery{Sort: "name"}, "/console")
	require.Equal(t, []string{"56,0 58,10"}, page.Lines[0].ProducedSpark.Lines)
	require.True(t, strings.HasPrefix(page.Lines[0].ProducedSpark.Says, "Produced/s of the last 15 min: up to 40, newest 20"))
	require.Empty(t, page.Lines[0].ConsumedSpark.Lines)
	require.Equal(t, page.Lines[0].ProducedSpark.Width, page.Lines[1].ConsumedSpark.Width)
}

func TestSamplesStayUntilTheyAreOld(t *testing.T) {
	t.Parallel()
	var none *model.Scene
	require.False(t, none.SamplesDue())
	scene := followed(nil, 0, true, nil)
	require.True(t, scene.SamplesDue())
	scene = scene.WithSamples(nil)
	require.False(t, scene.SamplesDue(), "nobody knows any")
	name := protocol.GroupName{StreamPrefix: "orders", ConsumerGroup: "billing"}
	scene = scene.WithSamples([]protocol.GrafanaGroupRow{{StreamPrefix: name.StreamPrefix, ConsumerGroup: name.ConsumerGroup, Samples: &protocol.Samples{StepMs: 7}}})
	later := followed(scene, 9, false, new(int64(3)))
	require.False(t, later.SamplesDue())
	require.Equal(t, int64(7), later.GroupRows()[0].Samples.StepMs, "news of a round keep them")
	require.Nil(t, later.Groups[name].Samples, "rows are shared")
	require.True(t, followed(scene, 10, false, nil).SamplesDue())
	require.True(t, followed(scene, -1, false, nil).SamplesDue(), "the clock was set back")
	require.NotNil(t, followed(scene, 3, true, nil).Samples, "a new connection does not make the page forget")
}
