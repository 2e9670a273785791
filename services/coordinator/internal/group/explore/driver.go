package explore

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// verdict is what an event says of Redis for the driver: one bit for each removed shard that
// is not empty, or that shards which are missing cannot be made again now.
type verdict int8

const notMadeAgain verdict = 4

func (v verdict) unread(nth int) bool { return nth < 2 && v&(1<<nth) != 0 }

// ready tells whether the driver of a coordinator has heard all that it decides on: every
// group has copied the layout, or one of them shows that the record has lost writes.
func (w *World) ready(pod int) bool {
	d := w.drives[pod]
	return d != nil && (d.asked == w.groups() || d.overtaken() != 0)
}

// asks returns the group that the driver of a coordinator asks next, the last when it has
// asked all.
func (w *World) asks(pod int) int {
	if d := w.drives[pod]; d != nil {
		return min(d.asked, w.groups()-1)
	}
	return 0
}

// overtaken returns the version of a layout that a group has copied and the record has lost
// since, 0 for none (L1).
func (d *drive) overtaken() int64 {
	for _, g := range d.groups[:d.asked] {
		if g == nil {
			continue
		}
		if has, wants := g.LayoutOf(), layoutOf(d.rec); has.Version >= wants.Version && !sameLayout(has, wants) {
			return has.Version
		}
	}
	return 0
}

// any tells whether something is so of a group that was asked and could be read.
func (d *drive) any(is func(*group.Group) bool) bool {
	return slices.ContainsFunc(d.groups[:d.asked], func(g *group.Group) bool { return g != nil && is(g) })
}

// unread tells whether a group could not be read: then nothing is decided, but what the others
// need is done (M6).
func (d *drive) unread() bool { return slices.Contains(d.groups[:d.asked], nil) }

// barred tells whether a group is behind a barrier, or none can be read.
func (d *drive) barred() bool {
	return d.any(inBarrier) || !d.any(func(*group.Group) bool { return true })
}

// copied notes that the group in focus has copied the layout of a record, nil for one that
// cannot be read.
func (w *World) copied(pod int, rec *stream.Stream, g *group.Group) {
	d := drive{rec: rec}
	if before := w.drives[pod]; w.focus > 0 && before != nil {
		d = *before
	}
	d.groups[w.focus], d.asked = g, w.focus+1
	w.drives[pod] = &d
}

// skipped is the flaw that no group is asked.
func (w *World) skipped(pod int, rec *stream.Stream) {
	d := drive{rec: rec, asked: w.groups()}
	for nth := range d.asked {
		d.groups[nth] = w.houseOf(nth).store.g
	}
	w.drives[pod] = &d
}

// driveOn lets the driver of a coordinator take its next step: it reads the record and asks
// one group after the other to copy its layout; when all have, it decides what comes next (L1).
func (w *World) driveOn(pod int, v verdict, withHeartbeat, later bool) {
	defer w.lookAt(0)
	w.lookAt(w.asks(pod))
	if w.clear(pod); w.ready(pod) {
		d := w.drives[pod]
		w.drives[pod] = nil
		w.lookAt(0)
		w.advance(d, v)
		return
	}
	rec := &w.stream.rec
	if d := w.drives[pod]; d != nil {
		rec = d.rec
	}
	if w.flawed("seals before the group has copied") {
		w.skipped(pod, rec)
		return
	}
	w.lookAt(w.asks(pod))
	w.clear(pod)
	w.ask(pod, rec, withHeartbeat, later)
}

// ask lets the group in focus copy the layout of a record.
func (w *World) ask(pod int, rec *stream.Stream, withHeartbeat, later bool) {
	layout := layoutOf(rec)
	var msgs []message
	if withHeartbeat && len(w.bag) > 0 && w.bag[0].resp == nil {
		msgs = append(msgs, w.take(0, false))
	}
	if !w.begin(pod, msgs, errand{layout: &layout, rec: rec}) {
		return
	}
	if !later {
		w.conclude(pod, lasts)
		return
	}
	w.script().loaded(w)
}

// advance decides on a record and on the group as it was when it had been asked to copy it.
func (w *World) advance(d *drive, v verdict) {
	next, what := w.nextOf(d, v)
	if what == "" {
		return
	}
	if !w.storeRecord(d.rec, next) {
		w.visit("stream conflict")
		return
	}
	w.visit(what)
	if w.env.logging {
		w.logf("stream v%d: %s, layout %d: %d+%d shards, closed %v lost %v", next.MetadataVersion, what, next.LayoutVersion,
			next.ShardCount, next.Removed, next.Closed(), next.Lost)
	}
	for nth := range w.groups() {
		w.lookAt(nth)
		w.noteSeals(d.rec)
	}
	w.lookAt(0)
}

