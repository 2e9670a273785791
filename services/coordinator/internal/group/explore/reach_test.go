package explore_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group/explore"
)

// situations that a run must have met often enough, by the names that worlds count them by.
func situations() map[string]string {
	return map[string]string{
		"SYNC_METADATA": "SYNC", "REVOKE_PENDING": "REVOKE_PENDING", "FENCE_REPORT": "fence by report",
		"FENCE_TIMEOUT": "fence by timeout", "rejoin": "rejoin", "twin refused": "twin refused", "successor": "successor",
		"barrier": "barrier", "HAND_BACK": "hand-back", "seal refused by the second proof": "seal refused by the second proof",
		"rollback after a partial seal": "rollback after a partial seal", "published late": "record by a stale routing",
		"fails closed": "unreadable record", "lapsed": "touch of a lease that has run out",
	}
}

// checkVisits fails when one of the situations was met less than least times.
func checkVisits(t *testing.T, visits map[string]int, least int) {
	t.Helper()
	for _, what := range slices.Sorted(maps.Keys(situations())) {
		if *figures {
			fmt.Printf("  %-34s %9d\n", situations()[what], visits[what])
		}
		require.GreaterOrEqual(t, visits[what], least, what)
	}
}

// TestTheWalksMeetWhatMatters keeps a green run from being an empty one.
func TestTheWalksMeetWhatMatters(t *testing.T) {
	t.Parallel()
	visits := map[string]int{}
	for _, m := range explore.Mixes() {
		for walk := range uint64(40) {
			w, _ := explore.Walk(m, newSeeded(99, walk))
			for what, n := range w.Visits() {
				visits[what] += n
			}
		}
	}
	for _, what := range []string{
		"OK", "RETRY", "SYNC_METADATA", "REVOKE_PENDING", "FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID",
		"JOIN", "TAKEOVER", "LEAVE", "SUSPEND", "EXPIRE", "FENCE_REPORT", "FENCE_TIMEOUT", "CORRECTION", "RELEASE",
		"TOLD", "HAND_BACK", "GRANT", "LINGER_OVER", "BARRIER_OVER", "ROUND_OVER", "GRACE", "FORGET",
		"steady", "lapsed", "conflict", "lost answer", "outdated", "barrier", "failover", "jump", "recreated", "skewed pod",
		"rejoin", "successor", "twin refused",
		"SCALE", "ROLLBACK", "SEAL", "REPROVISION", "ADMIN", "lost liveness", "stream falls back", "stream conflict",
		"scale-out", "scale-in", "rollback in PREPARING", "rollback in ACTIVE", "rollback in DRAINING",
		"copied", "draining", "closed", "unread", "shard sealed", "seal refused by the second proof", "unsealed", "lost", "found",
		"finished ACTIVE", "finished DRAINING", "finished ROLLING_BACK", "overtaken", "older layout", "held outside",
		"rollback after a partial seal",
		"published", "published late", "claimed", "handled", "corrupt", "fails closed",
	} {
		require.GreaterOrEqual(t, visits[what], 3, what)
	}
}
