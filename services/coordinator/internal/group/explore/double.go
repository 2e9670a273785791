package explore

import (
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// Double is a real store that does in a walk what the modelled one does, so that the two can
// be compared. States are named by the model's tokens. An error is a failed run.
type Double interface {
	// Create makes the record; one that is there is deleted before.
	Create(now group.Millis, token int) error
	// Load returns what Commit is given as from.
	Load(now group.Millis) (from any, err error)
	// Exact tells that the store's clock is the model's, so that leases run out alike.
	Exact() bool
	// Commit and Touch tell whether the store accepted, and which beats were applied. The
	// from of a touch is nil where the decision rests on a cached state.
	Commit(now group.Millis, from any, token int, out group.Output) (accepted bool, applied []bool, err error)
	Touch(now group.Millis, from any, token int, out group.Output) (accepted bool, applied []bool, err error)
	// FailOver loses the last commits.
	FailOver(lost int, identity string) error
	// Same tells how what is stored differs from the model, "" for not at all.
	Same(now group.Millis, token int, live map[string]group.Liveness) (string, error)
}

// WalkBeside is Walk with a real store beside the modelled one. A difference is a violation
// of the invariant "store".
func WalkBeside(setup Setup, choose Chooser, d Double) (*World, []Event) {
	w := New(setup)
	w.env.double = d
	w.beside(d.Create(w.clock(), w.store.token))
	trace := w.walk(choose, func(*World) {})
	return w, trace
}

// beside notes a failure of the real store.
func (w *World) beside(err error) {
	if err != nil {
		w.violated("store", "the real store fails: %v", err)
	}
}

// double returns the real store beside the model, which is one of the first group.
func (w *World) double() Double {
	if w.focus != 0 {
		return nil
	}
	return w.env.double
}

func (w *World) loadBeside() any {
	d := w.double()
	if d == nil {
		return nil
	}
	from, err := d.Load(w.clock())
	w.beside(err)
	return from
}

// compare holds the outcome of a write against the real store's.
func (w *World) compare(what string, ok bool, done stored, accepted bool, applied []bool, err error) {
	w.visit("compared")
	w.beside(err)
	if ok != accepted {
		w.violated("store", "%s: the model says %v, the real store %v", what, ok, accepted)
		return
	}
	if !ok {
		w.visit("compared conflict")
		return
	}
	for i := range done.applied {
		if applied[i] != done.applied[i] {
			w.violated("store", "%s: beat %d applied %v, by the real store %v", what, i, done.applied[i], applied[i])
		}
	}
	difference, err := w.env.double.Same(w.clock(), w.store.token, w.store.live.fill(w.env.live[1]))
	if w.beside(err); difference != "" {
		w.violated("store", "%s: %s", what, difference)
	}
}
