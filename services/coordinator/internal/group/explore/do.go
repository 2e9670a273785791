package explore

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/member"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const revokedPhase = member.Revoked

// Do lets an event happen and checks the invariants. It tells whether the event could happen;
// what could not leaves the world as it is.
func (w *World) Do(e Event) bool {
	if !w.env.handlers[e.Kind](w, e) {
		return false
	}
	w.checkState()
	return true
}

func handlers() [kinds]func(*World, Event) bool {
	return [kinds]func(*World, Event) bool{
		Pause: (*World).doPause, RoundTrip: (*World).doRoundTrip, Send: (*World).doSend, Deliver: (*World).doDeliver,
		Return: (*World).doReturn, Drop: (*World).doDrop, Tick: (*World).doTick, Conclude: (*World).doConclude,
		Handled: (*World).doHandled, Start: (*World).doStart, Leave: (*World).doLeave, Depart: (*World).doDepart,
		Crash: (*World).doCrash, Twin: (*World).doTwin, Lie: (*World).doLie, Calm: (*World).doCalm,
		Restart: (*World).doRestart, FailOver: (*World).doFailOver, Jump: (*World).doJump,
		LoseLiveness: (*World).doLoseLiveness, Recreate: (*World).doRecreate, Drive: (*World).doDrive,
		Scale: (*World).doScale, RollBack: (*World).doRollBack, LoseShard: (*World).doLoseShard,
		StreamFallsBack: (*World).doStreamFallsBack, OrderBarrier: (*World).doOrder, OrderUnbar: (*World).doOrder,
		OrderFence: (*World).doOrder,
	}
}

func (w *World) doPause(e Event) bool {
	w.now += ms(w.env.setup.Pauses[e.Arg])
	return true
}

func (w *World) doRoundTrip(e Event) bool {
	if w.process(int(e.Life)) < 0 {
		return false
	}
	w.roundTrip(int(e.Life), int(e.Pod), e.Mode)
	return true
}

// roundTrip is a heartbeat on a good day, by the cached snapshot if mode says so and it can be.
func (w *World) roundTrip(life, pod int, mode int8) {
	p := w.edit(life)
	m := message{life: life, req: w.send(p)}
	if w.env.logging {
		w.logf("%s sends %s", p.name, requestText(m.req))
	}
	w.clear(pod)
	w.hand(pod, []message{m}, mode)
	for i, back := range slices.Backward(w.bag) {
		if back.req == m.req && back.resp != nil {
			w.hearBack(w.take(i, false))
			return
		}
	}
}

// hand lets a coordinator deal with requests.
func (w *World) hand(pod int, msgs []message, mode int8) {
	if mode == Cached && w.steady(pod, msgs) {
		return
	}
	w.begin(pod, msgs, errand{})
	if mode != Later && mode != BatchedLater {
		w.conclude(pod, lasts)
		return
	}
	w.env.script.loaded(w)
}

func (w *World) doSend(e Event) bool {
	p := w.edit(int(e.Life))
	if p == nil {
		return false
	}
	w.sendOut(p)
	return true
}

func (w *World) sendOut(p *process) {
	m := message{life: p.life, req: w.send(p)}
	if w.env.logging {
		w.logf("%s sends %s, on its way", p.name, requestText(m.req))
	}
	w.post(m)
}

func (w *World) doDeliver(e Event) bool {
	i := w.find(e, false)
	if i < 0 || e.Mode == Repeated && !w.spend(Duplicates) {
		return false
	}
	if (e.Mode == Later || e.Mode == BatchedLater) && !w.spend(Delays) {
		return false
	}
	msgs := []message{w.take(i, e.Mode == Repeated)}
	if e.Mode == Batched || e.Mode == BatchedLater {
		if j := w.nextRequest(-1); j >= 0 {
			msgs = append(msgs, w.take(j, false))
		}
	}
	w.clear(int(e.Pod))
	w.hand(int(e.Pod), msgs, e.Mode)
	return true
}

func (w *World) doReturn(e Event) bool {
	i := w.find(e, true)
	if i < 0 || e.Mode == Repeated && !w.spend(Duplicates) {
		return false
	}
	w.hearBack(w.take(i, e.Mode == Repeated))
	return true
}

func (w *World) doDrop(e Event) bool {
	i := w.find(e, e.Mode == 1)
	if i < 0 || !w.spend(Drops) {
		return false
	}
	w.take(i, false)
	return true
}

