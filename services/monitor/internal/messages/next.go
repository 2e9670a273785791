package messages

import "github.com/redis-stream-coordinator/rsc/libs/redisx"

// cursor writes how far a walk has come, and how many of the records it is a cursor behind:
// FORWARD over very many shards fewer than were taken where only that makes it short enough.
func (w *walk) cursor(q Query, floors map[int]redisx.EntryID) (*string, int) {
	taken := len(w.steps)
	for _, records := range []int{taken, w.given(floors), min(alwaysFit, taken)} {
		if records == 0 {
			continue
		}
		at, reaches := w.after(records)
		if next, whole := cursorOf(q, w.forward, at, reaches, floors); whole {
			return next, records
		}
	}
	// More shards than can be named were last written to beyond the clocks of their servers.
	next, _ := cursorOf(q, w.forward, *w.at, w.reaches(), floors)
	return next, taken
}

// given returns how many of the records that were taken have ids that no server gives any
// more: behind them nobody can write, so that a cursor has to name nobody.
func (w *walk) given(floors map[int]redisx.EntryID) int {
	floor := highestID()
	for _, of := range floors {
		if of.Compare(floor) < 0 {
			floor = of
		}
	}
	for i, step := range w.steps {
		if step.at != nil && step.at.id.Compare(floor) > 0 || step.taken.id.Compare(floor) > 0 {
			return i
		}
	}
	return len(w.steps)
}

// cursorOf writes how far the shards were read: of one shard the id, of all a position and,
// FORWARD, what is behind it. BACKWARD nothing is: what is left lies before the position, and
// what is written later beyond it stays out. It tells false where not all could be said.
func cursorOf(q Query, forward bool, at position, reaches []reach, floors map[int]redisx.EntryID) (*string, bool) {
	switch {
	case !q.AllShards:
		id := at.id.String()
		return &id, true
	case !forward:
		return at.text(nil), true
	}
	known, list := knownOf(reaches), behind(at, reaches)
	said, whole := encodeBehind(at, known, list)
	if !whole {
		said, whole = encodeBehind(at, known, raise(at, list, floors))
	}
	return at.text(said), whole
}
