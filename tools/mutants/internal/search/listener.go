package search

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// kept is how many lines of output a finding keeps.
const kept = 60

// listener is what the tests write to: it notices the first failure while they go on. The
// output is that of go test -v, in which the text of a failure stands behind the name of
// its test and comes long before its FAIL line, when other tests run beside it.
type listener struct {
	name, fail, violation *regexp.Regexp

	rest    []byte // the line that is not whole yet
	lines   []string
	current string // the test that writes
	runs    int    // tests that have begun
	crashed bool

	failed   chan struct{} // closed at the first failure
	failedAt time.Time
	test     string // that failed first
	// What the exploration says of it: the broken invariant, the events of the trace, and
	// which search has found it.
	invariant, way string
	events         int
}

func newListener() *listener {
	return &listener{
		name: regexp.MustCompile(`^=== (RUN|NAME|CONT) +(\S+)$`),
		fail: regexp.MustCompile(`^ *--- FAIL: (\S+)`),
		// What the exploration prints.
		violation: regexp.MustCompile(`^VIOLATION (\S+) trace-length=(\d+) search=(.+?)(?: seed=\d+)?$`),
		failed:    make(chan struct{}),
	}
}

// Write implements io.Writer. It never fails.
func (l *listener) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		l.line(string(line))
		l.rest = bytes.Clone(rest)
	}
}

func (l *listener) line(line string) {
	if l.lines = append(l.lines, line); len(l.lines) > kept {
		l.lines = l.lines[1:]
	}
	if m := l.name.FindStringSubmatch(line); m != nil {
		l.current = m[2]
		if m[1] == "RUN" {
			l.runs++
		}
		return
	}
	if m := l.violation.FindStringSubmatch(line); m != nil {
		l.note(l.current)
		if l.events == 0 {
			l.invariant, l.way = m[1], m[3]
			l.events, _ = strconv.Atoi(m[2])
		}
		return
	}
	switch m := l.fail.FindStringSubmatch(line); {
	case strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "fatal error: "):
		l.crashed = true
	case m != nil:
		l.note(m[1])
	case strings.HasPrefix(strings.TrimSpace(line), "Error Trace:"):
		l.note(l.current)
	}
}

// note takes the first failure for the one that counts, or one inside of it.
func (l *listener) note(test string) {
	if l.test == "" {
		l.failedAt = clock.Now()
		close(l.failed)
	}
	if l.test == "" || strings.HasPrefix(test, l.test+"/") {
		l.test = test
	}
}

// finding says what the tests came to; clean tells that they ended by themselves and
// without a failure. Call it when nothing is written any more.
func (l *listener) finding(clean bool) Finding {
	f := Finding{Test: l.test, Invariant: l.invariant, Way: l.way, Trace: l.events, Output: strings.Join(append(l.lines, string(l.rest)), "\n")}
	switch {
	case l.crashed:
		f.Verdict = Crashed
	case !clean && l.test != "":
		f.Verdict = Caught
	case !clean:
		f.Verdict = Crashed
	case l.runs == 0:
		f.Verdict = Empty
	default:
		f.Verdict = Survived
	}
	return f
}
