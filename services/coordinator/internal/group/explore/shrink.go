package explore

import (
	"fmt"
	"slices"
	"strings"
)

// maxTries bounds the replays of a shrinking, not by much.
const maxTries = 5000

// Shrink leaves out events as long as the same invariant does not hold at the end (delta
// debugging). What cannot happen any more is skipped. The result ends with the violation.
func Shrink(setup Setup, events []Event, invariant string) []Event {
	fails := func(list []Event) ([]Event, bool) {
		w, done := Replay(setup, list, setup.Fair)
		return done, w.broken != nil && w.broken.Invariant == invariant
	}
	best, found := fails(events)
	if !found {
		return events
	}
	tries := 0
	for again := true; again && tries < maxTries; {
		again = false
		for size := max(len(best)/2, 1); size >= 1; size /= 2 {
			for from := 0; from < len(best); {
				tries++
				rest := append(append([]Event{}, best[:from]...), best[min(from+size, len(best)):]...)
				if done, still := fails(rest); still {
					best, again = done, true
				} else {
					from += size
				}
			}
		}
	}
	return best
}

// Explain returns what happens in a trace: as a script of the core as far as its words go,
// and as the story of the world.
func Explain(setup Setup, events []Event) string {
	w := newWorld(newEnv(setup))
	w.env.logging = true
	w.each(func(w *World) { w.env.scripts[w.focus] = newScript(w) })
	w.prepared().replay(events, setup.Fair)
	var b strings.Builder
	fmt.Fprintf(&b, "events of %q:\n", setup.Name)
	for _, e := range slices.Concat(setup.Before, events) {
		fmt.Fprintf(&b, "  %v\n", e)
	}
	log := w.env.log
	if len(log) > 200 {
		log = log[len(log)-200:]
	}
	fmt.Fprintf(&b, "story:\n%s\n", strings.Join(log, "\n"))
	for nth := range w.groups() {
		of := ""
		if w.other != nil { // the language knows one group: each sees the layouts of the driver
			of = ", group " + groupName(nth) + " by itself"
		}
		fmt.Fprintf(&b, "script of the core%s:\n%s", of, w.env.scripts[nth].text())
	}
	return b.String()
}
