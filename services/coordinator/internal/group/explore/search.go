package explore

import (
	"hash/maphash"
	"slices"
)

// fairEvery is how many states there are to one that is continued with the fair schedule.
const fairEvery = 1000

// maxWorlds bounds the worlds that wait to be gone on from. One more is made again, when it
// is its turn, from the events that led to it.
const maxWorlds = 250_000

// Result says what a search has come to.
type Result struct {
	Setup    Setup
	States   int  // different ones
	Events   int  // tried
	Depth    int  // events of the longest shortest way to a state
	Complete bool // nothing is left
	Fair     int  // states that were continued with the fair schedule
	Steps    int  // of the core
	Visits   map[string]int
	Broken   *Violation // nil when every invariant has held
	Trace    []Event    // the shortest way to Broken
}

// search is a breadth-first search under way. States are kept as hashes of their canonical
// form, the way to each as the event that led to it and the state before.
type search struct {
	Result
	seen    map[uint64]struct{}
	seed    maphash.Seed
	parents []uint32
	events  []Event
	key     []byte
	env     *env
	waiting int // worlds that are kept
}

// found is a state that has not been gone on from yet.
type found struct {
	w  *World // nil when it has to be made again
	id uint32
}

// Search goes breadth first through everything that may happen in the setup, until nothing
// is left, bound states are reached, an invariant does not hold, or stop says so.
func Search(setup Setup, bound int, stop func() bool) Result {
	s := &search{Result: Result{Setup: setup}, seen: make(map[uint64]struct{}, min(bound, 1<<20)), seed: maphash.MakeSeed()}
	first := New(setup)
	s.env = first.env
	s.enter(first, 0, Event{})
	level := []found{{first, 0}}
	s.waiting = 1
	var buffer [256]Event
	for len(level) > 0 && s.Broken == nil && s.States < bound && !stop() {
		var next []found
		for i := range level {
			at := level[i]
			level[i].w = nil // what was gone on from is not needed any more
			if next = s.expand(at, next, buffer[:0]); s.Broken != nil || s.States >= bound || stop() {
				break
			}
		}
		if level = next; len(next) > 0 {
			s.Depth++
		}
	}
	s.Complete = len(level) == 0 && s.Broken == nil && s.States < bound && !stop()
	s.Steps, s.Visits = first.Steps(), first.Visits()
	return s.Result
}

// expand tries every event in a state and appends the new states to next.
func (s *search) expand(at found, next []found, buffer []Event) []found {
	if at.w == nil {
		at.w = newWorld(s.env).prepared()
		at.w.replay(s.way(at.id), false)
	} else {
		s.waiting--
	}
	for _, e := range at.w.Events(buffer) {
		child := at.w.Clone()
		if !child.Do(e) {
			continue
		}
		s.Events++
		if child.broken != nil {
			s.fail(child, append(s.way(at.id), e))
			return next
		}
		id, isNew := s.enter(child, at.id, e)
		if !isNew {
			continue
		}
		if s.States%fairEvery == 0 && !s.fair(child, id) {
			return next
		}
		if s.waiting < maxWorlds {
			s.waiting++
		} else {
			child = nil
		}
		next = append(next, found{child, id})
	}
	return next
}

// enter notes a state and tells whether it is new.
func (s *search) enter(w *World, parent uint32, e Event) (uint32, bool) {
	s.key = w.AppendKey(s.key[:0])
	sum := maphash.Bytes(s.seed, s.key)
	if _, known := s.seen[sum]; known {
		return 0, false
	}
	s.seen[sum] = struct{}{}
	s.parents, s.events = append(s.parents, parent), append(s.events, e)
	s.States++
	return uint32(len(s.parents) - 1), true
}

// fair goes on from a state without faults (V1–V3).
func (s *search) fair(w *World, id uint32) bool {
	c := w.Clone()
	s.Fair++
	if c.SettleFairly(); c.broken != nil {
		s.fail(c, s.way(id))
		return false
	}
	return true
}

func (s *search) fail(w *World, trace []Event) { s.Broken, s.Trace = w.broken, trace }

// way returns the events that led to a state.
func (s *search) way(id uint32) []Event {
	var events []Event
	for ; id != 0; id = s.parents[id] {
		events = append(events, s.events[id])
	}
	slices.Reverse(events)
	return events
}
