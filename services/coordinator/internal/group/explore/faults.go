package explore

import (
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

func (w *World) doRestart(e Event) bool {
	c := &w.coords[e.Pod]
	if c.pending != nil || !w.spend(PodCrashes) {
		return false
	}
	w.logf("%s restarts", podName(int(e.Pod)))
	w.forgetPod(int(e.Pod))
	return true
}

// losable tells how many commits a failover may lose. Where an old client can take over from
// another one none is lost: two processes without an incarnation that both have been let in,
// one of them in a lost commit, cannot be told apart.
func (w *World) losable() int {
	if w.has(OldClients) && (w.has(Twins) || w.has(Crashes)) {
		return 0
	}
	return w.store.commits()
}

// doFailOver puts the store back by up to two commits, under another identity (M1).
func (w *World) doFailOver(e Event) bool {
	if int(e.Arg) > w.losable() || !w.spend(FailOvers) {
		return false
	}
	if w.store.failOver(int(e.Arg)); e.Arg > 0 { // what it comes back to was whole
		w.damage = unhurt
	}
	if w.double() != nil {
		w.beside(w.double().FailOver(int(e.Arg), w.store.identity))
	}
	w.script().failedOver(w)
	w.losses++
	w.visit("failover")
	w.logf("the store fails over and loses %d commits, now %s", e.Arg, w.store.identity)
	w.excuse("")
	return true
}

// doJump moves the store's clock ahead; both coordinators have seen it before (T1).
func (w *World) doJump(e Event) bool {
	if !w.spend(Jumps) {
		return false
	}
	w.offset += ms(w.env.cfg.Lease) / 5 * int64(e.Arg)
	w.jumps++
	w.script().jumped(w)
	for i := range w.coords {
		w.coords[i].cache = nil
	}
	if w.visit("jump"); w.shards != nil && w.focus == 0 { // the drain may begin before its time
		s := w.editShards()
		s.producer.until = min(s.producer.until, w.now)
	}
	w.logf("the store's clock jumps to %d", w.clock())
	return true
}

// doLoseLiveness takes away what the store has of one member beside the structure (M1).
func (w *World) doLoseLiveness(e Event) bool {
	id := memberID(int(e.Arg))
	if _, found := w.store.live.get(id); !found || !w.spend(LostLiveness) {
		return false
	}
	w.store.live = w.store.live.without(id)
	w.script().line("lose %s", id)
	w.losses++
	w.visit("lost liveness")
	w.logf("the liveness of %s is lost", id)
	return true
}

// doRecreate deletes the group's key; it is created again on the shards as they are (J1, M6).
func (w *World) doRecreate(Event) bool {
	if !w.hurt() && !w.spend(Recreations) {
		return false
	}
	s := &w.store
	w.damage = unhurt
	s.keep()
	s.g, s.live, s.servedAt = w.birth(s.identity, group.EpochFloorAt(w.clock()), true), nil, w.clock()
	s.tokens++
	s.token = s.tokens
	if w.double() != nil {
		w.beside(w.double().Create(w.clock(), s.token))
	}
	w.script().unsayable("the group is created again")
	w.losses++
	w.visit("recreated")
	w.logf("the group is created again, %s", s.g.Lineage)
	w.excuse("")
	return true
}

// doOrder lets a coordinator carry out an operator's order.
func (w *World) doOrder(e Event) bool {
	o, fault := group.Order{Kind: group.OrderBarrier}, Orders
	if e.Kind == OrderUnbar {
		o.Kind, fault = group.OrderUnbar, Unbars
	}
	if e.Kind == OrderFence {
		o.Kind, o.Member = group.OrderFence, memberID(int(e.Arg))
	}
	if !w.spend(fault) {
		return false
	}
	w.clear(int(e.Pod))
	if w.begin(int(e.Pod), nil, errand{order: &o}) {
		w.conclude(int(e.Pod), lasts)
	}
	return true
}

func (w *World) doDrive(e Event) bool {
	if e.Mode == 1 && !w.spend(Delays) {
		return false
	}
	w.driveOn(int(e.Pod), verdict(e.Arg), e.Mode == 2, e.Mode == 1)
	return true
}

// change stores a change of the stream's record.
func (w *World) change(next stream.Stream, err error, what string) bool {
	if err != nil {
		w.violated("engine", "%s: %v", what, err)
		return true
	}
	if !w.storeRecord(&w.stream.rec, next) {
		w.violated("engine", "%s: the record has moved", what)
	}
	w.visit(what)
	w.logf("stream v%d: %s, layout %d", next.MetadataVersion, what, next.LayoutVersion)
	return true
}

// doScale begins a resharding to any other count.
func (w *World) doScale(e Event) bool {
	rec := w.stream.rec
	if rec.Resharding != nil || rec.ShardCount == int(e.Arg) || w.forgotten() || !w.spend(Scaling) {
		return false
	}
	w.requests++
	next, err := rec.Scaled(numbered("R", w.requests), int(e.Arg), stream.Order{RequestID: "scale"}, "", w.recordClock())
	what := "scale-out"
	if int(e.Arg) < rec.ShardCount {
		what = "scale-in"
	}
	return w.change(next, err, what)
}

func (w *World) doRollBack(Event) bool {
	r := w.stream.rec.Resharding
	if r == nil || !r.MayRollBack() || !w.spend(Rollbacks) {
		return false
	}
	next, err := w.stream.rec.RollingBack(r.ID, stream.Order{RequestID: "rollback"}, w.recordClock())
	w.change(next, err, "rollback in "+string(r.Phase))
	return true
}

// doLoseShard finds that a shard of the reading set is missing in Redis (L12).
func (w *World) doLoseShard(e Event) bool {
	rec := w.stream.rec
	if int(e.Arg) >= rec.ReadCount() || w.shards != nil && !w.shards.list[e.Arg].there || !w.spend(LostShards) {
		return false
	}
	if w.shards != nil { // with its records; the driver finds out
		s := &w.editShards().list[e.Arg]
		*s = shard{marker: s.marker}
		return true
	}
	if next := rec.WithLost([]int{int(e.Arg)}, w.recordClock()); next.MetadataVersion != rec.MetadataVersion {
		w.change(next, nil, "lost")
	}
	return true
}

// doStreamFallsBack puts the stream's record back by some changes; the group's stays.
func (w *World) doStreamFallsBack(e Event) bool {
	r := *w.stream
	at := len(r.history) - int(e.Arg)
	if at < 0 || !w.spend(StreamLosses) {
		return false
	}
	r.rec, r.history = r.history[at], r.history[:at:at]
	w.nonces++
	r.rec.Lineage = numbered("after", w.nonces) // what was read before is of another token
	w.stream = &r
	w.visit("stream falls back")
	w.logf("the stream falls back to v%d, layout %d", r.rec.MetadataVersion, r.rec.LayoutVersion)
	return true
}
