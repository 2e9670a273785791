package provision

import "time"

// Retention says how long a sealed shard's data is kept; it is the value of
// coordination.drain.retention. Above 0 it is a duration of at least a millisecond.
type Retention time.Duration

// The retentions with a meaning of their own.
const (
	// RetainNothing deletes the data.
	RetainNothing Retention = 0
	// RetainForever keeps the data until somebody deletes it.
	RetainForever Retention = -1
)

// shortestSeal is how long the string in place of a sealed shard stays at least.
const shortestSeal = 24 * time.Hour

// dataMs is what the seal script takes for the data, in milliseconds.
func (r Retention) dataMs() int64 {
	switch {
	case r < 0:
		return -1
	case r == 0:
		return 0
	}
	return max(time.Duration(r).Milliseconds(), 1)
}

// sealMs is what the seal script takes for the string in place of the key: a day, or the
// retention if longer; 0 is for ever (protocol L5).
func (r Retention) sealMs() int64 {
	if r < 0 {
		return 0
	}
	return max(time.Duration(r), shortestSeal).Milliseconds()
}
