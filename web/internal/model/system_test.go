package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/model"
)

// set is a part of a service with a few settings, by key and value in turns.
func set(service string, pairs ...string) protocol.SystemPart {
	process := &protocol.SystemProcess{Service: service}
	for i := 0; i < len(pairs); i += 2 {
		process.Configuration = append(process.Configuration, protocol.SystemSetting{Key: pairs[i], Value: pairs[i+1], Masked: pairs[i+1] == "********"})
	}
	return protocol.SystemPart{Service: service, Process: process}
}

func system(parts ...protocol.SystemPart) model.System {
	return model.NewSystem(model.Known{
		System:  model.Part[protocol.SystemResponse]{Answer: &protocol.SystemResponse{Parts: parts}},
		Gateway: model.Part[protocol.VersionResponse]{Answer: &protocol.VersionResponse{}},
		Health:  model.Part[protocol.HealthResponse]{Kept: true}, Monitor: model.Part[model.Scene]{Kept: true},
	}, clock.Now(), "/console")
}

func TestOnlySettingsThatCoordinatorsShouldShareMustBeTheSame(t *testing.T) {
	t.Parallel()
	same := set("coordinator", "listen", ":1", "metrics-listen", ":2", "redis.url", "********", "coordination.member-lease-ttl", "10s")
	other := set("coordinator", "listen", ":3", "metrics-listen", ":4", "redis.url", "", "coordination.member-lease-ttl", "10s", "limits.new", "1")
	require.Empty(t, system(same, other, set("monitor", "coordination.member-lease-ttl", "1s")).Problems)

	apart := set("coordinator", "coordination.member-lease-ttl", "30s")
	found := system(same, apart, other, apart).Problems
	require.Len(t, found, 1)
	require.Equal(t, "warn", found[0].Tone)
	require.Equal(t, []string{"coordination.member-lease-ttl: 10s and 30s"}, found[0].Details)
}

func TestEveryPartThatDoesNotAnswerIsOneProblem(t *testing.T) {
	t.Parallel()
	page := system(
		protocol.SystemPart{Service: "coordinator", Address: new("http://c"), Problem: new("cannot be reached (connect: connection refused); look whether it runs")},
		protocol.SystemPart{Service: "monitor", Address: new("http://m"), Problem: new("is terminating")}, protocol.SystemPart{Service: "other"},
	)
	require.Equal(t, []model.Problem{
		{Tone: "bad", Title: "Coordinator http://c does not tell what it is", Text: "It cannot be reached (connect: connection refused).", Advice: "Look whether it runs."},
		{Tone: "bad", Title: "Monitor http://m does not tell what it is", Text: "It is terminating.", Advice: "Look whether it runs, and at its log."},
		{Tone: "bad", Title: "other does not tell what it is", Text: "It does not answer.", Advice: "Look whether it runs, and at its log."},
	}, page.Problems)
	require.Equal(t, "does not answer", page.Processes[0].State)
	require.Equal(t, model.Unknown, page.Processes[0].Version)
	require.Empty(t, page.Settings)
}

func TestABuildThatIsNotTheConsolesIsNoted(t *testing.T) {
	t.Parallel()
	one, two := set("gateway"), set("monitor")
	require.False(t, system(one, two).Differ)
	two.Process.Version.Commit = "abc"
	require.True(t, system(one, two).Differ)
}
