package group_test

import (
	"slices"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// coordinator is one process of the coordinator: it may have a cached snapshot, and a
// decision that was loaded for and is not committed yet.
type coordinator struct {
	name    string
	cache   *view
	seen    group.Sighting // lost with the process
	jumps   int            // steps of the store's clock that a commit of this process has taken into account
	pending *pending
	drive   *drive
}

// pending is a decision between its load and its commit.
type pending struct {
	on    *view
	jumps int // steps of the store's clock that the load showed
	msgs  []message
	errand
}

// crashAt says when a coordinator dies during a decision.
type crashAt int

const (
	lives crashAt = iota
	beforeCommit
	beforeAnswer
)

// jumped tells whether the coordinator has seen the store's clock jump (T1).
func (s *sim) jumped(c *coordinator) bool { return s.visits["jump"] > c.jumps }

// recalls tells whether the coordinator saw a state that the store has lost (M1).
func (s *sim) recalls(c *coordinator) bool {
	g := s.store.g
	if c.seen.Lineage == g.Lineage {
		return c.seen.Revision > g.MetadataVersion
	}
	return c.seen.Lineage != "" && !slices.Contains(g.Known, c.seen.Lineage)
}

// steady carries out heartbeats by touch on the cached snapshot, as rule E6 allows, and
// tells whether it could.
func (s *sim) steady(c *coordinator, msgs []message) bool {
	if c.cache == nil || s.jumped(c) {
		return false
	}
	out := group.Step(s.cfg, c.cache.g, group.Input{Now: c.cache.clock, Live: c.cache.live, Heartbeats: requestsIn(msgs)})
	if !out.Steady {
		return false
	}
	if out.Next != nil {
		s.violated("E6", "a steady step changes the structure")
	}
	done, ok := s.store.touch(c.cache, out)
	if !ok {
		return false
	}
	s.visit("steady")
	s.remember(c, c.cache, out, done)
	s.answer(c, msgs, out, done)
	return true
}

// begin loads the store for a decision.
func (s *sim) begin(c *coordinator, msgs []message) {
	c.pending = &pending{on: s.store.load(), jumps: s.visits["jump"], msgs: msgs}
}

// finish decides and stores what begin has loaded for. A conflict loads again.
func (s *sim) finish(c *coordinator, crash crashAt) {
	p := c.pending
	c.pending = nil
	if crash == beforeCommit {
		s.logf("%s dies before its commit", c.name)
		c.cache, c.seen = nil, group.Sighting{}
		return
	}
	for range 3 {
		in := group.Input{
			Now: p.on.clock, Fresh: true, Live: p.on.live, ServedAt: p.on.servedAt, Identity: p.on.identity,
			ClockJumped: p.jumps > c.jumps, Nonce: s.nonce(), Heartbeats: requestsIn(p.msgs),
			Revision: p.on.g.MetadataVersion, Seen: c.seen, Layout: p.layout, Order: p.order,
		}
		out := s.decide(p.on, in)
		if s.write(c, p, in, out, crash) {
			return
		}
		s.visit("conflict")
		p.on, p.jumps = s.store.load(), s.visits["jump"]
	}
	s.violated("engine", "a decision did not get through")
}

// write stores a decision and speaks.
func (s *sim) write(c *coordinator, p *pending, in group.Input, out group.Output, crash crashAt) bool {
	var done stored
	var ok bool
	if out.Next != nil {
		before := s.store.g
		if done, ok = s.store.commit(p.on, out); !ok {
			return false
		}
		c.jumps = p.jumps
		s.checkCommit(before, in, out)
	} else if done, ok = s.store.touch(p.on, out); !ok {
		return false
	}
	s.logf("%s: %s", c.name, outcome(out))
	if crash == beforeAnswer {
		s.logf("%s dies before it answers", c.name)
		s.visit("lost answer")
		c.cache, c.seen = nil, group.Sighting{}
		return true
	}
	s.remember(c, p.on, out, done)
	if p.layout != nil {
		c.drive = &drive{rec: p.rec, g: s.store.g}
	}
	s.checkRepeat(in, out)
	s.answer(c, p.msgs, out, done)
	return true
}

// remember keeps what is known of the store after a write.
func (s *sim) remember(c *coordinator, on *view, out group.Output, done stored) {
	next := *on
	next.clock, next.token = done.clock, s.store.token
	if out.Next != nil {
		next.g = out.Next
	}
	for i, b := range out.Beats {
		l := next.live[b.Request.MemberID]
		if l.Deadline = done.deadlines[i]; done.applied[i] {
			l.Incarnation, l.Sequence, l.RequestID = b.Request.Incarnation, b.Request.Sequence, b.Request.RequestID
			l.SyncVersion = b.SyncVersion
		}
		next.live[b.Request.MemberID] = l
	}
	c.cache = &next
	c.seen = group.Sighting{Lineage: next.g.Lineage, Revision: next.g.MetadataVersion}
}

// answer sends the replies, each with the lease it rests on (E5).
func (s *sim) answer(c *coordinator, msgs []message, out group.Output, done stored) {
	for i, r := range out.Replies {
		if r.Beat >= 0 && renews(r.Response.Status) {
			left := time.Duration(done.deadlines[r.Beat]-done.clock) * time.Millisecond
			r.Response.LeaseMs = s.cfg.LeaseFor(left).Milliseconds()
		}
		s.checkAnswer(msgs[i].req, r.Response)
		s.logf("%s answers %s %s", c.name, msgs[i].from.name, answerText(r.Response))
		s.visit(string(r.Response.Status))
		s.post(message{from: msgs[i].from, req: msgs[i].req, resp: r.Response})
	}
}

func renews(status protocol.HeartbeatStatus) bool {
	return status == protocol.StatusOK || status == protocol.StatusSyncMetadata || status == protocol.StatusRevokePending
}

func requestsIn(msgs []message) []*protocol.HeartbeatRequest {
	list := make([]*protocol.HeartbeatRequest, len(msgs))
	for i, m := range msgs {
		list[i] = m.req
	}
	return list
}
