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

// shard is one key: of each record it only matters who has not handled it.
type shard struct {
	sealed bool // moved away, with a string in its place: nothing can be added
	of     [mostGroups]backlog
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

// reshape is what the driver has done in Redis before it stored a change of the record: added
// shards are made, and sealed ones come back (L2, L8).
func (w *World) reshape(before *stream.Stream, what string) {
	if w.shards == nil || before.Resharding == nil {
		return
	}
	from, to := before.Resharding.Added()
	if what == "turned" {
		from, to = before.Resharding.Cut()
	}
	if what != "turned" && what != "activated" {
		return
	}
	if w.flawed("routing returns before the seals are undone") {
		return
	}
	s := w.editShards()
	for i := from; i < to; i++ {
		s.list[i] = shard{}
	}
}

// lookAtShard is a look of the driver at a removed shard, for the n-th of which a verdict
// speaks where nothing is published (L4). A shard that is sealed already is proven empty.
func (w *World) lookAtShard(index, nth int, v verdict) stream.Judged {
	j := stream.Judged{Index: index}
	switch {
	case w.shards == nil && v.unread(nth):
		j.Reason = "UNREAD"
	case w.shards != nil && !w.shards.list[index].sealed:
		j.Reason = w.shards.list[index].why()
	}
	if j.Reason == "" {
		j.Proof = "LAG"
	}
	return j
}

// sealShard proves once more and seals, in one step of Redis (L5). It does so also where the
// record has moved on meanwhile. ran is false where the marker has been overwritten (L2).
func (w *World) sealShard(on *stream.Stream, index, nth int, v verdict) (j stream.Judged, ran bool) {
	now := w.stream.rec.Resharding
	if w.shards != nil && (now == nil || now.ID != on.Resharding.ID || now.Turned != on.Resharding.Turned) {
		return j, false
	}
	if j = w.lookAtShard(index, nth, v); w.flawed("seals without the second proof") {
		j = stream.Judged{Index: index, Proof: "LAG"}
	}
	if j.Reason == "" && w.shards != nil {
		w.editShards().list[index].sealed = true
	}
	return j, true
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
		case s.sealed && i < w.stream.rec.ShardCount:
			w.violated("L8", "producers are told of shard %d, which is sealed", i)
		case reason == "":
		case s.sealed:
			w.violated("I12", "shard %d is sealed, a record in it is %s", i, reason)
		case i >= w.stream.rec.ReadCount():
			w.violated("P1", "shard %d is read by nobody, a record in it is %s", i, reason)
		}
	}
}
