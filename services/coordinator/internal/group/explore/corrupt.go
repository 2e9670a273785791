package explore

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// damage is what is wrong with the stored record of a group (M6).
type damage int8

const (
	// unhurt records can be read.
	unhurt damage = iota
	// badBytes are behind a version that can be read: who has the state of that version goes on
	// with it, until it looks at the whole record. Its next commit writes all of it anew.
	badBytes
	// badVersion is another version than any that was committed, or none.
	badVersion
)

// doCorrupt makes the stored record of the group unreadable.
func (w *World) doCorrupt(e Event) bool {
	if w.damage != unhurt || !w.spend(Corruption) {
		return false
	}
	w.damage = damage(e.Arg)
	w.losses++
	w.visit("corrupt")
	w.logf("the record is damaged, %d", w.damage)
	w.script().unsayable("the record cannot be read")
	return true
}

// readable tells whether a coordinator can load the group: a version that it knows is enough.
func (w *World) readable(pod int) bool {
	cache := w.coords[pod].cache
	return w.damage == unhurt || w.damage == badBytes && cache != nil && cache.token == w.store.token
}

// failClosed answers for a record that cannot be read as for a group that is not there; nothing
// is written (M6). A driver that asked to copy the layout of rec goes on to the next group.
func (w *World) failClosed(pod int, msgs []message, rec *stream.Stream) {
	w.visit("fails closed")
	if w.coords[pod].cache = nil; rec != nil {
		w.copied(pod, rec, nil)
	}
	for _, m := range msgs {
		w.post(message{life: m.life, req: m.req, resp: &protocol.HeartbeatResponse{
			ResponseTo: m.req.RequestID, MemberID: m.req.MemberID, MemberEpoch: m.req.MemberEpoch,
			Status: protocol.StatusUnknownMemberID, Reason: protocol.ReasonUnknownGroup,
		}})
	}
	w.logf("%s cannot read the record", podName(pod))
}

// checkClosed is I13: nothing is committed and nobody is let on while the record cannot be read.
func (w *World) checkClosed(was damage, what string) {
	if was == badVersion {
		w.violated("I13", "%s, though the record cannot be read", what)
	}
}

// settleBeside shows that a group goes on beside one that cannot be read: it becomes stable, with
// lost shards made again and the layout copied (I13). Where it has copied a layout that the
// record has lost, both have to be read first.
func (w *World) settleBeside(bound int64) {
	if w.all((*World).hurt) {
		return
	}
	for round := 0; !w.all((*World).goesOn); round++ {
		if !w.all(func(w *World) bool { return w.hurt() || !w.followsLost(&w.stream.rec) }) {
			return
		}
		if w.now > bound {
			w.violated("I13", "not stable beside a group that cannot be read:\n%s", w.String())
			return
		}
		if w.fairRound(round); w.broken != nil {
			return
		}
	}
}

func (w *World) hurt() bool { return w.damage != unhurt }

// repair creates a group again that cannot be read.
func (w *World) repair() {
	if w.hurt() {
		w.doRecreate(Event{})
	}
}

// goesOn tells whether the group is stable and follows the record, unless it cannot be read.
func (w *World) goesOn() bool {
	rec := &w.stream.rec
	return w.hurt() || w.settled() && w.store.g.LayoutVersion >= rec.LayoutVersion && len(rec.Lost) == 0
}
