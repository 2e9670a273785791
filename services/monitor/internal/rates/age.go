package rates

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

const (
	// firstTime is the time in milliseconds before which an id is taken for a number that
	// somebody chose: Redis had no streams in 2001.
	firstTime = 1_000_000_000_000
	// aheadLimit is how far Redis' clock may be ahead of ours.
	aheadLimit = time.Minute
)

// oldest returns the age of an entry, or the one that another had when it was last seen.
func oldest(at time.Time, id *string, earlier *facts.Sighting) *int64 {
	if id == nil && earlier != nil {
		return ageMs(earlier.At, &earlier.ID)
	}
	return ageMs(at, id)
}

// ageMs returns how long before at the entry was added, by its id; nil for no id and for ids
// that are no times.
func ageMs(at time.Time, text *string) *int64 {
	id := idOf(text)
	now := at.UnixMilli()
	if id.ms < firstTime || now < firstTime || id.ms > uint64(now+aheadLimit.Milliseconds()) {
		return nil
	}
	age := max(0, now-int64(id.ms))
	return &age
}

// drainSeconds is how long a lag lasts at the rates, nil where it is not known or never ends.
func drainSeconds(lag Lag, produced, consumed *float64) *float64 {
	if lag.Known() && *lag.Value == 0 {
		return new(float64)
	}
	if !lag.Known() || produced == nil || consumed == nil || *consumed <= *produced {
		return nil
	}
	seconds := float64(*lag.Value) / (*consumed - *produced)
	return &seconds
}
