package explore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group/explore"
)

// breaks lets events happen in a setup as it is, where all of them must be possible and nothing
// may break, and with a guard left out, where two processes must read one shard (I1).
func breaks(t *testing.T, setup explore.Setup, flaw string, events []explore.Event) {
	t.Helper()
	w, done := explore.Replay(setup, events, true)
	require.Nil(t, w.Broken())
	require.Len(t, done, len(events))
	setup.Flaw = flaw
	w, _ = explore.Replay(setup, events, false)
	require.NotNil(t, w.Broken())
	require.Equal(t, "I1", w.Broken().Invariant)
}

// TestATouchOnACachedStateRenewsNoLeaseThatHasRunOut was found by walks (seed 5, mix "old
// clients, lost"), and is rare for them. The old client 2 has both shards, and is silent for
// longer than its lease. C2 gives its shards away and the store loses that; C1 has the state
// cached that the store comes back to (H3, M1).
func TestATouchOnACachedStateRenewsNoLeaseThatHasRunOut(t *testing.T) {
	t.Parallel()
	setup := explore.Mix("old clients, lost", 2, 3, explore.OldClients, explore.FailOvers, explore.Duplicates)
	breaks(t, setup, "touch renews what has run out", []explore.Event{
		{Kind: explore.Start, Arg: 1, Life: 1},
		{Kind: explore.Start, Life: 2, Mode: 1},
		{Kind: explore.RoundTrip, Life: 2, Pod: 1},
		{Kind: explore.Start, Arg: 2, Life: 3, Mode: 1},
		{Kind: explore.Pause, Arg: 6},
		{Kind: explore.RoundTrip, Life: 1, Mode: 1},
		{Kind: explore.Pause, Arg: 2},
		{Kind: explore.RoundTrip, Life: 3, Pod: 1, Mode: 1},
		{Kind: explore.FailOver, Arg: 1},
		{Kind: explore.RoundTrip, Life: 2, Mode: 1},
	})
}

// TestATouchOfAnotherStoresStateIsRefused: a decision on a state just loaded may renew what has
// run out, in the grace after nobody has served the group (T1). The old client 1 is heard by C1
// at the end of that; before its touch C2 gives the shard away, and the store loses that.
func TestATouchOfAnotherStoresStateIsRefused(t *testing.T) {
	t.Parallel()
	setup := explore.Mix("grace", 1, 2, explore.OldClients, explore.FailOvers)
	breaks(t, setup, "touch ignores identity", []explore.Event{
		{Kind: explore.Start, Life: 1, Mode: 1},
		{Kind: explore.RoundTrip, Life: 1},
		{Kind: explore.Start, Arg: 1, Life: 2},
		{Kind: explore.Pause, Arg: 7},
		{Kind: explore.RoundTrip, Life: 2, Pod: 1}, // grace for 10 s
		{Kind: explore.Pause, Arg: 3},
		{Kind: explore.RoundTrip, Life: 2, Pod: 1},
		{Kind: explore.Pause, Arg: 2},
		{Kind: explore.RoundTrip, Life: 2, Pod: 1},
		{Kind: explore.Send, Life: 1},
		{Kind: explore.Deliver, Life: 1, Mode: explore.Later},
		{Kind: explore.Pause, Arg: 2},
		{Kind: explore.RoundTrip, Life: 2, Pod: 1},
		{Kind: explore.FailOver, Arg: 1},
		{Kind: explore.Conclude},
		{Kind: explore.Return, Life: 1},
	})
}
