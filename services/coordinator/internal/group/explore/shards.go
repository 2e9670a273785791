package explore

import (
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// mostShards bounds the shards of a setup in which records are published.
const mostShards = 4

// shards is what Redis has of the stream, where records are published. It is not changed but
// copied.
type shards struct {
	list     [mostShards]shard
	producer producer
}

// shard is one key with its marker. Of each record it only matters who has not handled it.
type shard struct {
	there     bool   // a stream, to which records can be added
	retiredBy string // the resharding that moved it away and left a string in its place
	marker    marker
	of        [mostGroups]backlog
}

// marker says which phase of which resharding the scripts of the driver belong to (L2).
type marker struct {
	mark  int64
	phase string
}

// backlog is what a group has of a shard.
type backlog struct {
	unread, pending int8
	reader          int // the life that the pending ones were delivered to last, 0 for none
}

// mostOpen bounds the records of a shard that a group has not handled; no more are added.
const mostOpen = 2

func (b backlog) open() int8 { return b.unread + b.pending }

// why says what stands against a proof that the shard is empty, "" for nothing (L4).
func (s *shard) why() string {
	reason := ""
	for i := range s.of {
		if s.of[i].pending > 0 {
			return "PENDING"
		}
		if s.of[i].unread > 0 {
			reason = "UNREAD"
		}
	}
	return reason
}

// editShards returns what Redis has for writing.
func (w *World) editShards() *shards {
	c := *w.shards
	w.shards = &c
	return w.shards
}

// markerOf is the marker of a resharding's present direction.
func markerOf(r *stream.Resharding) marker {
	direction := " forward"
	if r.Phase == stream.PhaseRollingBack {
		direction = " back"
	}
	return marker{mark: r.Mark, phase: r.ID + direction}
}

// mark begins a phase: it overwrites the markers. It returns the highest that is not below, 0
// for none: then the record has lost writes (L2).
func (w *World) mark(m marker, indexes []int) (higher int64) {
	s := w.editShards()
	for _, i := range indexes {
		if at := &s.list[i].marker; *at == m || m.mark > at.mark {
			*at = m
		} else {
			higher = max(higher, at.mark)
		}
	}
	return higher
}

// ranged lists the shards from ≤ index < to.
func ranged(from, to int) []int {
	var list []int
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

// provide makes a shard where there is none; a string in its place goes.
func (s *shard) provide() {
	if !s.there {
		s.there, s.retiredBy, s.of = true, "", [mostGroups]backlog{}
	}
}

// unseal puts a shard back that a resharding has moved away, or makes it; it is false where
// another one has (L8).
func (s *shard) unseal(by string) bool {
	if s.retiredBy != "" && s.retiredBy != by {
		return false
	}
	s.provide()
	return true
}

// unmake deletes a shard to which nothing was added. It is false where something was (L8).
func (s *shard) unmake() bool {
	if s.there && s.why() != "" {
		return false
	}
	s.there = false
	return true
}

// lookAtShard is a look of the driver at a removed shard, for the n-th of which a verdict
// speaks where nothing is published (L4). One that the resharding has sealed is proven.
func (w *World) lookAtShard(r *stream.Resharding, index, nth int, v verdict) stream.Judged {
	j := stream.Judged{Index: index}
	if w.shards == nil {
		if v.unread(nth) {
			j.Reason = "UNREAD"
		}
	} else if s := &w.shards.list[index]; s.there {
		j.Reason = s.why()
	} else if s.retiredBy != r.ID {
		j.Reason = "STREAM_MISSING"
	}
	if j.Reason == "" {
		j.Proof = "LAG"
	}
	return j
}

// sealShard proves once more and seals, in one step of Redis (L5). It does so also where the
// record has moved on meanwhile. ran is false where the marker is another one (L2).
func (w *World) sealShard(r *stream.Resharding, index, nth int, v verdict) (j stream.Judged, ran bool) {
	if w.shards != nil && w.shards.list[index].marker != markerOf(r) && !w.flawed("late seals run") {
		return j, false
	}
	if j = w.lookAtShard(r, index, nth, v); w.flawed("seals without the second proof") {
		j = stream.Judged{Index: index, Proof: "LAG"}
	}
	if j.Reason == "" && w.shards != nil {
		s := &w.editShards().list[index]
		s.there, s.retiredBy = false, r.ID
	}
	return j, true
}

// beyond returns the end of the shards that there are behind those of the record, with a
// marker of the stream's life: the record has forgotten them (L1). What was given up is sealed
// or deleted.
func (w *World) beyond(rec *stream.Stream) int {
	least, end := int64(0), rec.ReadCount()
	if w.flawed("a new mark hides forgotten shards") {
		least = rec.Mark
	}
	for end < mostShards && w.shards.list[end].there && w.shards.list[end].marker.mark > least {
		end++
	}
	return end
}

// forgotten tells whether there are shards that the record does not know: orders are refused
// until they are taken in.
func (w *World) forgotten() bool {
	rec := &w.stream.rec
	return w.shards != nil && w.beyond(rec) > rec.ReadCount() && !w.flawed("orders do not look behind the record")
}

// missing lists the shards that groups are to read and that are not there (L12).
func (w *World) missing(rec *stream.Stream) []int {
	var list []int
	for _, i := range rec.Readable() {
		s := &w.shards.list[i]
		if !s.there && (s.retiredBy == "" || rec.Resharding == nil || s.retiredBy != rec.Resharding.ID) {
			list = append(list, i)
		}
	}
	return list
}

// checkRecords is promise 1 with I12: a record that was acknowledged to a producer is in no
// sealed shard while a group has not handled it, and in none that nobody is to read (L3). And
// producers are told of no sealed shard (L8).
func (w *World) checkRecords() {
	if w.shards == nil {
		return
	}
	for i := range w.shards.list {
		s := &w.shards.list[i]
		switch reason := s.why(); {
		case reason != "" && s.retiredBy != "":
			w.violated("I12", "shard %d is sealed, a record in it is %s", i, reason)
		case w.has(StreamLosses): // until the driver has seen it
		case s.retiredBy != "" && i < w.stream.rec.ShardCount:
			w.violated("L8", "producers are told of shard %d, which is sealed", i)
		case reason != "" && i >= w.stream.rec.ReadCount():
			w.violated("P1", "shard %d is read by nobody, a record in it is %s", i, reason)
		}
	}
}
