package login

import "time"

// The back-off (reliability, Login and tokens).
const (
	// window is how long a failure counts.
	window = 15 * time.Minute
	// firstPause follows the failure that reaches the limit; each one after it doubles the
	// pause, up to longestPause.
	firstPause   = time.Second
	longestPause = 5 * time.Minute
	maxDoublings = 9
	// headStart is the part of a pause by which who has not failed may try earlier: one
	// divided by it.
	headStart = 4
)

// tally counts the failures of one account or one address.
type tally struct {
	// failed are those that count, the oldest first, at most as many as the limit.
	failed []failure
	// trying is how many tries are under way.
	trying int
	// pauses is how many pauses there were since the last window without a failure. As long as it
	// is above 0, every failure is followed by a pause, and tries go one at a time.
	pauses int
	// pause is the length of the last one, until its end.
	pause time.Duration
	until time.Time
	// proven is when a password was right, for a pair of account and address.
	proven time.Time
}

type failure struct {
	at   time.Time
	from string
}

// pausing returns how much of a pause is left for tries from an address. An empty address
// has no head start.
func (t *tally) pausing(now time.Time, from string) time.Duration {
	t.forget(now)
	until := t.until
	if from != "" && !t.failedFrom(from) {
		until = until.Add(-t.pause / headStart)
	}
	return max(until.Sub(now), 0)
}

// wait returns how long a try has to wait, 0 when it may be made now.
func (t *tally) wait(now time.Time, limit int, from string) time.Duration {
	pausing := t.pausing(now, from)
	switch {
	case pausing > 0:
		return pausing
	case t.pauses > 0 && t.trying > 0, t.pauses == 0 && len(t.failed)+t.trying >= limit:
		return firstPause
	}
	return 0
}

// fail counts a failed try. From the limit on, a pause follows.
func (t *tally) fail(now time.Time, limit int, from string) {
	t.forget(now)
	if len(t.failed) == limit {
		t.failed = t.failed[1:]
	}
	t.failed = append(t.failed, failure{at: now, from: from})
	if t.pauses == 0 && len(t.failed) < limit {
		return
	}
	t.pause = min(firstPause<<min(t.pauses, maxDoublings), longestPause)
	t.until = now.Add(t.pause)
	t.pauses++
}

// empty tells that a new tally would say the same.
func (t *tally) empty() bool {
	return t.trying == 0 && len(t.failed) == 0 && t.pauses == 0 && t.proven.IsZero()
}

// clear forgets all failures.
func (t *tally) clear() {
	t.failed, t.pauses, t.pause, t.until = nil, 0, 0, time.Time{}
}

// forget drops what is older than the window.
func (t *tally) forget(now time.Time) {
	old := 0
	for old < len(t.failed) && now.Sub(t.failed[old].at) >= window {
		old++
	}
	t.failed = t.failed[old:]
	if len(t.failed) == 0 {
		t.clear()
	}
}

func (t *tally) failedFrom(from string) bool {
	for _, one := range t.failed {
		if one.from == from {
			return true
		}
	}
	return false
}
