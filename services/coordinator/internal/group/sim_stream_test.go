package group_test

import (
	"maps"
	"slices"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// routingLease is how long producers may go by a routing answer, in ms (L3).
const routingLease = 10_000

// simStream is the record of the group's stream. The transitions are those of production;
// what Redis would say of a shard is drawn.
type simStream struct {
	rec     stream.Stream
	history []stream.Stream // what a fall-back can bring back, oldest first
	// closedIn is the layout version that closed a shard which is sealed since. A shard is
	// not in it when the group has fallen back behind that version: then it may be granted.
	closedIn map[int]int64
}

// drive is what a coordinator's driver knows between two of its actions: the record it
// has read, and the group that copied its layout, as it was then.
type drive struct {
	rec stream.Stream
	g   *group.Group // nil until the group has answered
}

// errand is what a step is to do besides hearing.
type errand struct {
	layout *group.Layout
	order  *group.Order
	rec    stream.Stream // the record that the layout is of
}

func newSimStream(shards int) *simStream {
	return &simStream{
		rec: stream.Stream{
			Prefix: "orders", ShardCount: shards, MetadataVersion: 1, Groups: []stream.Group{{Name: "g", State: stream.Active}},
		},
		closedIn: map[int]int64{},
	}
}

// store is compare-and-set on the version of the record that was read.
func (st *simStream) store(on, next stream.Stream) bool {
	if on.MetadataVersion != st.rec.MetadataVersion || on.Lineage != st.rec.Lineage {
		return false
	}
	if st.history = append(st.history, st.rec); len(st.history) > 3 {
		st.history = st.history[1:]
	}
	st.rec = next
	return true
}

// layoutOf is what the stream asks its groups to copy (L1).
func layoutOfStream(rec stream.Stream) group.Layout {
	return group.Layout{
		Version: rec.LayoutVersion, ShardCount: rec.ShardCount, ReadCount: rec.ReadCount(), Closed: rec.Closed(), Lost: rec.Lost,
		Cause: group.Cause(rec.LayoutCause),
	}
}

// sameLayout tells whether two layouts are the same, whyever they came to be.
func sameLayout(a, b group.Layout) bool {
	return a.Version == b.Version && a.ShardCount == b.ShardCount && a.ReadCount == b.ReadCount &&
		slices.Equal(a.Closed, b.Closed) && slices.Equal(a.Lost, b.Lost)
}

// drive lets the driver of a coordinator take its next step: it reads the record and asks
// the group to copy its layout; when it has, it decides what comes next (L1).
func (s *sim) drive(c *coordinator) {
	if c.pending != nil {
		s.finish(c, lives)
	}
	if c.drive != nil && c.drive.g != nil {
		d := c.drive
		c.drive = nil
		s.advance(d)
		return
	}
	if s.mix.flaw == "seals before the group has copied" {
		c.drive = &drive{rec: s.stream.rec, g: s.store.g}
		return
	}
	layout := layoutOfStream(s.stream.rec)
	var msgs []message
	if len(s.bag) > 0 && s.bag[0].resp == nil && s.draw.pick("with a heartbeat", 3) == 2 {
		msgs = append(msgs, s.take(0, false))
	}
	s.begin(c, msgs)
	c.pending.errand = errand{layout: &layout, rec: s.stream.rec}
	if s.draw.pick("later", 3) < 2 {
		s.finish(c, lives)
	}
}

// advance decides on a record and on the group as it was when it had been asked to copy it.
func (s *sim) advance(d *drive) {
	next, what := s.nextOf(d)
	if what == "" {
		return
	}
	if !s.stream.store(d.rec, next) {
		s.visit("stream conflict")
		return
	}
	s.visit(what)
	s.logf("stream v%d: %s, layout %d: %d+%d shards, closed %v lost %v", next.MetadataVersion, what, next.LayoutVersion,
		next.ShardCount, next.Removed, next.Closed(), next.Lost)
	s.noteSeals(d.rec, next)
}

// nextOf is the driver: what follows for the record, and a word for it, "" for nothing.
func (s *sim) nextOf(d *drive) (stream.Stream, string) {
	rec, r, now := d.rec, d.rec.Resharding, int64(s.clock())
	has, wants := d.g.LayoutOf(), layoutOfStream(rec)
	switch {
	case has.Version >= wants.Version && !sameLayout(has, wants):
		return rec.Overtaken(has.Version), "overtaken"
	case len(rec.Lost) > 0 && d.g.BarrierUntil == 0 && s.draw.pick("made again", 2) == 0:
		return rec.WithFound(rec.Lost), "found" // L12: outside of a barrier
	case r == nil:
		return rec, ""
	case r.Phase == stream.PhasePreparing:
		return rec.Activated(now), "activated"
	case r.Phase == stream.PhaseRollingBack && !r.Turned:
		if len(r.At(stream.StepSealed)) > 0 {
			s.visit("unsealed")
		}
		return rec.Turned(now), "turned"
	case has.Version < wants.Version && s.mix.flaw != "seals before the group has copied":
		return rec, ""
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
		return s.sealed(d)
	default:
		return s.judged(rec)
	}
}

// judged looks at the removed shards that are read (L4).
func (s *sim) judged(rec stream.Stream) (stream.Stream, string) {
	var found []stream.Judged
	for _, shard := range rec.Resharding.At(stream.StepReading) {
		j := stream.Judged{Index: shard, Proof: "LAG"}
		if s.draw.pick("empty", 3) == 2 {
			j.Reason, j.Proof = "UNREAD", ""
		}
		found = append(found, j)
	}
	next := rec.Judged(found, int64(s.clock()))
	if next.MetadataVersion == rec.MetadataVersion {
		return rec, ""
	}
	if next.LayoutVersion == rec.LayoutVersion {
		return next, "unread"
	}
	return next, "closed"
}

// sealed seals the closed shards that nobody may read (L5); a second proof may fail (T28).
// Meanwhile others may be judged.
func (s *sim) sealed(d *drive) (stream.Stream, string) {
	var found []stream.Judged
	for _, shard := range d.rec.Resharding.At(stream.StepClosing) {
		if !s.mayBeSealed(d.g, shard) {
			continue
		}
		j := stream.Judged{Index: shard, Proof: "LAG"}
		if s.draw.pick("second proof", 4) == 3 {
			j.Reason, j.Proof = "UNREAD", ""
			s.visit("reopened")
		}
		found = append(found, j)
	}
	if len(found) == 0 {
		return s.judged(d.rec)
	}
	return d.rec.Sealed(found, int64(s.clock())), "sealed"
}

// mayBeSealed is the driver's word on a closed shard: the group has copied that it is, its
// barrier is over - before that a hold may have been lost - and nobody holds it (L5, M3).
func (s *sim) mayBeSealed(g *group.Group, shard int) bool {
	if g.BarrierUntil != 0 && s.mix.flaw != "seals in a barrier" {
		return false
	}
	h := holdOf(g, shard)
	return h.Member == "" || h.Lingers != 0 && s.mix.flaw == "seals what lingers"
}

// noteSeals checks I12 for what a change of the record has sealed.
func (s *sim) noteSeals(before, after stream.Stream) {
	if after.Resharding == nil || before.Resharding == nil {
		return
	}
	for _, shard := range after.Resharding.At(stream.StepSealed) {
		if was, _ := before.Resharding.Shard(shard); was.Step != stream.StepSealed {
			s.visit("shard sealed")
			s.stream.closedIn[shard] = before.LayoutVersion
			s.checkUnread(shard)
		}
	}
}

// checkSealed is I12 with I1: nobody may read a shard that is sealed. A group that has fallen
// back behind the layout that closed it may grant it until it has copied that again.
func (s *sim) checkSealed() {
	for _, shard := range sortedShards(s.stream.closedIn) {
		if !isSealed(s.stream.rec, shard) || s.store.g.LayoutVersion < s.stream.closedIn[shard] {
			delete(s.stream.closedIn, shard)
			continue
		}
		s.checkUnread(shard)
	}
}

func (s *sim) checkUnread(shard int) {
	for _, p := range s.procs {
		if p.runs(shard) {
			s.violated("I12", "%s runs shard %d, which is sealed", p.name, shard)
		}
	}
}

// isSealed tells whether the record says that a shard is sealed.
func isSealed(rec stream.Stream, shard int) bool {
	if shard >= rec.ReadCount() {
		return true
	}
	return rec.Resharding != nil && slices.Contains(rec.Resharding.At(stream.StepSealed), shard)
}

func sortedShards(m map[int]int64) []int { return slices.Sorted(maps.Keys(m)) }
