// Package check tries a running suite as its users do: a stream is made, records flow, the
// members share the shards, the shard count changes, metrics and the console are there. It
// knows addresses only, so that it fits every way in which the suite is run.
package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

const (
	// interval is the pause between two looks at what should come.
	interval = 500 * time.Millisecond
	// patience bounds one look.
	patience = 10 * time.Second
)

// Step is one thing that has to work.
type Step struct {
	// Claim says what works when it does.
	Claim string
	// Next says where to look when it does not.
	Next string
	// Do returns what was seen. It ends with ctx.
	Do func(ctx context.Context) (string, error)
}

// Run does the steps one after the other, a line each on out, until one fails. The error
// names the step and what was last seen.
func Run(ctx context.Context, out io.Writer, steps []Step) error {
	begun := clock.Now()
	for i, step := range steps {
		start := clock.Now()
		fmt.Fprintf(out, "[%d/%d] %s …\n", i+1, len(steps), step.Claim)
		seen, err := step.Do(ctx)
		took := clock.Since(start).Round(100 * time.Millisecond)
		if err != nil {
			fmt.Fprintf(out, "        FAILED after %s: %v\n        next: %s\n", took, err, step.Next)
			return fmt.Errorf("step %d of %d, %s: %w", i+1, len(steps), step.Claim, err)
		}
		fmt.Fprintf(out, "        ok in %s: %s\n", took, seen)
	}
	fmt.Fprintf(out, "all %d steps hold, in %s\n", len(steps), clock.Since(begun).Round(100*time.Millisecond))
	return nil
}

// errNone stands until there was a look.
var errNone = errors.New("there was no time to look")

// await looks until a look succeeds or ctx ends; then the error is that of the last look.
func await(ctx context.Context, look func(context.Context) (string, error)) (string, error) {
	last := errNone
	for {
		one, cancel := context.WithTimeout(ctx, patience)
		seen, err := look(one)
		cancel()
		if err == nil {
			return seen, nil
		}
		if ctx.Err() == nil || errors.Is(last, errNone) { // a look that was cut off says less
			last = err
		}
		if clock.Sleep(ctx, interval) != nil {
			return "", fmt.Errorf("time is up: %w", last)
		}
	}
}
