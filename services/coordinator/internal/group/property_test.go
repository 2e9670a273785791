package group_test

import (
	"testing"

	"pgregory.net/rapid"
)

// drawn is a chooser whose walks rapid can shrink to the shortest that fails.
type drawn struct{ t *rapid.T }

func (c drawn) pick(what string, n int) int { return rapid.IntRange(0, n-1).Draw(c.t, what) }

// holds checks that no random schedule breaks the invariant. The invariants are those of
// the group protocol; where they are checked is said at checkState and its neighbours.
func holds(t *testing.T, invariant string, m mix) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		s := newSim(m, drawn{t})
		s.walk()
		if broken, found := s.broken[invariant]; found {
			t.Fatalf("%s: %s\n%s", invariant, broken, s.report())
		}
		if broken, found := s.broken["engine"]; found {
			t.Fatalf("engine: %s\n%s", broken, s.report())
		}
	})
}

// troubled is a walk in which anything may happen.
func troubled(faults ...string) mix {
	return mix{shards: 2, steps: 60, processes: 3, faults: faults}
}

// reshaped is such a walk in which the stream's record changes, too.
func reshaped(faults ...string) mix {
	return mix{shards: 2, most: 4, steps: 100, processes: 3, faults: append(faults, "scale", "rollbacks")}
}

// lossy are the ways in which writes are lost.
func lossy() []string { return []string{"failovers", "stream falls back", "lost liveness"} }

func TestI1AtMostOneMemberMayReadAShard(t *testing.T) {
	t.Parallel()
	holds(t, "I1", troubled(everyFault()...))
	holds(t, "I1", reshaped(append(everyFault(), lossy()...)...))
}

func TestI2MayReadImpliesARecordedGrant(t *testing.T) {
	t.Parallel()
	holds(t, "I2", troubled("duplicates", "crashes", "used-shards", "coordinator crashes", "failovers"))
	holds(t, "I2", reshaped("duplicates", "crashes", "lost shards", "orders"))
}

func TestI3WhatAMemberMayReadIsBlockedForOthers(t *testing.T) {
	t.Parallel()
	holds(t, "I3", troubled(everyFault()...))
	holds(t, "I3", reshaped(append(everyFault(), lossy()...)...))
}

func TestI4AHoldEndsOnlyForAReasonOfTheRules(t *testing.T) {
	t.Parallel()
	holds(t, "I4", troubled("duplicates", "crashes", "twins", "bad reports", "old clients", "clock jumps"))
	holds(t, "I4", reshaped("duplicates", "crashes", "lost shards", "orders", "unbar", "stream falls back"))
}

func TestI5WhatAClientSeesNeverFalls(t *testing.T) {
	t.Parallel()
	holds(t, "I5", troubled("duplicates", "crashes", "failovers", "coordinator crashes"))
	holds(t, "I5", reshaped(append(lossy(), "duplicates", "crashes", "coordinator crashes", "orders")...))
}

func TestI6MessagesOfThePastChangeNothing(t *testing.T) {
	t.Parallel()
	holds(t, "I6", troubled("duplicates", "crashes", "twins", "old clients"))
}

func TestI7TheSameRequestAgainChangesNothing(t *testing.T) {
	t.Parallel()
	holds(t, "I7", troubled("duplicates", "crashes", "twins", "bad reports", "failovers"))
}

func TestI8OnlyOKAddsAShard(t *testing.T) {
	t.Parallel()
	holds(t, "I8", troubled("duplicates", "old clients", "failovers", "clock jumps"))
	holds(t, "I8", reshaped(append(lossy(), "duplicates", "old clients", "orders")...))
}

// I9: after any crash between commit and answer the group finds its way back to stable.
func TestI9ACrashLosesOnlyTime(t *testing.T) {
	t.Parallel()
	for _, invariant := range []string{"I1", "V1"} {
		m := troubled("coordinator crashes", "crashes")
		m.steps, m.fair = 40, true
		holds(t, invariant, m)
	}
}

func TestI10TheTargetIsLegal(t *testing.T) {
	t.Parallel()
	m := troubled("crashes", "twins", "bad reports")
	m.shards, m.processes = 5, 4
	holds(t, "I10", m)
	m.faults, m.most = append(m.faults, "scale", "rollbacks"), 6
	holds(t, "I10", m)
}

func TestI11OnlyNecessaryMoves(t *testing.T) {
	t.Parallel()
	m := troubled("crashes", "twins", "bad reports")
	m.shards, m.processes = 5, 4
	holds(t, "I11", m)
	m.faults, m.most = append(m.faults, "scale", "rollbacks"), 6
	holds(t, "I11", m)
}

// I12: what is sealed is read by nobody, whatever the group, the stream and the coordinators
// have lost. That it is empty is Redis's part, see the proofs of package provision.
func TestI12NobodyReadsASealedShard(t *testing.T) {
	t.Parallel()
	holds(t, "I12", reshaped("duplicates", "crashes", "twins", "bad reports"))
	holds(t, "I12", reshaped(append(lossy(), "duplicates", "coordinator crashes", "orders")...))
}

// L1: a group has the newest layout that it was brought, as it was, and lists no more shards.
func TestL1GroupsCopyTheStreamsLayout(t *testing.T) {
	t.Parallel()
	holds(t, "L1", reshaped("duplicates", "crashes", "lost shards", "stream falls back", "failovers"))
}

func TestI14EachCommitFollowsTheStoredState(t *testing.T) {
	t.Parallel()
	holds(t, "I14", troubled("duplicates", "crashes", "coordinator crashes", "failovers"))
}

func TestI15StableMeansReportedHeldTarget(t *testing.T) {
	t.Parallel()
	m := troubled("duplicates", "crashes", "bad reports")
	m.steps, m.fair = 40, true
	holds(t, "I15", m)
}

func TestE1EpochsComeFromOneCounter(t *testing.T) {
	t.Parallel()
	holds(t, "E1", troubled("duplicates", "crashes", "twins", "bad reports", "clock jumps"))
}

func TestE6ASteadyStepChangesNoStructure(t *testing.T) {
	t.Parallel()
	holds(t, "E6", troubled("duplicates", "crashes", "twins", "old clients", "clock jumps"))
}

// V1: on a fair schedule the group becomes stable within the bound, and no member that
// behaves is refused without a cause that the rules name.
func TestV1AFairScheduleEndsStable(t *testing.T) {
	t.Parallel()
	m := troubled(everyFault()...)
	m.steps, m.fair = 50, true
	holds(t, "V1", m)
}

// V2, V3: whatever was lost, on a fair schedule a correction round ends, and a resharding that
// is under way, with every removed shard sealed, and the group is stable again.
func TestV3AFairScheduleEndsTheResharding(t *testing.T) {
	t.Parallel()
	m := reshaped(append(append(everyFault(), lossy()...), "lost shards", "orders")...)
	m.steps, m.fair = 70, true
	for _, promise := range []string{"V1", "V2", "V3", "I15"} {
		holds(t, promise, m)
	}
}
