package explore

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// recover is the driver where a group has copied a layout that the record has lost: seals are
// doubted, and what groups read is not given up (L1). It waits for a group that cannot be read.
func (w *World) recover(rec stream.Stream, copied int64) (stream.Stream, string) {
	next := rec.Doubted()
	for nth := range w.groups() {
		h := w.houseOf(nth)
		if h.damage != unhurt {
			return rec, ""
		}
		next = next.Covering(h.store.g.ReadCount())
	}
	return next.Overtaken(copied), "overtaken"
}

// mend is the driver where shards are missing in Redis, or are there and forgotten (L1, L12).
func (w *World) mend(d *drive, v verdict) (stream.Stream, string) {
	rec := *d.rec
	if w.shards == nil {
		if len(rec.Lost) > 0 && !d.barred() && v&notMadeAgain == 0 { // L12: outside of a barrier
			return rec.WithFound(rec.Lost), "found"
		}
		return rec, ""
	}
	if end := w.beyond(&rec); rec.Resharding == nil && end > rec.ReadCount() {
		return rec.Covering(end), "remembered"
	}
	if next := rec.WithLost(w.missing(&rec), w.recordClock()); next.MetadataVersion != rec.MetadataVersion {
		return next, "lost"
	}
	if len(rec.Lost) == 0 || d.barred() || v&notMadeAgain != 0 {
		return rec, ""
	}
	m := marker{mark: rec.Mark, phase: "lost remake"}
	if rec.Resharding != nil {
		m.phase = rec.Resharding.ID + " remake"
	}
	if higher := w.mark(m, rec.Lost); higher > 0 {
		return rec.Marked(higher, w.recordClock()), "marked"
	}
	s := w.editShards()
	for _, i := range rec.Lost {
		s.list[i].provide()
	}
	return rec.WithFound(rec.Lost), "found"
}

// prepare is the driver before routing changes: it makes the shards that are added (L2).
func (w *World) prepare(rec stream.Stream) (stream.Stream, string) {
	r, now := rec.Resharding, w.recordClock()
	if w.shards != nil {
		added, cut := ranged(r.Added()), ranged(r.Cut())
		if higher := w.mark(markerOf(r), slices.Concat(added, cut)); higher > 0 {
			return rec.Doubted().Raised(higher, now), "raised"
		}
		s := w.editShards()
		for _, i := range added {
			s.list[i].provide()
		}
	}
	return rec.Activated(now), "activated"
}

// turn is the driver before routing returns: what was sealed comes back (L8).
func (w *World) turn(rec stream.Stream) (stream.Stream, string) {
	r, now := rec.Resharding, w.recordClock()
	if sealed := len(r.At(stream.StepSealed)); sealed > 0 {
		w.visit("unsealed")
		if sealed < len(r.Shards) {
			w.visit("rollback after a partial seal")
		}
	}
	if w.shards == nil {
		return rec.Turned(now), "turned"
	}
	added, cut := ranged(r.Added()), ranged(r.Cut())
	if higher := w.mark(markerOf(r), slices.Concat(added, cut)); higher > 0 {
		return rec.Doubted().Raised(higher, now), "raised"
	}
	s := w.editShards()
	for _, i := range cut {
		if !w.flawed("routing returns before the seals are undone") && !s.list[i].unseal(r.ID) {
			return rec, "" // of another resharding: it is missed, and made again
		}
	}
	if rec.ShardCount == r.From { // as far as the record knows, producers were never told of the added ones
		used := false
		for _, i := range added {
			used = !s.list[i].unmake() || used
		}
		if used {
			for _, i := range added {
				s.list[i].provide()
			}
			return rec.Covering(r.To), "remembered"
		}
	}
	return rec.Turned(now), "turned"
}
