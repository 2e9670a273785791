package rates

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// follows tells whether two observations, the second within keep of the first, can be of one
// stream to which entries were only added, and of which some went away. It is false after a
// deletion, a restoration, a failover, XSETID and a step of the clock.
func follows(before, now *facts.Shard, keep time.Duration) bool {
	took := now.At.Sub(before.At)
	last, lastBefore := idOf(now.LastGeneratedID), idOf(before.LastGeneratedID)
	switch {
	case took <= 0 || took > keep:
		return false
	case now.Node.RunID != before.Node.RunID:
		return false
	case lastBefore.after(last):
		return false
	case idOf(before.MaxDeletedID).after(idOf(now.MaxDeletedID)):
		return false
	case now.Length > 0 && idOf(before.FirstID).after(idOf(now.FirstID)):
		return false
	case now.Length > 0 && before.Length == 0 && !idOf(now.FirstID).after(lastBefore):
		return false
	case (now.EntriesAdded == nil) != (before.EntriesAdded == nil):
		return false
	case now.EntriesAdded == nil:
		return true
	}
	return countFollows(before, now, *now.EntriesAdded-*before.EntriesAdded)
}

// countFollows tells whether as many entries as added can have been added. An id belongs to
// one entry only, and what is there was there or was added.
func countFollows(before, now *facts.Shard, added int64) bool {
	last, lastBefore := idOf(now.LastGeneratedID), idOf(before.LastGeneratedID)
	remained := before.Length
	if now.Length == 0 || idOf(now.FirstID).after(lastBefore) {
		remained = 0
	}
	switch {
	case added < 0, (added > 0) != last.after(lastBefore):
		return false
	case now.Length > remained+added:
		return false
	case last.ms == lastBefore.ms && last.seq-lastBefore.seq < uint64(added):
		return false
	case added > 0 && now.Length > 0 && idOf(now.LastID) == idOf(before.LastID):
		return false // the newest entry is an old one: XSETID, or all that was added is deleted
	case added > 0 && now.Length > 0 && idOf(now.LastID) != last && last.after(idOf(now.MaxDeletedID)):
		return false // the last id is of no entry, and of none that was deleted: XSETID
	case remained > 0 && !idOf(now.MaxDeletedID).after(lastBefore) && now.Length <= added:
		return false // none of the new entries can have gone before the old ones
	case nothingWent(before, now):
		return now.Length == before.Length+added
	default:
		return true
	}
}

// nothingWent tells whether what is there begins where it began, and nothing in it was deleted.
func nothingWent(before, now *facts.Shard) bool {
	first, deleted := idOf(now.FirstID), idOf(now.MaxDeletedID)
	return now.Length > 0 && first == idOf(before.FirstID) && deleted == idOf(before.MaxDeletedID) && first.after(deleted)
}
