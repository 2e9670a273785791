package explore_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group/explore"
)

// flawed makes walks of a setup with a guard left out until one of the invariants is broken;
// another one may be, too.
func flawed(t *testing.T, setup explore.Setup, from uint64, invariants ...string) {
	t.Helper()
	setup.Fair = slices.Contains(invariants, "P1") // which shows at the end
	for n := range uint64(20_000) {
		w, events := explore.Walk(setup, newSeeded(7, from+n))
		if found := w.Broken(); found != nil && slices.Contains(invariants, found.Invariant) {
			short := explore.Shrink(setup, events, found.Invariant)
			t.Logf("%s by walk %d, %d events, shrunk to %d", found.Invariant, from+n, len(events), len(short))
			return
		}
	}
	require.Fail(t, "no walk has found the flaw")
}

// TestEveryGuardOutsideTheCoreIsNeeded leaves out one guard of the store at a time: the walks
// must find that two members read one shard, or another invariant broken. It shows that the
// exploration can fail, and that the core relies on its partners.
func TestEveryGuardOutsideTheCoreIsNeeded(t *testing.T) {
	t.Parallel()
	flaws := map[string]struct {
		faults []explore.Fault
		eager  bool
		from   uint64 // the first walk tried
	}{
		"touch compares the number only": {[]explore.Fault{explore.FailOvers, explore.Duplicates}, true, 0},
		"cas checks before the write":    {[]explore.Fault{explore.Duplicates}, false, 0},
		"cas ignores moved liveness":     {[]explore.Fault{explore.Duplicates, explore.OldClients, explore.BadReports}, false, 0},
	}
	for flaw, test := range flaws {
		t.Run(flaw, func(t *testing.T) {
			t.Parallel()
			setup := explore.Mix(flaw, 1, 3, test.faults...)
			setup.Depth, setup.Flaw, setup.Eager = 80, flaw, test.eager
			flawed(t, setup, test.from, "I1", "I2", "I3", "I4", "I14", "E1", "T3")
		})
	}
}

// TestEveryGuardOfTheSealIsNeeded leaves out one condition of the driver at a time: the walks
// must find a member that reads a sealed shard (I12).
func TestEveryGuardOfTheSealIsNeeded(t *testing.T) {
	t.Parallel()
	flaws := map[string]struct {
		faults []explore.Fault
		eager  bool
		groups int
	}{
		"seals before the group has copied":    {nil, false, 1},
		"seals what lingers":                   {[]explore.Fault{explore.Orders}, false, 1},
		"seals in a barrier":                   {[]explore.Fault{explore.FailOvers}, true, 1},
		"seals before every group is draining": {nil, false, 2}, // MUT33
		"seals in the barrier of one group":    {[]explore.Fault{explore.FailOvers}, true, 2},
	}
	for flaw, test := range flaws {
		t.Run(flaw, func(t *testing.T) {
			t.Parallel()
			setup := explore.Reshaped(flaw, 2, 3, 2, test.faults...)
			setup.Depth, setup.Flaw, setup.Eager, setup.Groups = 200, flaw, test.eager, test.groups
			flawed(t, setup, 0, "I12")
		})
	}
}

// TestEveryGuardOfTheRecordsIsNeeded leaves out what keeps records of producers whose routing
// is stale: the walks must find one that is lost (I12, P1), that comes when none may (L3), or that is sent where none can come (L8).
func TestEveryGuardOfTheRecordsIsNeeded(t *testing.T) {
	t.Parallel()
	for flaw, invariant := range map[string]string{
		"seals without the second proof":              "I12", // MUT20
		"routing lease not waited for":                "L3",
		"routing returns before the seals are undone": "L8", // MUT34
		"late seals run":                              "L8", // MUT32
	} {
		for _, groups := range []int{1, 2} {
			t.Run(fmt.Sprint(flaw, groups), func(t *testing.T) {
				t.Parallel()
				setup := explore.Reshaped(flaw, 2, 2, 2, explore.Publishes, explore.Rollbacks)
				setup.Depth, setup.Flaw, setup.Groups = 200, flaw, groups
				flawed(t, setup, 0, invariant)
			})
		}
	}
}

