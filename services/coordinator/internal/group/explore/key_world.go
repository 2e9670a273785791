package explore

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func (k *keyer) world(w *World) {
	for nth := range w.groups() {
		w.lookAt(nth)
		k.scope = &k.scopes[nth]
		k.house(w)
	}
	w.lookAt(0)
	if k.scope = &k.scopes[0]; w.has(Scaling) || w.has(LostShards) {
		k.recordOf(w)
	}
	k.shardsOf(w)
	for f, most := range w.env.setup.Budget {
		if most > 0 {
			k.number(int64(w.used[f]))
		}
	}
}

// house writes what belongs to the group in focus.
func (k *keyer) house(w *World) {
	if w.mayCorrect() { // a new lineage draws its epochs from the time (E1)
		k.number(k.now*1000 - k.epochs.base)
	}
	k.image(&w.store.image)
	if k.identity(w.store.identity); w.has(Corruption) {
		k.number(int64(w.damage))
	}
	for _, i := range w.store.history {
		if !w.may(FailOvers) { // then nobody comes back to it
			break
		}
		if k.flags(i != nil); i != nil {
			k.image(i)
		}
	}
	for pod := range w.env.setup.Pods {
		k.coordinator(w, &w.coords[pod], w.drives[pod])
	}
	k.number(int64(len(w.procs)))
	for _, p := range w.procs {
		k.process(w, p)
	}
	k.number(int64(len(w.bag)))
	for _, m := range w.bag {
		k.message(w, m)
	}
}

func (k *keyer) view(w *World, v *view) {
	if v == nil {
		k.number(0)
		return
	}
	for i, s := range k.views {
		if s == v {
			k.number(int64(-i - 1))
			return
		}
	}
	k.views = append(k.views, v)
	k.number(1)
	k.image(&v.image)
	k.identity(v.identity)
	k.since(v.clock, k.cfg.Lease)
	k.flags(v.token == w.store.token, w.store.history[1] != nil && v.token == w.store.history[1].token,
		w.store.history[0] != nil && v.token == w.store.history[0].token)
}

// cache writes a snapshot by which only steady steps are made: they look at no time, and are
// refused where the store has gone on.
func (k *keyer) cache(w *World, v *view) {
	switch {
	case v == nil:
		k.number(0)
	case w.may(FailOvers) || w.flawed("touch compares the number only"):
		k.view(w, v)
	case v.token != w.store.token:
		k.number(2)
	default:
		k.number(3)
		for i := range v.live {
			l := &v.live[i]
			k.life(l.Incarnation)
			k.sequence(l.Incarnation, l.Sequence)
			if l.Incarnation == "" {
				k.request(l.RequestID)
			}
		}
	}
}

func (k *keyer) coordinator(w *World, c *coordinator, d *drive) {
	k.cache(w, c.cache)
	k.lineage(c.seen.Lineage)
	k.version(c.seen.Revision)
	k.number(int64(w.jumps - c.jumps))
	if k.flags(c.pending != nil, d != nil); c.pending != nil {
		p := c.pending
		k.view(w, p.on)
		k.number(int64(w.jumps - p.jumps))
		for _, m := range p.msgs {
			k.message(w, m)
		}
		if k.flags(p.layout != nil, p.order != nil); p.rec != nil {
			k.stream(p.rec)
		}
		if p.order != nil {
			k.number(int64(p.order.Kind))
			k.id(p.order.Member)
		}
	}
	if d != nil {
		k.driveOf(w, d)
	}
}

// driveOf writes what a driver has heard of the group in focus; the record with the first.
func (k *keyer) driveOf(w *World, d *drive) {
	if w.focus == 0 {
		k.stream(d.rec)
	}
	if w.groups() > 1 {
		k.number(int64(d.asked))
	}
	g := d.groups[w.focus]
	if w.has(Corruption) {
		k.flags(g != nil)
	}
	if g != nil {
		k.group(g)
	}
}

// process writes what a process will go by. How often the SDK's state wants to heartbeat and
// what it shows is left out: events do not depend on it.
func (k *keyer) process(w *World, p *process) {
	k.id(p.id)
	k.life(p.name)
	k.flags(p.isOld(), p.leaving, p.misbehaved, p.losses == w.losses, p.sentLosses == w.losses,
		p.fences == w.fencesOf(p.id), p.sentFences == w.fencesOf(p.id))
	k.number(p.parting)
	k.number(int64(p.excused))
	k.epoch(p.seenEpoch)
	if p.seenEpoch != 0 {
		k.version(p.seenVersion)
		k.lineage(p.seenLineage)
	}
	if p.isOld() {
		k.oldClient(w, p)
		return
	}
	k.epoch(p.sdk.Epoch())
	k.version(p.sdk.Version())
	k.lineage(p.sdk.Lineage())
	k.sequence(p.name, p.sdk.Sequence())
	if k.flags(p.sdk.Waiting()); p.sdk.Waiting() {
		k.sentAt(w, p)
	}
	until, leased := p.sdk.LeaseUntil()
	if k.flags(leased); leased {
		k.number(max(until.Milliseconds()-w.now, -1))
	}
	if p.parting != 0 {
		k.number(max(p.runUntil-w.now, -1))
	}
	for shard := range w.env.setup.most() {
		s, found := p.sdk.Shard(shard)
		k.flags(found, found && p.reported(shard))
		k.number(int64(s.Phase))
	}
}

// reported tells whether the latest request said REVOKED of the shard.
func (p *process) reported(shard int) bool {
	if p.last == nil {
		return false
	}
	for _, v := range p.last.RevokingShards {
		if v.Shard.ShardIndex == shard {
			return v.State == protocol.Revoked && v.InFlight == 0
		}
	}
	return false
}

func (k *keyer) oldClient(w *World, p *process) {
	o := &p.old
	k.epoch(o.epoch)
	k.version(o.version)
	k.number(max(o.leaseUntil-w.now, -1))
	k.number(int64(o.reads))
	k.text(string(o.status))
	if k.flags(o.awaiting); o.awaiting {
		k.request(p.last.RequestID)
		k.sentAt(w, p)
	}
}

func (k *keyer) sentAt(w *World, p *process) {
	k.number(max(p.sentAt-w.now, -ms(k.cfg.ClientLease)))
}

func (k *keyer) message(w *World, m message) {
	i := w.process(m.life)
	if k.flags(i >= 0, i >= 0 && w.procs[i].last == m.req, m.resp != nil); i >= 0 {
		k.life(w.procs[i].name)
	}
	k.heartbeat(m.req)
	k.response(m.resp)
}

// mayCorrect tells whether anything may open a correction round.
func (w *World) mayCorrect() bool {
	return w.has(FailOvers) || w.has(Jumps) || w.has(LostLiveness) || w.has(Recreations) || w.has(Orders) || w.has(Corruption)
}
