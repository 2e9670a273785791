package explore

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// recordOf writes the stream's record, what it can fall back to, and what was closed for groups.
func (k *keyer) recordOf(w *World) {
	r := w.stream
	k.stream(&r.rec)
	k.number(int64(len(r.history)))
	for i := range r.history {
		k.stream(&r.history[i])
	}
	for nth := range w.groups() {
		closed := w.houseOf(nth).closedIn
		if nth > 0 {
			k.number(int64(len(closed)))
		}
		for _, c := range closed {
			k.number(int64(c.shard))
			k.layout(c.version)
		}
	}
}

// shardsOf writes what Redis has of the stream.
func (k *keyer) shardsOf(w *World) {
	if w.shards == nil {
		return
	}
	for i := range w.env.setup.most() {
		s := &w.shards.list[i]
		k.flags(s.there)
		k.phase(s.retiredBy)
		k.phase(s.marker.phase)
		k.mark(s.marker.mark)
		for nth := range w.groups() {
			b := s.of[nth]
			k.number(int64(b.unread))
			k.number(int64(b.pending))
			reader := slices.IndexFunc(w.houseOf(nth).procs, func(p *process) bool { return p.life == b.reader })
			k.number(int64(reader)) // one that is gone is as good as none
		}
	}
	p := w.shards.producer
	if k.number(int64(p.routes)); p.routes > 0 {
		k.number(max(p.until-w.now, 0))
	}
}

// mark writes a mark, which follows the clock.
func (k *keyer) mark(mark int64) {
	if k.forgets {
		k.number(mark - k.clock)
	}
}

// phase writes the name of a resharding, or of a phase of it.
func (k *keyer) phase(name string) { k.number(k.phases.of(name)) }

// stream writes the record of the stream, whose clock is the first group's. Marks are only
// for Redis.
func (k *keyer) stream(s *stream.Stream) {
	defer func(focus *scope) { k.scope = focus }(k.scope)
	k.scope = &k.scopes[0]
	k.number(int64(s.ShardCount))
	k.number(int64(s.Removed))
	k.layout(s.LayoutVersion)
	k.text(string(s.LayoutCause))
	k.shards(s.Lost)
	k.mark(s.Mark)
	k.ranked(&k.marks, s.MetadataVersion)
	k.identity(s.Lineage)
	r := s.Resharding
	if k.flags(r != nil); r == nil {
		return
	}
	k.number(int64(r.From))
	k.number(int64(r.To))
	if k.mark(r.Mark); k.publishes {
		k.phase(r.ID)
		k.phase(markerOf(r).phase)
	}
	k.text(string(r.Phase))
	k.flags(r.Turned)
	k.until(group.Millis(r.DrainFrom))
	k.number(int64(len(r.Shards)))
	for _, shard := range r.Shards {
		k.number(int64(shard.Index))
		k.text(string(shard.Step))
		k.text(shard.Reason)
	}
}
