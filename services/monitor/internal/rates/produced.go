package rates

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// producedBetween returns how many entries were added between two observations of one stream,
// false where that cannot be told.
func producedBetween(before, now *facts.Shard) (int64, bool) {
	if now.EntriesAdded != nil {
		return *now.EntriesAdded - *before.EntriesAdded, true
	}
	return grownBetween(before, now)
}

// grownBetween stands in for the count of added entries in servers that have none. Growth
// hides what was trimmed meanwhile, which the first entry shows; entries that were deleted
// from the middle count as never added.
func grownBetween(before, now *facts.Shard) (int64, bool) {
	grown := now.Length - before.Length
	switch {
	case idOf(now.LastGeneratedID) == idOf(before.LastGeneratedID):
		return 0, true
	case before.Length > 0 && idOf(now.FirstID) != idOf(before.FirstID):
		return 0, false
	default:
		return grown, grown > 0 // something was added
	}
}

// perSecond is the rate of count entries in took, which is above 0.
func perSecond(count int64, took time.Duration) *float64 {
	rate := float64(count) / took.Seconds()
	return &rate
}
