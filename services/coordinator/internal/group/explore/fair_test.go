package explore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group/explore"
)

// TestAnOldClientThatALateRequestLetInIsNotAtRest: it knows nothing of its new life, and has to
// begin anew (E4); that it reads as little as it is to read does not make the group stable (I15).
// The first request of the old client 4 comes when a later one has been fenced.
func TestAnOldClientThatALateRequestLetInIsNotAtRest(t *testing.T) {
	t.Parallel()
	setup := explore.Mix("late join", 2, 3, explore.OldClients, explore.BadReports)
	events := []explore.Event{
		{Kind: explore.Start, Arg: 1, Life: 2, Mode: 1},
		{Kind: explore.Start, Arg: 2, Life: 3, Mode: 1},
		{Kind: explore.Start, Life: 4, Mode: 1},
		{Kind: explore.Lie, Life: 4},
		{Kind: explore.Calm, Arg: 22},
		{Kind: explore.Send, Life: 4},
		{Kind: explore.Lie, Life: 4},
		{Kind: explore.Deliver, Life: 4, Age: 2, Mode: explore.Later},
		{Kind: explore.Deliver, Life: 4, Pod: 1},
	}
	w, done := explore.Replay(setup, events, true)
	require.Nil(t, w.Broken())
	require.Len(t, done, len(events))
}