func (w *World) doTick(e Event) bool {
	if e.Mode == Later && !w.spend(Delays) {
		return false
	}
	w.clear(int(e.Pod))
	w.hand(int(e.Pod), nil, e.Mode)
	return true
}

func (w *World) doConclude(e Event) bool {
	if w.coords[e.Pod].pending == nil || crashAt(e.Mode) != lasts && !w.spend(PodCrashes) {
		return false
	}
	w.conclude(int(e.Pod), crashAt(e.Mode))
	return true
}

func (w *World) doHandled(e Event) bool {
	p := w.edit(int(e.Life))
	if p == nil {
		return false
	}
	w.drained(p)
	return true
}

func (w *World) doStart(e Event) bool {
	id := memberID(int(e.Arg))
	if w.process(int(e.Life)) >= 0 || !w.idFree(id) || e.Mode == 1 && !w.spend(OldClients) {
		return false
	}
	w.start(int(e.Life), id, e.Mode == 1)
	return true
}

func (w *World) doLeave(e Event) bool {
	p := w.edit(int(e.Life))
	if p == nil || p.isOld() || !w.spend(Goodbyes) {
		return false
	}
	p.leaving = true
	p.sdk.Leave()
	w.logf("%s begins to leave", p.name)
	return true
}

// doDepart lets a process leave or suspend. An old one only says so and is gone.
func (w *World) doDepart(e Event) bool {
	p := w.edit(int(e.Life))
	if p == nil || p.parting != 0 || !p.leaving && !w.spend(Goodbyes) {
		return false
	}
	p.parting = protocol.EpochLeave
	if e.Mode == 1 {
		p.parting = protocol.EpochSuspend
	}
	w.logf("%s departs with %d", p.name, p.parting)
	if p.isOld() {
		p.leaving = true
		w.sendOut(p)
		w.end(p.life)
		return true
	}
	if until, leased := p.sdk.LeaseUntil(); leased {
		p.runUntil = until.Milliseconds()
	}
	w.sendOut(p)
	return true
}

// doCrash ends a process without a word; another life of the same member may follow at once.
func (w *World) doCrash(e Event) bool {
	i := w.process(int(e.Life))
	if i < 0 || !w.spend(Crashes) {
		return false
	}
	p := w.procs[i]
	w.logf("%s crashes", p.name)
	w.end(p.life)
	if e.Mode == 1 {
		w.start(w.lives+1, p.id, p.isOld())
	}
	return true
}

func (w *World) doTwin(e Event) bool {
	i := w.process(int(e.Life))
	if i < 0 || !w.spend(Twins) {
		return false
	}
	w.start(w.lives+1, w.procs[i].id, e.Mode == 1)
	return true
}

// knows tells whether the process reads a shard or gives it back.
func (w *World) knows(p *process, shard int) bool {
	if p.isOld() {
		return p.old.reads&(1<<shard) != 0
	}
	_, found := p.sdk.Shard(shard)
	return found
}

// doLie sends a report that names a shard which the process does not read (R1), or says
// REVOKED while a handler runs (R4).
func (w *World) doLie(e Event) bool {
	p := w.edit(int(e.Life))
	if p == nil || p.parting != 0 || e.Mode == 0 && w.knows(p, int(e.Arg)) || !w.spend(BadReports) {
		return false
	}
	req := w.send(p)
	if e.Mode == 1 {
		req.RevokingShards = slices.Clone(req.RevokingShards)
		for i := range req.RevokingShards {
			if r := &req.RevokingShards[i]; r.State != protocol.Revoked {
				r.State, r.InFlight = protocol.Revoked, 1
			}
		}
	} else {
		p.misbehaved = true
		req.OwnedShards = append(req.OwnedShards, protocol.ShardID{ShardIndex: int(e.Arg)})
	}
	if w.env.logging {
		w.logf("%s claims %s", p.name, requestText(req))
	}
	w.post(message{life: p.life, req: req})
	return true
}

// doCalm is a while in which nothing fails but handlers, which do not end.
func (w *World) doCalm(e Event) bool {
	for range e.Arg {
		for _, p := range slices.Clone(w.procs) {
			if w.process(p.life) >= 0 {
				w.roundTrip(p.life, 0, Cached)
			}
		}
		w.now += ms(w.env.cfg.HeartbeatInterval)
		w.checkState()
	}
	return true
}
