package explore_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group/explore"
)

// drawn is a chooser whose walks rapid can shrink to the shortest that fails.
type drawn struct{ t *rapid.T }

func (c drawn) Pick(n int) int { return rapid.IntRange(0, n-1).Draw(c.t, "pick") }

// holds checks that no random schedule breaks the invariant. The invariants are those of
// the group protocol; where they are checked is said at checkState and its neighbours.
func holds(t *testing.T, invariant string, setup explore.Setup) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		w, events := explore.Walk(setup, drawn{t})
		if broken := w.Broken(); broken != nil && (broken.Invariant == invariant || broken.Invariant == "engine") {
			t.Fatalf("%s: %s\n%s", broken.Invariant, broken.What, explore.Explain(setup, events))
		}
	})
}

// troubled is a walk in which anything may happen.
func troubled(faults ...explore.Fault) explore.Setup {
	setup := explore.Mix("property", 2, 3, faults...)
	setup.Depth, setup.Fair = 40, false
	return setup
}

// reshaped is such a walk in which the stream's record changes, too.
func reshaped(faults ...explore.Fault) explore.Setup {
	setup := explore.Reshaped("property", 2, 4, 3, append(faults, explore.Rollbacks)...)
	setup.Depth, setup.Fair = 70, false
	return setup
}

// lossy are the ways in which writes are lost.
func lossy() []explore.Fault {
	return []explore.Fault{explore.FailOvers, explore.StreamLosses, explore.LostLiveness}
}

// every is each of the faults that may happen without promising less, and more.
func every(more ...explore.Fault) []explore.Fault { return slices.Concat(explore.EveryFault(), more) }

func TestI1AtMostOneMemberMayReadAShard(t *testing.T) {
	t.Parallel()
	holds(t, "I1", troubled(every()...))
	holds(t, "I1", reshaped(every(lossy()...)...))
}

func TestI2MayReadImpliesARecordedGrant(t *testing.T) {
	t.Parallel()
	holds(t, "I2", troubled(explore.Duplicates, explore.Crashes, explore.PodCrashes, explore.FailOvers))
	holds(t, "I2", reshaped(explore.Duplicates, explore.Crashes, explore.LostShards, explore.Orders))
}

func TestI3WhatAMemberMayReadIsBlockedForOthers(t *testing.T) {
	t.Parallel()
	holds(t, "I3", troubled(every()...))
	holds(t, "I3", reshaped(every(lossy()...)...))
}

func TestI4AHoldEndsOnlyForAReasonOfTheRules(t *testing.T) {
	t.Parallel()
	holds(t, "I4", troubled(explore.Duplicates, explore.Crashes, explore.Twins, explore.BadReports, explore.OldClients, explore.Jumps))
	holds(t, "I4", reshaped(explore.Duplicates, explore.Crashes, explore.LostShards, explore.Orders, explore.Unbars, explore.StreamLosses))
}

func TestI5WhatAClientSeesNeverFalls(t *testing.T) {
	t.Parallel()
	holds(t, "I5", troubled(explore.Duplicates, explore.Crashes, explore.FailOvers, explore.PodCrashes))
	holds(t, "I5", reshaped(append(lossy(), explore.Duplicates, explore.Crashes, explore.PodCrashes, explore.Orders)...))
}

func TestI6MessagesOfThePastChangeNothing(t *testing.T) {
	t.Parallel()
	holds(t, "I6", troubled(explore.Duplicates, explore.Crashes, explore.Twins, explore.OldClients))
}

func TestI7TheSameRequestAgainChangesNothing(t *testing.T) {
	t.Parallel()
	holds(t, "I7", troubled(explore.Duplicates, explore.Crashes, explore.Twins, explore.BadReports, explore.FailOvers))
}

func TestI8OnlyOKAddsAShard(t *testing.T) {
	t.Parallel()
	holds(t, "I8", troubled(explore.Duplicates, explore.OldClients, explore.FailOvers, explore.Jumps))
	holds(t, "I8", reshaped(append(lossy(), explore.Duplicates, explore.OldClients, explore.Orders)...))
}

