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
