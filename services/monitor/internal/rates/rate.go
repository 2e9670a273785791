package rates

import "time"

// Rate is a group on one shard. All values are nil where they are not known.
type Rate struct {
	// ProducedPerSecond counts entries that are added, ConsumedPerSecond those that are
	// delivered to the group.
	ProducedPerSecond, ConsumedPerSecond *float64
	Lag                                  Lag
	// OldestUnreadAgeMs and OldestPendingAgeMs are also nil without such an entry. Where a
	// round has not asked for it, they are what they were when it was last known.
	OldestUnreadAgeMs, OldestPendingAgeMs *int64
	// TimeToDrainSeconds is also nil where the lag never ends.
	TimeToDrainSeconds *float64
	// TrimmedUnread counts the entries that went away between the cursor and the first entry
	// that is left; TrimmedUnreadAlarm tells of a loss also where nobody can count it.
	TrimmedUnread      *int64
	TrimmedUnreadAlarm bool
	// Regressed tells that the cursor went back since the last observation (F23).
	Regressed bool
}

// step is what lies between two observations of a shard.
type step struct {
	// same tells that they are of one stream, took apart.
	same     bool
	took     time.Duration
	produced *float64
}

// rate compares a group with what it was before, which is nil where it was not seen; lost is
// what was trimmed unread then.
func (s step) rate(before *sight, now sight, lost *int64) Rate {
	rate := Rate{
		ProducedPerSecond:  s.produced,
		Lag:                now.lag,
		OldestUnreadAgeMs:  oldest(now.shard.At, firstUnread(now.shard, now.group), now.group.EarlierUnread),
		OldestPendingAgeMs: oldest(now.shard.At, now.group.OldestPendingID, now.group.EarlierPending),
		Regressed:          before != nil && before.cursor().after(now.cursor()),
	}
	if !s.same {
		before = nil
	}
	if before != nil {
		if consumed, known := consumedBetween(*before, now); known {
			rate.ConsumedPerSecond = perSecond(consumed, s.took)
		}
	}
	rate.TrimmedUnread, rate.TrimmedUnreadAlarm = lostUnread(before, now, lost)
	rate.TimeToDrainSeconds = drainSeconds(now.lag, rate.ProducedPerSecond, rate.ConsumedPerSecond)
	return rate
}
