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

func TestI1AtMostOneMemberMayReadAShard(t *testing.T) {
	t.Parallel()
	holds(t, "I1", troubled(everyFault()...))
}

func TestI2MayReadImpliesARecordedGrant(t *testing.T) {
	t.Parallel()
	holds(t, "I2", troubled("duplicates", "crashes", "used-shards", "coordinator crashes", "failovers"))
}

func TestI3WhatAMemberMayReadIsBlockedForOthers(t *testing.T) {
	t.Parallel()
	holds(t, "I3", troubled(everyFault()...))
}

func TestI4AHoldEndsOnlyForAReasonOfTheRules(t *testing.T) {
	t.Parallel()
	holds(t, "I4", troubled("duplicates", "crashes", "twins", "bad reports", "old clients", "clock jumps"))
}

func TestI5WhatAClientSeesNeverFalls(t *testing.T) {
	t.Parallel()
	holds(t, "I5", troubled("duplicates", "crashes", "failovers", "coordinator crashes"))
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
}

func TestI11OnlyNecessaryMoves(t *testing.T) {
	t.Parallel()
	m := troubled("crashes", "twins", "bad reports")
	m.shards, m.processes = 5, 4
	holds(t, "I11", m)
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
