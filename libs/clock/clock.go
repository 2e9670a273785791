// Package clock is the only place of the suite that reads the time of the machine.
//
// Everything else calls these functions, so that a linter can forbid the time
// package's own ones and a test can run the code in a testing/synctest bubble.
// Durations are measured on the monotonic clock that time.Time carries.
// The time that decides about leases is never taken from here: it is the clock
// of the metadata store (protocol T1).
package clock

import (
	"context"
	"time"
)

// Now returns the machine's time with its monotonic reading.
func Now() time.Time { return time.Now() }

// Since returns the monotonic time that has passed since t.
func Since(t time.Time) time.Duration { return time.Since(t) }

// Until returns the monotonic time left until t; it is negative when t has passed.
func Until(t time.Time) time.Duration { return time.Until(t) }

// NewTimer returns a timer that fires once after d. The caller stops it.
func NewTimer(d time.Duration) *time.Timer { return time.NewTimer(d) }

// NewTicker returns a ticker with period d, which is above 0. The caller stops it.
func NewTicker(d time.Duration) *time.Ticker { return time.NewTicker(d) }

// Sleep waits for d or until ctx ends, and returns ctx.Err() in the second case.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
