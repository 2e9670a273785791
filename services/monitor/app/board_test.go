package app

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/httpapi"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

func TestAMonitorWhoseRoundsHaveStoppedIsNotReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &board{book: rates.NewBook(time.Minute), feed: httpapi.NewFeed(0), stale: 30 * time.Second, observed: func(facts.Round) {}}
		_, there := b.Look()
		require.False(t, there)
		b.publish(facts.Round{Number: 1})
		look, there := b.Look()
		require.True(t, there)
		require.EqualValues(t, 1, look.Round.Number)
		require.NoError(t, clock.Sleep(t.Context(), 30*time.Second))
		require.NoError(t, b.Ready(t.Context()))
		require.NoError(t, clock.Sleep(t.Context(), time.Second))
		require.ErrorContains(t, b.Ready(t.Context()), "31s old")
		b.publish(facts.Round{Number: 2})
		require.NoError(t, b.Ready(t.Context()))
	})
}

// What becomes of groups between rounds is shown with what is known of their shards, and makes no
// monitor ready whose rounds have stopped.
func TestGroupsChangeBetweenRounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &board{book: rates.NewBook(time.Minute), feed: httpapi.NewFeed(0), stale: 30 * time.Second, observed: func(facts.Round) {}}
		b.restructure([]facts.Group{{Problem: "before any round"}})
		_, there := b.Look()
		require.False(t, there)
		round := facts.Round{Number: 1, Problem: "away", Groups: []facts.Group{{}, {}}, Streams: []facts.Stream{{Prefix: "orders"}}}
		b.publish(round)
		require.NoError(t, clock.Sleep(t.Context(), 31*time.Second))
		b.restructure([]facts.Group{{Problem: "one is left"}})
		look, _ := b.Look()
		require.Equal(t, []facts.Group{{Problem: "one is left"}}, look.Round.Groups)
		require.Empty(t, look.Round.Problem)
		require.Equal(t, round.Streams, look.Round.Streams)
		require.EqualValues(t, 1, look.Round.Number)
		require.Len(t, round.Groups, 2, "a round is not changed")
		require.Error(t, b.Ready(t.Context()))
	})
}
