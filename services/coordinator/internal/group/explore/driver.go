package explore

import (
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// verdict is what an event says of Redis for the driver: one bit for each removed shard that
// is not empty, or that shards which are missing cannot be made again now.
type verdict int8

const notMadeAgain verdict = 4

func (v verdict) unread(nth int) bool { return nth < 2 && v&(1<<nth) != 0 }

// ready tells whether the driver of a coordinator knows a group that has answered.
func (w *World) ready(pod int) bool { return w.coords[pod].drive != nil }

// driveOn lets the driver of a coordinator take its next step: it reads the record and asks
// the group to copy its layout; when it has, it decides what comes next (L1).
func (w *World) driveOn(pod int, v verdict, withHeartbeat, later bool) {
	w.clear(pod)
	c := &w.coords[pod]
	if c.drive != nil {
		d := c.drive
		c.drive = nil
		w.advance(d, v)
		return
	}
	rec := w.stream.rec
	if w.flawed("seals before the group has copied") {
		c.drive = &drive{rec: &rec, g: w.store.g}
		return
	}
	layout := layoutOf(&rec)
	var msgs []message
	if withHeartbeat && len(w.bag) > 0 && w.bag[0].resp == nil {
		msgs = append(msgs, w.take(0, false))
	}
	w.begin(pod, msgs, errand{layout: &layout, rec: &rec})
	if !later {
		w.conclude(pod, lasts)
		return
	}
	w.env.script.loaded(w)
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
	w.noteSeals(d.rec)
}

// nextOf is the driver: what follows for the record, and a word for it, "" for nothing.
func (w *World) nextOf(d *drive, v verdict) (stream.Stream, string) {
	rec, r, now := *d.rec, d.rec.Resharding, int64(w.clock())
	has, wants := d.g.LayoutOf(), layoutOf(&rec)
	switch {
	case has.Version >= wants.Version && !sameLayout(has, wants):
		return rec.Overtaken(has.Version), "overtaken"
	case len(rec.Lost) > 0 && d.g.BarrierUntil == 0 && v&notMadeAgain == 0:
		return rec.WithFound(rec.Lost), "found" // L12: outside of a barrier
	case r == nil:
		return rec, ""
	case r.Phase == stream.PhasePreparing:
		return rec.Activated(now), "activated"
	case r.Phase == stream.PhaseRollingBack && !r.Turned:
		if sealed := len(r.At(stream.StepSealed)); sealed > 0 {
			w.visit("unsealed")
			if sealed < len(r.Shards) {
				w.visit("rollback after a partial seal")
			}
		}
		return rec.Turned(now), "turned"
	case has.Version < wants.Version && !w.flawed("seals before the group has copied"):
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
		if !d.g.Settled() {
			return rec, ""
		}
		return rec.Finished(now), "finished " + string(r.Phase)
	case r.DrainFrom == 0:
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
		j := stream.Judged{Index: shard, Proof: "LAG"}
		if v.unread(nth) {
			j.Reason, j.Proof = "UNREAD", ""
		}
		found = append(found, j)
	}
	next := rec.Judged(found, int64(w.clock()))
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
	for nth, shard := range d.rec.Resharding.At(stream.StepClosing) {
		if !w.mayBeSealed(d.g, shard) {
			continue
		}
		j := stream.Judged{Index: shard, Proof: "LAG"}
		if v.unread(nth) {
			j.Reason, j.Proof = "UNREAD", ""
			w.visit("seal refused by the second proof")
		}
		found = append(found, j)
	}
	if len(found) == 0 {
		return w.judge(*d.rec, v)
	}
	return d.rec.Sealed(found, int64(w.clock())), "sealed"
}

// mayBeSealed is the driver's word on a closed shard: the group has copied that it is, its
// barrier is over - before that a hold may have been lost - and nobody holds it (L5, M3).
func (w *World) mayBeSealed(g *group.Group, shard int) bool {
	if g.BarrierUntil != 0 && !w.flawed("seals in a barrier") {
		return false
	}
	h := holdOf(g, shard)
	return h.Member == "" || h.Lingers != 0 && w.flawed("seals what lingers")
}
