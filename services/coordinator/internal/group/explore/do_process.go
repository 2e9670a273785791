package explore

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

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
	for shard := range w.env.setup.most() {
		if p.drains(shard) && holdOf(w.store.g, shard).Member != p.id { // the grant was lost, see carryOut
			p.excused |= 1 << shard
		}
	}
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
