package explore

// Events appends to list what may happen now, the simpler ones first.
func (w *World) Events(list []Event) []Event {
	for i := range w.env.setup.Pauses {
		list = append(list, Event{Kind: Pause, Arg: int8(i)})
	}
	list = w.eventsOfGroup(list)
	if w.other != nil {
		first := len(list)
		w.lookAt(1)
		list = w.eventsOfGroup(list)
		w.lookAt(0)
		for i := range list[first:] {
			list[first+i].Group = 1
		}
	}
	return w.eventsOfShards(w.eventsOfRecord(list))
}

// eventsOfGroup lists what may happen in the house in focus.
func (w *World) eventsOfGroup(list []Event) []Event {
	for _, p := range w.procs {
		list = w.eventsOf(p, list)
	}
	if len(w.procs) < w.env.setup.Processes {
		for i := range w.env.setup.members() {
			if w.idFree(memberID(i)) {
				list = w.newcomers(list, Event{Kind: Start, Arg: int8(i), Life: int16(w.lives + 1)})
			}
		}
	}
	for i := range w.bag {
		list = w.eventsOfMessage(i, list)
	}
	for pod := range w.env.setup.Pods {
		list = w.eventsOfPod(int8(pod), list)
	}
	return w.eventsOfStore(list)
}

// members are how many ids there are.
func (s *Setup) members() int { return min(memberIDs, s.Processes) }

func (w *World) idFree(id string) bool {
	for _, p := range w.procs {
		if p.id == id {
			return false
		}
	}
	return true
}

// newcomers appends the event, and the same with an old client.
func (w *World) newcomers(list []Event, e Event) []Event {
	list = append(list, e)
	if w.may(OldClients) {
		e.Mode = 1
		list = append(list, e)
	}
	return list
}

// eventsOf lists what a process may do.
func (w *World) eventsOf(p *process, list []Event) []Event {
	life := int16(p.life)
	for pod := range w.env.setup.Pods {
		list = append(list, Event{Kind: RoundTrip, Life: life, Pod: int8(pod)})
		if w.coords[pod].cache != nil {
			list = append(list, Event{Kind: RoundTrip, Life: life, Pod: int8(pod), Mode: Cached})
		}
	}
	if !w.env.setup.Prompt {
		list = append(list, Event{Kind: Send, Life: life})
	}
	if !w.has(Slowness) && (w.givesBack(p, revokedPhase) || w.handles(p)) {
		list = append(list, Event{Kind: Handled, Life: life})
	}
	list = w.reads(p, list)
	if w.may(Goodbyes) && p.parting == 0 {
		if !p.isOld() && !p.leaving {
			list = append(list, Event{Kind: Leave, Life: life})
		}
		list = append(list, Event{Kind: Depart, Life: life}, Event{Kind: Depart, Life: life, Mode: 1})
	}
	if w.may(Crashes) {
		list = append(list, Event{Kind: Crash, Life: life}, Event{Kind: Crash, Life: life, Mode: 1})
	}
	if w.may(Twins) && len(w.procs) < w.env.setup.Processes {
		twin := Event{Kind: Twin, Life: life}
		if list = append(list, twin); p.isOld() {
			twin.Mode = 1
			list = append(list, twin)
		}
	}
	if w.may(BadReports) && p.parting == 0 {
		list = w.lies(p, list)
	}
	return list
}

// lies lists the wrong reports that a process may send.
func (w *World) lies(p *process, list []Event) []Event {
	life := int16(p.life)
	for shard := range w.env.setup.most() {
		if !w.knows(p, shard) {
			list = append(list, Event{Kind: Lie, Life: life, Arg: int8(shard)})
		}
	}
	if w.givesBack(p, revokedPhase) {
		list = append(list, Event{Kind: Lie, Life: life, Mode: 1})
	}
	return list
}

// eventsOfMessage lists what may become of a message.
func (w *World) eventsOfMessage(i int, list []Event) []Event {
	m := w.bag[i]
	age := int8(0)
	for _, n := range w.bag[i+1:] {
		if n.life == m.life && (n.resp == nil) == (m.resp == nil) {
			age++
		}
	}
	e := Event{Kind: Return, Life: int16(m.life), Age: age}
	if m.resp != nil {
		list = append(list, e)
		if w.may(Duplicates) {
			list = append(list, Event{Kind: Return, Life: e.Life, Age: age, Mode: Repeated})
		}
	} else {
		list = w.deliveries(i, e, list)
	}
	if w.may(Drops) {
		drop := Event{Kind: Drop, Life: e.Life, Age: age}
		if m.resp != nil {
			drop.Mode = 1
		}
		list = append(list, drop)
	}
	return list
}

func (w *World) deliveries(i int, e Event, list []Event) []Event {
	e.Kind = Deliver
	for pod := range w.env.setup.Pods {
		e.Pod = int8(pod)
		add := func(mode int8) {
			e.Mode = mode
			list = append(list, e)
		}
		add(AtOnce)
		if w.coords[pod].cache != nil {
			add(Cached)
		}
		if w.may(Delays) {
			add(Later)
		}
		if w.may(Batches) && w.nextRequest(i) >= 0 {
			add(Batched)
			if w.may(Delays) {
				add(BatchedLater)
			}
		}
		if w.may(Duplicates) {
			add(Repeated)
		}
	}
	return list
}

// nextRequest returns the place of another request under way, -1 when there is none.
func (w *World) nextRequest(not int) int {
	for i, m := range w.bag {
		if i != not && m.resp == nil {
			return i
		}
	}
	return -1
}
