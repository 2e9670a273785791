package explore

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/member"
)

const revokedPhase = member.Revoked

// Do lets an event happen and checks the invariants. It tells whether the event could happen;
// what could not leaves the world as it is.
func (w *World) Do(e Event) bool {
	if int(e.Group) >= w.groups() {
		return false
	}
	w.lookAt(int(e.Group))
	done := w.env.handlers[e.Kind](w, e)
	if w.lookAt(0); !done {
		return false
	}
	w.each((*World).checkState)
	w.checkRecords()
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
		OrderFence: (*World).doOrder, AskRoute: (*World).doAskRoute, Publish: (*World).doPublish, Read: (*World).doRead,
		Corrupt: (*World).doCorrupt,
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
	if !w.begin(pod, msgs, errand{}) {
		return
	}
	if mode != Later && mode != BatchedLater {
		w.conclude(pod, lasts)
		return
	}
	w.script().loaded(w)
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
	if w.hurt() { // a sweep reads the whole record
		w.coords[e.Pod].cache = nil
	}
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

// doCalm is a while in which nothing fails but handlers, which do not end.
func (w *World) doCalm(e Event) bool {
	for range e.Arg {
		w.each((*World).heartbeatAll)
		w.now += ms(w.env.cfg.HeartbeatInterval)
		w.each((*World).checkState)
	}
	return true
}

func (w *World) heartbeatAll() {
	for _, p := range slices.Clone(w.procs) {
		if w.process(p.life) >= 0 {
			w.roundTrip(p.life, 0, Cached)
		}
	}
}
