package explore

// Chooser decides what happens next in a walk: a seeded generator, which is fast, or a
// property test, which can shrink.
type Chooser interface {
	// Pick returns a number from 0 to n-1. Low numbers are the simpler choices.
	Pick(n int) int
}

// Walk lets as many events happen as the setup says, or until an invariant does not hold,
// and goes on with the fair schedule. It returns the world at its end and the events.
func Walk(setup Setup, choose Chooser) (*World, []Event) {
	return WalkWith(setup, choose, func(*World) {})
}

// WalkWith is Walk with a look at the world after each event.
func WalkWith(setup Setup, choose Chooser, look func(*World)) (*World, []Event) {
	w := New(setup)
	trace := w.walk(choose, look)
	return w, trace
}

func (w *World) walk(choose Chooser, look func(*World)) []Event {
	trace := make([]Event, 0, w.env.setup.Depth)
	var buffer [256]Event
	for len(trace) < w.env.setup.Depth && w.broken == nil {
		e := pick(&w.env.setup, w.Events(buffer[:0]), choose)
		if w.Do(e) {
			trace = append(trace, e)
			look(w)
		}
	}
	if w.broken == nil && w.env.setup.Fair {
		w.SettleFairly()
	}
	return trace
}

// pick chooses the kind of event by its weight, then one of the kind.
func pick(setup *Setup, events []Event, choose Chooser) Event {
	var count [kinds]int
	total := 0
	for _, e := range events {
		if count[e.Kind]++; count[e.Kind] == 1 {
			total += e.Kind.weight(setup)
		}
	}
	at := choose.Pick(total)
	for kind := range kinds {
		if count[kind] == 0 {
			continue
		}
		if at -= kind.weight(setup); at >= 0 {
			continue
		}
		nth := choose.Pick(count[kind])
		for _, e := range events {
			if e.Kind != kind {
				continue
			}
			if nth == 0 {
				return e
			}
			nth--
		}
	}
	return events[0]
}

// Replay lets the events happen that can, in a world of the setup, and says which ones those
// were. With fair it goes on with the fair schedule when all invariants have held.
func Replay(setup Setup, events []Event, fair bool) (*World, []Event) {
	w := New(setup)
	done := w.replay(events, fair)
	return w, done
}

func (w *World) replay(events []Event, fair bool) []Event {
	done := make([]Event, 0, len(events))
	for _, e := range events {
		if w.Do(e) {
			done = append(done, e)
		}
		if w.broken != nil {
			return done
		}
	}
	if fair {
		w.SettleFairly()
	}
	return done
}
