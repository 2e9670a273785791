package explore

import (
	"cmp"
	"math"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/member"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// process is one life of a member: a new client is the SDK's own state, an old one has none.
type process struct {
	own                   *byte // the world that may write it, see edit
	life                  int
	name, id, incarnation string

	sdk *member.State // nil for an old client
	old oldClient

	last     *protocol.HeartbeatRequest // the latest request
	sentAt   int64
	runUntil int64  // until when handlers of a departed process may run
	leaving  bool   // an old process is gone as soon as it has said so
	parting  int64  // EpochLeave or EpochSuspend once a new process says so
	excused  uint32 // shards with a handler that the group did not have to wait for (H3c, lost writes)

	seenEpoch, seenVersion int64 // of the last answer taken, for I5
	seenLineage            string
	sentFences, fences     int  // operators' fences of the member, before the latest request and the last that let it on
	sentLosses, losses     int  // the same for losses of the store
	misbehaved             bool // it sent a bad report since
}

// start begins the life with the given number.
func (w *World) start(life int, id string, old bool) {
	p := &process{own: w.mine(), life: life, id: id, name: numbered(id, life)}
	p.sentLosses, p.losses = w.losses, w.losses
	p.sentFences, p.fences = w.fencesOf(id), w.fencesOf(id)
	w.lives = max(w.lives, life)
	if !old {
		p.incarnation = p.name
		cfg := w.env.cfg
		p.sdk = member.New(member.Config{
			ID: id, Incarnation: p.name, ClientLease: cfg.ClientLease, Interval: cfg.HeartbeatInterval,
		}, w.at())
	}
	w.procs = append(w.procs, p)
	w.logf("%s starts, old %v", p.name, old)
}

// mine is what marks the processes that this world has to itself.
func (w *World) mine() *byte {
	if w.own == nil {
		w.own = new(byte)
	}
	return w.own
}

// process returns the place of a life, -1 when it is over.
func (w *World) process(life int) int {
	for i, p := range w.procs {
		if p.life == life {
			return i
		}
	}
	return -1
}

// edit returns a process for writing, nil when its life is over.
func (w *World) edit(life int) *process {
	i := w.process(life)
	if i < 0 {
		return nil
	}
	if p := w.procs[i]; p.own != w.mine() {
		c := *p
		if c.own = w.own; c.sdk != nil {
			c.sdk = c.sdk.Clone()
		}
		w.procs[i] = &c
	}
	return w.procs[i]
}

// end ends a life. What it has sent stays under way.
func (w *World) end(life int) {
	if i := w.process(life); i >= 0 {
		procs := make([]*process, 0, len(w.procs))
		w.procs = append(append(procs, w.procs[:i]...), w.procs[i+1:]...)
		slices.SortStableFunc(w.bag, func(a, b message) int { return cmp.Compare(w.rank(a.life), w.rank(b.life)) })
	}
}

// rank orders lives: those that are over come last.
func (w *World) rank(life int) int {
	if w.process(life) < 0 {
		return math.MaxInt
	}
	return life
}

func (p *process) isOld() bool { return p.sdk == nil }

// mayRead tells whether a read or a handler of the shard may start now (H5).
func (w *World) mayRead(p *process, shard int) bool {
	if p.isOld() {
		return !p.leaving && w.now < p.old.leaseUntil && p.old.reads&(1<<shard) != 0 && p.old.status == protocol.StatusOK
	}
	return p.sdk.MayRead(w.at(), shard)
}

// runs tells whether anything of the shard runs, a handler that drains included.
func (w *World) runs(p *process, shard int) bool {
	return w.mayRead(p, shard) || p.drains(shard) && p.excused&(1<<shard) == 0 && w.leased(p)
}

// drains tells whether a handler of a shard that is given back still runs.
func (p *process) drains(shard int) bool {
	if p.isOld() {
		return false
	}
	s, found := p.sdk.Shard(shard)
	return found && (s.Phase == member.Revoking || s.Phase == member.Draining)
}

// givesBack tells whether the process has any shard that it is giving back.
func (w *World) givesBack(p *process, only ...member.Phase) bool {
	for shard := range w.env.setup.most() {
		if p.isOld() {
			return false
		}
		s, found := p.sdk.Shard(shard)
		if !found || s.Phase == member.Active {
			continue
		}
		if len(only) == 0 || s.Phase != only[0] {
			return true
		}
	}
	return false
}

// leased tells whether what the process runs is covered by its lease.
func (w *World) leased(p *process) bool {
	switch {
	case p.isOld():
		return w.now < p.old.leaseUntil
	case p.parting != 0:
		return w.now < p.runUntil
	default:
		return p.sdk.Leased(w.at())
	}
}

// send makes the next heartbeat of a process, its latest from now on.
func (w *World) send(p *process) *protocol.HeartbeatRequest {
	w.requests++
	id := numbered("r", w.requests)
	var req *protocol.HeartbeatRequest
	switch {
	case p.isOld():
		req = p.oldRequest(id)
	case p.parting != 0:
		req, _ = p.sdk.Depart(w.at(), p.parting == protocol.EpochSuspend, member.Load{RequestID: id})
	default:
		req, _ = p.sdk.Heartbeat(w.at(), member.Load{RequestID: id})
	}
	p.last, p.sentAt = req, w.now
	p.sentLosses, p.sentFences = w.losses, w.fencesOf(p.id)
	return req
}

func (w *World) fencesOf(id string) int { return w.fences[id[0]-'a'] }

// hearBack gives an answer to the process that asked. Only the one to the latest request
// counts (H5, T18); the SDK's state sees to that itself.
func (w *World) hearBack(m message) {
	p := w.edit(m.life)
	if p == nil {
		return
	}
	if p.isOld() {
		w.oldAnswer(p, m.req, m.resp)
		return
	}
	p.sdk.Tick(w.at())
	counts := p.sdk.Waiting() && m.req == p.last
	if counts {
		w.blame(p, m.req, m.resp)
	}
	if p.sdk.Epoch() == 0 {
		p.seenEpoch = 0
	}
	if counts && p.parting == 0 && renews(m.resp.Status) {
		w.checkAnswerOrder(p, m.resp)
		p.losses, p.fences, p.misbehaved = p.sentLosses, p.sentFences, false
	}
	w.carryOut(p, p.sdk.Answer(w.at(), m.req.Sequence, m.resp), m.resp)
	if p.sdk.Done() {
		w.end(p.life)
	}
}

// carryOut is what the SDK's sessions make of the actions.
func (w *World) carryOut(p *process, actions []member.Action, resp *protocol.HeartbeatResponse) {
	for _, a := range actions {
		bit := uint32(1) << a.Shard
		switch a.Kind {
		case member.Start:
			if resp.Status != protocol.StatusOK {
				w.violated("I8", "%s started shard %d on %s", p.name, a.Shard, resp.Status)
			}
			p.excused &^= bit
		case member.Revoke:
			p.excused &^= bit
			if holdOf(w.store.g, a.Shard).Member != p.id { // the grant was lost, the barrier is all there is
				p.excused |= bit
			}
		case member.Drop:
		}
	}
}

// drained ends the handlers of the shards that are given back, and those that have records.
func (w *World) drained(p *process) {
	w.acknowledge(p)
	for shard := range w.env.setup.most() {
		if !p.drains(shard) {
			continue
		}
		s, _ := p.sdk.Shard(shard)
		p.sdk.ReadStopped(shard, s.Grant)
		p.sdk.Drained(w.at(), shard, s.Grant)
	}
}
