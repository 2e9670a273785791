package ledger

import (
	"golang.org/x/sys/unix"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// now returns the time on the monotonic clock of the host, which all its processes share,
// and on the calendar. Go's own monotonic time begins with the process.
func now() (mono, wall int64) {
	var at unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &at) == nil {
		mono = at.Nano()
	}
	return mono, clock.Now().UnixNano()
}
