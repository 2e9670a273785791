package explore

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// reshardingBound is how much longer than V1 a whole resharding may take on a fair day, in ms:
// a routing lease, and a heartbeat interval for each step of the driver.
const reshardingBound = routingLease + 12_000

// SettleFairly goes on without faults: every process heartbeats when it is due, handlers end,
// coordinators tick. Within the bound of V1 the group is stable, and then nothing changes any
// more (I15).
func (w *World) SettleFairly() {
	w.each((*World).calmDown)
	w.logf("from here on nothing fails")
	w.publishFairly()
	cfg, began := w.env.cfg, w.now
	bound := w.now + ms(2*cfg.Lease+cfg.RebalanceTimeout+4*cfg.HeartbeatInterval)
	w.settleBeside(bound)
	w.each((*World).repair)
	bound += w.now - began
	ends := bound // V3: and then every removed shard is sealed
	if w.has(Scaling) {
		ends += reshardingBound
	}
	if w.has(StreamLosses) && w.shards != nil { // what the record forgot is found first
		ends += reshardingBound
	}
	for round := 0; !w.atRest(); round++ {
		if w.now > ends {
			w.late()
			return
		}
		if w.fairRound(round); w.broken != nil {
			return
		}
	}
	since := w.now
	for round := 0; w.now < since+ms(cfg.Lease)+2000 && w.broken == nil; round++ {
		w.fairRound(round)
		if w.broken == nil && !w.atRest() {
			w.violated("I15", "stable at %d, not any more at %d: %s", since, w.now, w.String())
		}
	}
}

// calmDown carries out what is under way at the coordinators; messages are lost.
func (w *World) calmDown() {
	for pod := range w.env.setup.Pods {
		w.clear(pod)
	}
	w.bag = nil
}

// atRest tells whether every group is stable, and the record of the stream.
func (w *World) atRest() bool {
	return w.all((*World).settled) && w.reshaped() && w.all((*World).handledAll)
}

// late says which promise is broken when the bound is over.
func (w *World) late() {
	if !w.reshaped() {
		w.violated("V3", "the resharding does not end: %+v\n%s", w.stream.rec, w.String())
		return
	}
	w.each((*World).lateGroup)
}

func (w *World) lateGroup() {
	switch {
	case w.settled() && !w.handledAll():
		w.violated("P1", "records are not handled after the bound: %+v\n%s", w.shards.list, w.stateText())
	case w.settled():
	case w.store.g.Round != nil:
		w.violated("V2", "a correction round is still open after the bound: %s", w.stateText())
	default:
		w.violated("V1", "not stable after the bound: %s", w.stateText())
	}
}

// fairRound is one heartbeat interval.
func (w *World) fairRound(round int) {
	pod := round % w.env.setup.Pods
	for nth := range w.groups() {
		w.lookAt(nth)
		w.fairHeartbeats(round)
	}
	w.now += ms(w.env.cfg.HeartbeatInterval)
	for nth := range w.groups() {
		w.lookAt(nth)
		w.clear(pod)
		w.hand(pod, nil, AtOnce)
	}
	w.lookAt(0)
	if w.has(Scaling) {
		for range w.groups() + 1 { // each is asked, then it is decided
			w.driveOn(0, 0, false, false)
		}
	}
	w.each((*World).checkState)
	w.checkRecords()
}

func (w *World) fairHeartbeats(round int) {
	pods := w.env.setup.Pods
	for i, p := range slices.Clone(w.procs) {
		if p.sdk == nil || p.sdk.Due() <= w.at() || p.parting != 0 {
			w.roundTrip(p.life, (round+i)%pods, Cached)
		}
		if p = w.edit(p.life); p != nil {
			w.work(p)
		}
		if p != nil && !p.isOld() {
			if p.leaving && p.parting == 0 && p.sdk.Idle() {
				w.doDepart(Event{Life: int16(p.life)})
				w.bag = nil
			}
		}
		w.checkState()
	}
}

// reshaped tells whether the stream's record is at rest and every group has copied it (V3).
func (w *World) reshaped() bool {
	rec := &w.stream.rec
	for nth := range w.groups() {
		if !sameLayout(layoutOf(rec), w.houseOf(nth).store.g.LayoutOf()) {
			return false
		}
	}
	if w.shards != nil && (len(w.missing(rec)) > 0 || rec.Resharding == nil && w.beyond(rec) > rec.ReadCount()) {
		return false
	}
	return len(rec.Lost) == 0 && (rec.Resharding == nil || w.waitsForReaders())
}

// settled tells whether the group is STABLE (I15): reported = held = target, nothing
// lingers, no round, and every member id that has a process has one that reads.
func (w *World) settled() bool {
	g := w.store.g
	if g.Round != nil || g.BarrierUntil != 0 || w.store.lostUnnoticed() {
		return false
	}
	for pod := range w.env.setup.Pods {
		if w.jumped(&w.coords[pod]) || w.recalls(&w.coords[pod]) {
			return false
		}
	}
	for shard, h := range g.Holds {
		if h.Member != g.Target[shard] || h.Told || h.Lingers != 0 || h.Member == "" && g.Open(shard) && len(w.procs) > 0 {
			return false
		}
	}
	for _, m := range g.Members {
		if l, _ := w.store.live.get(m.ID); l.Deadline == 0 && (m.Listening() || m.State == group.Suspended) {
			return false // lost, and nobody has looked
		}
		if m.Listening() && !w.served(m) || m.State == group.Suspended || m.State == group.Waiting {
			return false
		}
	}
	for _, p := range w.procs {
		if m, found := g.Find(p.id); !found || m.State != group.Active || p.leaving || p.parting != 0 || w.readers(p.id) > 1 {
			return false
		}
	}
	return true
}

// served tells whether a process of the member reads exactly its target. An old one that was let
// in by a late request knows nothing of its new life and will begin anew (E4).
func (w *World) served(m group.Member) bool {
	return slices.ContainsFunc(w.procs, func(p *process) bool {
		if p.id != m.ID || p.incarnation != m.Incarnation || !w.leased(p) || p.isOld() && p.old.epoch < m.JoinEpoch {
			return false
		}
		for shard, target := range w.store.g.Target {
			if w.mayRead(p, shard) != (target == m.ID) {
				return false
			}
		}
		return true
	})
}

// readers counts the processes under one id that read anything.
func (w *World) readers(id string) int {
	n := 0
	for _, p := range w.procs {
		reads := false
		for shard := range w.env.setup.most() {
			reads = reads || w.mayRead(p, shard)
		}
		if p.id == id && reads {
			n++
		}
	}
	return n
}