// I9: after any crash between commit and answer the group finds its way back to stable.
func TestI9ACrashLosesOnlyTime(t *testing.T) {
	t.Parallel()
	for _, invariant := range []string{"I1", "V1"} {
		m := troubled(explore.PodCrashes, explore.Crashes)
		m.Depth, m.Fair = 40, true
		holds(t, invariant, m)
	}
}

func TestI10TheTargetIsLegal(t *testing.T) {
	t.Parallel()
	m := troubled(explore.Crashes, explore.Twins, explore.BadReports)
	m.Shards, m.Processes = 5, 4
	holds(t, "I10", m)
	m = m.With(explore.Scaling, explore.Rollbacks)
	m.Most = 6
	holds(t, "I10", m)
}

func TestI11OnlyNecessaryMoves(t *testing.T) {
	t.Parallel()
	m := troubled(explore.Crashes, explore.Twins, explore.BadReports)
	m.Shards, m.Processes = 5, 4
	holds(t, "I11", m)
	m = m.With(explore.Scaling, explore.Rollbacks)
	m.Most = 6
	holds(t, "I11", m)
}

// I12: what is sealed is read by nobody, whatever the group, the stream and the coordinators
// have lost. That it is empty is Redis's part, see the proofs of package provision.
func TestI12NobodyReadsASealedShard(t *testing.T) {
	t.Parallel()
	holds(t, "I12", reshaped(explore.Duplicates, explore.Crashes, explore.Twins, explore.BadReports))
	holds(t, "I12", reshaped(append(lossy(), explore.Duplicates, explore.PodCrashes, explore.Orders)...))
}

// L1: a group has the newest layout that it was brought, as it was, and lists no more shards.
func TestL1GroupsCopyTheStreamsLayout(t *testing.T) {
	t.Parallel()
	holds(t, "L1", reshaped(explore.Duplicates, explore.Crashes, explore.LostShards, explore.StreamLosses, explore.FailOvers))
}

func TestI14EachCommitFollowsTheStoredState(t *testing.T) {
	t.Parallel()
	holds(t, "I14", troubled(explore.Duplicates, explore.Crashes, explore.PodCrashes, explore.FailOvers))
}

func TestI15StableMeansReportedHeldTarget(t *testing.T) {
	t.Parallel()
	m := troubled(explore.Duplicates, explore.Crashes, explore.BadReports)
	m.Depth, m.Fair = 40, true
	holds(t, "I15", m)
}

func TestE1EpochsComeFromOneCounter(t *testing.T) {
	t.Parallel()
	holds(t, "E1", troubled(explore.Duplicates, explore.Crashes, explore.Twins, explore.BadReports, explore.Jumps))
}

func TestE6ASteadyStepChangesNoStructure(t *testing.T) {
	t.Parallel()
	holds(t, "E6", troubled(explore.Duplicates, explore.Crashes, explore.Twins, explore.OldClients, explore.Jumps))
}

// V1: on a fair schedule the group becomes stable within the bound, and no member that
// behaves is refused without a cause that the rules name.
func TestV1AFairScheduleEndsStable(t *testing.T) {
	t.Parallel()
	m := troubled(every()...)
	m.Depth, m.Fair = 50, true
	holds(t, "V1", m)
}

// V2, V3: whatever was lost, on a fair schedule a correction round ends, and a resharding that
// is under way, with every removed shard sealed, and the group is stable again.
func TestV3AFairScheduleEndsTheResharding(t *testing.T) {
	t.Parallel()
	m := reshaped(every(append(lossy(), explore.LostShards, explore.Orders)...)...)
	m.Depth, m.Fair = 70, true
	for _, promise := range []string{"V1", "V2", "V3", "I15"} {
		holds(t, promise, m)
	}
}
