package explore

// producer goes by a routing answer until that runs out. It may have been paused with a record
// in its hand, which is added whenever it goes on.
type producer struct {
	routes int8  // shards that its routing answer names, 0 when it has none
	until  int64 // true time when the answer runs out
}

// doAskRoute gives the producer a routing answer that is confirmed at the store (L3).
func (w *World) doAskRoute(Event) bool {
	if w.shards == nil {
		return false
	}
	w.editShards().producer = w.routing()
	w.logf("the producer is told of %d shards", w.stream.rec.ShardCount)
	return true
}

func (w *World) routing() producer {
	return producer{routes: int8(w.stream.rec.ShardCount), until: w.now + routingLease}
}

// mayPublish tells whether the producer knows of the shard, and there is room in this world.
func (w *World) mayPublish(index int) bool {
	if index >= int(w.shards.producer.routes) {
		return false
	}
	for nth := range w.groups() {
		if w.shards.list[index].of[nth].open() >= mostOpen {
			return false
		}
	}
	return true
}

// doPublish adds a record to a shard. A sealed one takes none, and the producer asks again; so
// it does when its routing answer has run out meanwhile.
func (w *World) doPublish(e Event) bool {
	if w.shards == nil || !w.mayPublish(int(e.Arg)) || !w.spend(Publishes) {
		return false
	}
	s := w.editShards()
	late := w.now >= s.producer.until
	if !s.list[e.Arg].there {
		s.producer = producer{}
		w.visit("publish refused")
		w.logf("shard %d takes no record", e.Arg)
		return true
	}
	if w.visit("published"); late {
		s.producer = producer{}
		w.visit("published late")
	}
	for nth := range w.groups() {
		s.list[e.Arg].of[nth].unread++
	}
	w.logf("a record is added to shard %d, late %v", e.Arg, late)
	w.checkLease(int(e.Arg), late)
	return true
}

// checkLease is L3: when the drain begins all routing answers that name removed shards have
// run out.
func (w *World) checkLease(index int, late bool) {
	rec := &w.stream.rec
	r := rec.Resharding
	if late || w.has(StreamLosses) || r == nil || index < rec.ShardCount || r.DrainFrom == 0 || w.recordClock() < r.DrainFrom {
		return
	}
	w.violated("L3", "a record comes to removed shard %d by a routing answer that holds, the drain has begun", index)
}

// mayTake tells whether the process may read something of the shard: new records, or those
// that were delivered to another one.
func (w *World) mayTake(p *process, index int) bool {
	s := &w.shards.list[index]
	b := s.of[w.focus]
	return s.there && (b.unread > 0 || b.pending > 0 && b.reader != p.life) && w.mayRead(p, index)
}

// doRead delivers the records of a shard to a process of the group, and claims those that it
// finds pending.
func (w *World) doRead(e Event) bool {
	i := w.process(int(e.Life))
	if w.shards == nil || i < 0 || !w.mayTake(w.procs[i], int(e.Arg)) {
		return false
	}
	w.takeAll(w.procs[i], int(e.Arg))
	return true
}

func (w *World) takeAll(p *process, index int) {
	b := &w.editShards().list[index].of[w.focus]
	if b.pending > 0 {
		w.visit("claimed")
	}
	*b = backlog{pending: b.open(), reader: p.life}
	w.logf("%s reads shard %d", p.name, index)
}

// handles tells whether handlers of the process run.
func (w *World) handles(p *process) bool {
	if w.shards == nil {
		return false
	}
	for i := range w.shards.list {
		if b := w.shards.list[i].of[w.focus]; b.pending > 0 && b.reader == p.life {
			return true
		}
	}
	return false
}

// acknowledge ends the handlers of a process well. It may be late: then another one may handle
// the same records.
func (w *World) acknowledge(p *process) {
	if !w.handles(p) {
		return
	}
	s := w.editShards()
	for i := range s.list {
		if b := &s.list[i].of[w.focus]; b.reader == p.life {
			b.pending, b.reader = 0, 0
		}
	}
	w.visit("handled")
}

// eventsOfShards lists what the producer may do.
func (w *World) eventsOfShards(list []Event) []Event {
	if w.shards == nil {
		return list
	}
	if w.shards.producer != w.routing() {
		list = append(list, Event{Kind: AskRoute})
	}
	if w.may(Publishes) {
		for index := range int(w.shards.producer.routes) {
			if w.mayPublish(index) {
				list = append(list, Event{Kind: Publish, Arg: int8(index)})
			}
		}
	}
	return list
}

// reads lists the shards that a process may take records from.
func (w *World) reads(p *process, list []Event) []Event {
	if w.shards == nil {
		return list
	}
	for index := range w.env.setup.most() {
		if w.mayTake(p, index) {
			list = append(list, Event{Kind: Read, Life: int16(p.life), Arg: int8(index)})
		}
	}
	return list
}
