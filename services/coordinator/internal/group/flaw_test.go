package group_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEveryGuardOutsideTheCoreIsNeeded leaves out one guard of the client or of the store
// at a time: the walks must find that two members read one shard, or another invariant
// broken. It shows that the simulation can fail, and that the core relies on its partners.
func TestEveryGuardOutsideTheCoreIsNeeded(t *testing.T) {
	t.Parallel()
	flaws := map[string]struct {
		faults []string
		from   uint64 // the first seed tried
	}{
		"no client lease":                {[]string{"crashes"}, 0},
		"lease from the answer":          {[]string{"duplicates"}, 1450},
		"keeps shards after a lapse":     {[]string{"duplicates", "failovers"}, 880},
		"any answer counts":              {[]string{"duplicates", "crashes"}, 0},
		"touch compares the number only": {[]string{"many failovers", "duplicates"}, 140},
		"cas checks before the write":    {[]string{"duplicates"}, 0},
		"cas ignores moved liveness":     {[]string{"duplicates", "old clients", "bad reports"}, 2020},
	}
	for flaw, test := range flaws {
		t.Run(flaw, func(t *testing.T) {
			t.Parallel()
			for n := range uint64(20_000) {
				m := mix{shards: 1, steps: 80, processes: 3, faults: test.faults, flaw: flaw}
				s := newSim(m, newSeeded(test.from+n))
				s.walk()
				for _, invariant := range []string{"I1", "I2", "I3"} {
					if _, found := s.broken[invariant]; found {
						t.Logf("found by %s with seed %d", invariant, test.from+n)
						return
					}
				}
			}
			require.Fail(t, "no walk has found the flaw")
		})
	}
}

// TestEveryGuardOfTheSealIsNeeded leaves out one condition of the driver at a time: the walks
// must find a member that reads a sealed shard (I12).
func TestEveryGuardOfTheSealIsNeeded(t *testing.T) {
	t.Parallel()
	flaws := map[string]struct {
		faults []string
		from   uint64 // the first seed tried
	}{
		"seals before the group has copied": {[]string{"scale"}, 0},
		"seals what lingers":                {[]string{"scale", "orders"}, 0},
		"seals in a barrier":                {[]string{"scale", "many failovers"}, 0},
	}
	for flaw, test := range flaws {
		t.Run(flaw, func(t *testing.T) {
			t.Parallel()
			for n := range uint64(20_000) {
				m := mix{shards: 2, most: 3, steps: 200, processes: 2, faults: test.faults, flaw: flaw}
				s := newSim(m, newSeeded(test.from+n))
				s.walk()
				if _, found := s.broken["I12"]; found {
					t.Logf("found with seed %d", test.from+n)
					return
				}
			}
			require.Fail(t, "no walk has found the flaw")
		})
	}
}

// TestIdentityIsComparedInTheCommit is MUT35, too rare for random walks: C1 has loaded the
// group to let b in, C2 lets a in and a reads; the store goes back to what C1 has loaded,
// under another identity.
func TestIdentityIsComparedInTheCommit(t *testing.T) {
	t.Parallel()
	for _, flaw := range []string{"", "cas ignores identity"} {
		s := newSim(mix{shards: 1, processes: 2, flaw: flaw}, simplest{})
		a, b := s.start("a", false), s.start("b", false)
		s.begin(s.coords[0], []message{{from: b, req: b.request()}})
		s.roundTrip(a, s.coords[1])
		require.True(t, a.mayRead(0))
		s.store.failOver(1)
		s.finish(s.coords[0], lives)
		s.deliver(len(s.bag)-1, false)
		s.checkState()
		_, broken := s.broken["I1"]
		require.Equal(t, flaw != "", broken, s.report())
	}
}

// TestTheWalksMeetWhatMatters keeps a green run from being an empty one.
func TestTheWalksMeetWhatMatters(t *testing.T) {
	t.Parallel()
	visits := map[string]int{}
	for _, m := range mixes() {
		for seed := range uint64(40) {
			s := newSim(m, newSeeded(seed))
			s.walk()
			for what, n := range s.visits {
				visits[what] += n
			}
		}
	}
	for _, what := range []string{
		"OK", "RETRY", "SYNC_METADATA", "REVOKE_PENDING", "FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID",
		"JOIN", "TAKEOVER", "LEAVE", "SUSPEND", "EXPIRE", "FENCE_REPORT", "FENCE_TIMEOUT", "CORRECTION", "RELEASE",
		"TOLD", "HAND_BACK", "GRANT", "LINGER_OVER", "BARRIER_OVER", "ROUND_OVER", "GRACE", "FORGET",
		"steady", "conflict", "lost answer", "outdated", "barrier", "failover", "jump",
		"SCALE", "ROLLBACK", "SEAL", "REPROVISION", "ADMIN", "lost liveness", "stream falls back", "stream conflict",
		"scale-out", "scale-in", "rollback in PREPARING", "rollback in ACTIVE", "rollback in DRAINING",
		"copied", "draining", "closed", "unread", "shard sealed", "reopened", "unsealed", "lost", "found",
		"finished ACTIVE", "finished DRAINING", "finished ROLLING_BACK", "overtaken", "older layout", "held outside",
	} {
		require.GreaterOrEqual(t, visits[what], 10, what)
	}
}
