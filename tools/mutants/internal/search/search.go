// Package search has the searches look for a mutation: it builds the tests of a package
// from the changed sources and runs them.
//
// Nothing is copied and nothing in the tree is written: the changed files lie in a scratch
// directory, and the build reads them in place of the real ones (go build -overlay, which
// holds for embedded scripts too).
package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/tools/mutants/internal/mutation"
)

// Verdict is what a search came to.
type Verdict string

// The verdicts. Only Caught counts as noticed.
const (
	// Caught: a test has failed.
	Caught Verdict = "caught"
	// Survived: all tests passed.
	Survived Verdict = "survived"
	// NotBuilt: the sources do not compile, so nothing was searched.
	NotBuilt Verdict = "not built"
	// Crashed: the tests broke off without the failure of an expectation.
	Crashed Verdict = "crashed"
	// TimedOut: the limit in time was over.
	TimedOut Verdict = "timed out"
	// Empty: the search has no tests.
	Empty Verdict = "no tests"
)

// Finding is the outcome of one search.
type Finding struct {
	Search  mutation.Search
	Verdict Verdict
	// Test is the test that failed, the innermost one.
	Test string
	// Invariant is what the exploration found broken, Way how it went about it, Trace the
	// number of events that led there; empty and 0 for other searches.
	Invariant, Way string
	Trace          int
	// Took is the time from the start of the tests, without the build.
	Took time.Duration
	// Output is the end of what was printed.
	Output string
}

// Runner runs searches one after another. It is not for use by several goroutines.
type Runner struct {
	// Root is the root of the workspace, as an absolute path.
	Root string
	// Scratch is a directory for the changed files and the built tests.
	Scratch string
	// Limit bounds the time of one search, without the build.
	Limit time.Duration
}

// grace is how long tests may go on after a failure was seen, to say how it ends.
const grace = 2 * time.Second

// Run searches the sources with the changed files in place of the real ones; changed is by
// path below Root, empty for the sources as they are. An error is one of the tool, not of
// the sources.
func (r Runner) Run(ctx context.Context, changed map[string]string, s mutation.Search) (Finding, error) {
	overlay, err := writeOverlay(r.Scratch, r.Root, changed)
	if err != nil {
		return Finding{}, err
	}
	binary := filepath.Join(r.Scratch, "search.test")
	said, err := r.build(ctx, overlay, binary, s.Package)
	if ctx.Err() != nil {
		return Finding{}, ctx.Err()
	}
	if _, failed := errors.AsType[*exec.ExitError](err); failed {
		return Finding{Search: s, Verdict: NotBuilt, Output: said}, nil
	}
	if err != nil {
		return Finding{}, fmt.Errorf("build the tests of %s: %w", s.Package, err)
	}
	f, err := r.search(ctx, binary, s)
	if err != nil {
		return Finding{}, err
	}
	f.Search = s
	return f, nil
}

func (r Runner) build(ctx context.Context, overlay, binary, pkg string) (said string, err error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", overlay, "-o", binary, "./"+pkg)
	cmd.Dir = r.Root
	output, err := cmd.CombinedOutput()
	return string(output), err
}

// search runs the tests until they end, one has failed, or the time is over.
func (r Runner) search(ctx context.Context, binary string, s mutation.Search) (Finding, error) {
	if _, err := os.Stat(binary); err != nil { // a package without tests builds nothing
		return Finding{Verdict: Empty}, nil
	}
	defer func() { _ = os.Remove(binary) }()
	limited, cancel := context.WithTimeout(ctx, r.Limit)
	defer cancel()
	cmd := exec.CommandContext(limited, binary, append([]string{"-test.run", s.Run, "-test.v", "-test.failfast"}, s.Flags...)...)
	cmd.Dir = filepath.Join(r.Root, filepath.FromSlash(s.Package))
	cmd.Env = append(cmd.Environ(), "RAPID_NOFAILFILE=true") // property tests write down what fails
	alone(cmd)
	cmd.Cancel, cmd.WaitDelay = func() error { return end(cmd) }, grace
	l := newListener()
	cmd.Stdout, cmd.Stderr = l, l
	start := clock.Now()
	if err := cmd.Start(); err != nil {
		return Finding{}, fmt.Errorf("start the tests of %s: %w", s.Package, err)
	}
	err := wait(cmd, l, cancel)
	if ctx.Err() != nil {
		return Finding{}, ctx.Err()
	}
	f := l.finding(err == nil)
	if f.Verdict == Crashed && limited.Err() != nil {
		f.Verdict = TimedOut
	}
	if f.Took = clock.Since(start); f.Verdict == Caught {
		f.Took = l.failedAt.Sub(start)
	}
	return f, nil
}

// wait returns when the tests have ended, which they are made to soon after a failure.
func wait(cmd *exec.Cmd, l *listener, stop context.CancelFunc) error {
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-l.failed:
	}
	timer := clock.NewTimer(grace)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		stop()
		return <-ended
	}
}
