package group_test

import (
	"fmt"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// reshardings lists the events of the stream's record and of operators that the mix allows.
func (s *sim) reshardings(alive []*process) []event {
	var events []event
	add := func(fault string, weight int, do func()) {
		if s.has(fault) {
			events = append(events, event{weight, do})
		}
	}
	add("scale", 45, func() { s.drive(oneOf(s, "coordinator", s.coords)) })
	if s.stream.rec.Resharding == nil {
		add("scale", 8, s.scale)
	} else if s.stream.rec.Resharding.MayRollBack() {
		add("rollbacks", 3, s.rollBack)
	}
	add("lost shards", 2, s.loseShard)
	add("stream falls back", 2, s.streamFallsBack)
	if len(s.store.live) > 0 {
		add("lost liveness", 1, s.loseLiveness)
	}
	add("orders", 1, func() { s.order(group.Order{Kind: group.OrderBarrier}) })
	add("unbar", 2, func() { s.order(group.Order{Kind: group.OrderUnbar}) })
	if len(alive) > 0 {
		add("orders", 2, func() { s.order(group.Order{Kind: group.OrderFence, Member: oneOf(s, "process", alive).id}) })
	}
	return events
}

// change stores a change of the stream's record.
func (s *sim) change(next stream.Stream, err error, what string) {
	if err != nil {
		s.violated("engine", "%s: %v", what, err)
		return
	}
	if !s.stream.store(s.stream.rec, next) {
		s.violated("engine", "%s: the record has moved", what)
	}
	s.visit(what)
	s.logf("stream v%d: %s, layout %d", next.MetadataVersion, what, next.LayoutVersion)
}

// scale begins a resharding to any other count.
func (s *sim) scale() {
	rec := s.stream.rec
	to := s.draw.pick("target count", s.most())
	if to >= rec.ShardCount {
		to++
	}
	s.requests++
	next, err := rec.Scaled(fmt.Sprintf("R%d", s.requests), to, stream.Order{RequestID: "scale"}, "", int64(s.clock()))
	what := "scale-out"
	if to < rec.ShardCount {
		what = "scale-in"
	}
	s.change(next, err, what)
}

func (s *sim) rollBack() {
	r := s.stream.rec.Resharding
	next, err := s.stream.rec.RollingBack(r.ID, stream.Order{RequestID: "rollback"}, int64(s.clock()))
	s.change(next, err, "rollback in "+string(r.Phase))
}

// loseShard finds that a shard of the reading set is missing in Redis (L12).
func (s *sim) loseShard() {
	rec := s.stream.rec
	if rec.ReadCount() == 0 {
		return
	}
	next := rec.WithLost([]int{s.draw.pick("shard", rec.ReadCount())}, int64(s.clock()))
	if next.MetadataVersion != rec.MetadataVersion {
		s.change(next, nil, "lost")
	}
}

// streamFallsBack puts the stream's record back by up to three changes; the group's stays.
func (s *sim) streamFallsBack() {
	st := s.stream
	if len(st.history) == 0 {
		return
	}
	at := len(st.history) - 1 - s.draw.pick("lost changes", len(st.history))
	st.rec, st.history = st.history[at], st.history[:at]
	st.rec.Lineage = fmt.Sprintf("after %d", s.visits["stream falls back"]) // what was read before is of another token
	s.visit("stream falls back")
	s.logf("stream falls back to v%d, layout %d", st.rec.MetadataVersion, st.rec.LayoutVersion)
}

// loseLiveness takes away what the store has of one member beside the structure (M1).
func (s *sim) loseLiveness() {
	id := oneOf(s, "member", sortedKeys(s.store.live))
	delete(s.store.live, id)
	s.visit("lost liveness")
	s.logf("liveness of %s is lost", id)
}

// order lets a coordinator carry out an operator's order.
func (s *sim) order(o group.Order) {
	c := oneOf(s, "coordinator", s.coords)
	if c.pending != nil {
		s.finish(c, lives)
	}
	s.begin(c, nil)
	c.pending.errand = errand{order: &o}
	s.finish(c, lives)
}