// TestARecordThatLosesWritesForgetsNoShard leaves out what finds shards that the stream's
// record has forgotten, with what a producer has added to them: nobody is given it (P1). It is
// rare for walks. A resharding is rolled back, the driver adds shard 2, the producer is told, and
// the record loses that: the last resharding, or also the end of the first.
func TestARecordThatLosesWritesForgetsNoShard(t *testing.T) {
	t.Parallel()
	added := []explore.Event{
		{Kind: explore.Scale},
		{Kind: explore.RollBack},
		{Kind: explore.Drive},
		{Kind: explore.Drive},
		{Kind: explore.Drive},
		{Kind: explore.Drive},
		{Kind: explore.Start, Arg: 1, Life: 2},
		{Kind: explore.Scale, Arg: 3},
		{Kind: explore.Drive},
		{Kind: explore.Drive},
		{Kind: explore.AskRoute},
		{Kind: explore.Publish, Arg: 2},
	}
	for flaw, after := range map[string][]explore.Event{
		"orders do not look behind the record": {
			{Kind: explore.StreamFallsBack, Arg: 2},
			{Kind: explore.Scale, Arg: 0},
		},
		"a new mark hides forgotten shards": {
			{Kind: explore.StreamFallsBack, Arg: 3},
			{Kind: explore.LoseShard, Arg: 1},
		},
	} {
		t.Run(flaw, func(t *testing.T) {
			t.Parallel()
			setup := explore.Reshaped(flaw, 2, 3, 2, explore.Publishes, explore.StreamLosses, explore.Rollbacks, explore.LostShards)
			events := slices.Concat(added, after)
			w, done := explore.Replay(setup, events, true)
			require.Nil(t, w.Broken())
			require.GreaterOrEqual(t, len(done), len(events)-1, "only an order may be refused")
			setup.Flaw = flaw
			w, _ = explore.Replay(setup, events, true)
			require.NotNil(t, w.Broken())
			require.Equal(t, "P1", w.Broken().Invariant)
		})
	}
}

// TestACorruptRecordIsNotWrittenOver lets a commit overwrite a record of another version: the
// walks must find it (I13).
func TestACorruptRecordIsNotWrittenOver(t *testing.T) {
	t.Parallel()
	for _, groups := range []int{1, 2} {
		t.Run(fmt.Sprint(groups), func(t *testing.T) {
			t.Parallel()
			setup := explore.Mix("corrupt", 1, 2, explore.Corruption)
			setup.Depth, setup.Flaw, setup.Groups = 80, "a corrupt record is written over", groups
			flawed(t, setup, 0, "I13")
		})
	}
}

// TestIdentityIsComparedInTheCommit is MUT35, too rare for random walks: C1 has loaded the
// group to let b in, C2 lets a in and a reads; the store goes back to what C1 has loaded,
// under another identity.
func TestIdentityIsComparedInTheCommit(t *testing.T) {
	t.Parallel()
	for _, flaw := range []string{"", "cas ignores identity"} {
		setup := explore.Mix("identity", 1, 2, explore.FailOvers)
		setup.Flaw, setup.Fair = flaw, false
		events := []explore.Event{
			{Kind: explore.Start, Arg: 0, Life: 1},
			{Kind: explore.Start, Arg: 1, Life: 2},
			{Kind: explore.Send, Life: 2},
			{Kind: explore.Deliver, Life: 2, Mode: explore.Later},
			{Kind: explore.RoundTrip, Life: 1, Pod: 1},
			{Kind: explore.FailOver, Arg: 1},
			{Kind: explore.Conclude},
			{Kind: explore.Return, Life: 2},
		}
		w, done := explore.Replay(setup, events, false)
		if flaw == "" {
			require.Nil(t, w.Broken())
			require.Len(t, done, len(events))
			continue
		}
		require.NotNil(t, w.Broken())
		require.Equal(t, "I1", w.Broken().Invariant)
	}
}

// TestShrinkingKeepsTheViolation: what is left out cannot be left out further.
func TestShrinkingKeepsTheViolation(t *testing.T) {
	t.Parallel()
	setup := explore.Mix("shrink", 1, 3, explore.Duplicates)
	setup.Depth, setup.Flaw, setup.Fair = 80, "cas checks before the write", false
	for walk := range uint64(5000) {
		w, events := explore.Walk(setup, newSeeded(3, walk))
		if w.Broken() == nil {
			continue
		}
		short := explore.Shrink(setup, events, w.Broken().Invariant)
		require.LessOrEqual(t, len(short), len(events))
		for i := range short {
			without, _ := explore.Replay(setup, slices.Delete(slices.Clone(short), i, i+1), false)
			broken := without.Broken()
			require.True(t, broken == nil || broken.Invariant != w.Broken().Invariant, "event %d is not needed", i)
		}
		return
	}
	require.Fail(t, "nothing found")
}
