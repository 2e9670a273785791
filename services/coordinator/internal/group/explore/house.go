package explore

// house is what belongs to one group of the stream: its store, what the coordinators know of
// it and are about to do, its processes and the messages between them. Groups are in slots of
// their own: their stores fail over, lose writes and have a clock each for itself.
type house struct {
	offset int64 // of the store's clock to true time
	store  store
	damage damage // of the stored record
	coords [2]coordinator
	procs  []*process // that live, by life
	bag    []message  // by sender

	jumps, losses int // jumps of the store's clock, losses of the store's writes
	fences        [memberIDs]int
	// closedIn is the layout version that closed a shard which is sealed since. A shard is
	// not in it when the group has fallen back behind that version: then it may be granted.
	closedIn []closing
}

// mostGroups are as many groups as a stream may have here.
const mostGroups = 2

// groups returns how many groups the stream has.
func (w *World) groups() int {
	if w.other == nil {
		return 1
	}
	return mostGroups
}

// groupName names a group of the stream; names are in the order of the groups.
func groupName(nth int) string { return string(rune('g' + nth)) }

// lookAt brings the house of a group into focus. Between events it is that of the first.
func (w *World) lookAt(nth int) {
	if nth != w.focus {
		w.house, *w.other = *w.other, w.house
		w.focus = nth
	}
}

// houseOf returns the house of a group, wherever the focus is.
func (w *World) houseOf(nth int) *house {
	if nth == w.focus {
		return &w.house
	}
	return w.other
}

// each does something with every group in focus, and leaves the first one there.
func (w *World) each(do func(*World)) {
	for nth := range w.groups() {
		w.lookAt(nth)
		do(w)
	}
	w.lookAt(0)
}

// all tells whether something is so with every group in focus, and leaves the first one there.
func (w *World) all(is func(*World) bool) bool {
	holds := true
	for nth := range w.groups() {
		w.lookAt(nth)
		holds = holds && is(w)
	}
	w.lookAt(0)
	return holds
}

// clone returns a copy that can go another way.
func (h *house) clone() house {
	c := *h
	c.procs, c.bag = append([]*process(nil), h.procs...), append([]message(nil), h.bag...)
	return c
}