// nextOf is the driver: what follows for the record, and a word for it, "" for nothing.
func (w *World) nextOf(d *drive, v verdict) (stream.Stream, string) {
	rec, r, now := *d.rec, d.rec.Resharding, w.recordClock()
	behind := func(g *group.Group) bool { return g.LayoutVersion < rec.LayoutVersion }
	switch copied := d.overtaken(); {
	case copied != 0:
		return w.recover(rec, copied)
	default:
		if next, what := w.mend(d, v); what != "" {
			return next, what
		}
	}
	switch {
	case r == nil || d.unread():
		return rec, ""
	case r.Phase == stream.PhasePreparing:
		return w.prepare(rec)
	case r.Phase == stream.PhaseRollingBack && !r.Turned:
		return w.turn(rec)
	case d.any(behind) && !w.flawed("seals before the group has copied"):
		return rec, ""
	default:
		return w.drain(d, v, now)
	}
}

// drain is the driver once the group has copied the layout (L3–L6).
func (w *World) drain(d *drive, v verdict, now int64) (stream.Stream, string) {
	rec, r := *d.rec, d.rec.Resharding
	switch {
	case len(r.Shards) == 0 || rec.Removed == 0:
		if d.any(func(g *group.Group) bool { return !g.Settled() }) {
			return rec, ""
		}
		return rec.Finished(now), "finished " + string(r.Phase)
	case r.DrainFrom == 0:
		if w.flawed("routing lease not waited for") {
			return rec.DrainingFrom(now, now), "copied"
		}
		return rec.DrainingFrom(now+routingLease, now), "copied"
	case now < r.DrainFrom:
		return rec, ""
	case r.Phase == stream.PhaseActive:
		return rec.Drained(now), "draining"
	case len(r.At(stream.StepClosing)) > 0:
		return w.seal(d, v)
	default:
		return w.judge(rec, v)
	}
}

// judge looks at the removed shards that are read (L4).
func (w *World) judge(rec stream.Stream, v verdict) (stream.Stream, string) {
	var found []stream.Judged
	for nth, shard := range rec.Resharding.At(stream.StepReading) {
		found = append(found, w.lookAtShard(rec.Resharding, shard, nth, v))
	}
	next := rec.Judged(found, w.recordClock())
	if next.MetadataVersion == rec.MetadataVersion {
		return rec, ""
	}
	if next.LayoutVersion == rec.LayoutVersion {
		return next, "unread"
	}
	return next, "closed"
}

// seal seals the closed shards that nobody may read (L5); a second proof may fail (T28).
// Meanwhile others may be judged.
func (w *World) seal(d *drive, v verdict) (stream.Stream, string) {
	var found []stream.Judged
	r := d.rec.Resharding
	for nth, shard := range d.rec.Resharding.At(stream.StepClosing) {
		if !w.mayBeSealed(d, shard) {
			continue
		}
		j, ran := w.sealShard(r, shard, nth, v)
		if !ran { // made again as a lost shard meanwhile, or the record lost a phase
			if higher := w.mark(markerOf(r), []int{shard}); higher > 0 {
				return d.rec.Doubted().Raised(higher, w.recordClock()), "raised"
			}
			continue
		}
		if j.Reason != "" {
			w.visit("seal refused by the second proof")
		}
		found = append(found, j)
	}
	if len(found) == 0 {
		return w.judge(*d.rec, v)
	}
	return d.rec.Sealed(found, w.recordClock()), "sealed"
}

// mayBeSealed is the driver's word on a closed shard: every group has copied that it is, no
// barrier is up - before that a hold may have been lost - and nobody holds it (L5, M3).
func (w *World) mayBeSealed(d *drive, shard int) bool {
	barred := d.any(inBarrier)
	if w.flawed("seals in the barrier of one group") {
		barred = !d.any(func(g *group.Group) bool { return !inBarrier(g) })
	}
	if barred && !w.flawed("seals in a barrier") {
		return false
	}
	free := func(g *group.Group) bool {
		h := holdOf(g, shard)
		return h.Member == "" || h.Lingers != 0 && w.flawed("seals what lingers")
	}
	if w.flawed("seals before every group is draining") {
		return d.any(free)
	}
	return !d.any(func(g *group.Group) bool { return !free(g) })
}

func inBarrier(g *group.Group) bool { return g.BarrierUntil != 0 }
