package group

import (
	"slices"
	"time"
)

// runDue carries out what time has made due, before anything that was heard (T2).
func (s *step) runDue() {
	if s.g.BarrierUntil != 0 && s.in.Now >= s.g.BarrierUntil {
		s.edit().BarrierUntil = 0
		s.record(Change{Cause: CauseBarrierOver, Shard: -1})
	}
	if s.g.BarrierUntil != 0 { // M3: nobody expires while the barrier is up
		return
	}
	s.startGrace()
	s.endLingering()
	for i := range s.g.Members {
		s.runDueMember(i)
	}
	s.forget()
}

// startGrace puts expiry off by one lease when no coordinator served the group for one
// lease: its members could not renew (T1).
func (s *step) startGrace() {
	unserved := s.in.ServedAt != 0 && s.in.Now >= s.in.ServedAt.Add(s.cfg.Lease)
	mayEnd := func(m Member) bool { return m.leased() || m.State == Waiting }
	if unserved && s.in.Now >= s.g.GraceUntil && slices.ContainsFunc(s.g.Members, mayEnd) {
		g := s.edit()
		g.GraceUntil = s.in.Now.Add(s.cfg.Lease)
		for i := range g.Members {
			g.Members[i].DropBy = 0 // nobody could report a release either
		}
		s.record(Change{Cause: CauseGrace, Shard: -1})
	}
}

// endLingering ends the lingering holds whose stored deadline has passed (H4).
func (s *step) endLingering() {
	for shard, h := range s.g.Holds {
		if h.Lingers != 0 && s.in.Now >= h.Lingers {
			s.record(Change{Cause: CauseLingerOver, Member: h.Member, Shard: shard})
			s.edit().Holds[shard] = Hold{}
		}
	}
}

func (s *step) runDueMember(i int) {
	m := s.g.Members[i]
	switch {
	case m.leased() && s.in.Now >= s.in.Live[m.ID].Deadline:
		if s.in.Now >= s.g.GraceUntil {
			s.expire(i)
		}
	case m.State == Waiting && s.in.Now >= max(m.Since.Add(s.cfg.Lease), s.g.GraceUntil):
		s.setState(i, Expired, CauseExpire) // J4: the successor did not come back
		s.record(Change{Cause: CauseExpire, Member: m.ID, Shard: -1})
		s.bump(i)
	case m.DropBy != 0 && s.in.Now >= m.DropBy:
		s.fenceLate(i)
	}
}

// expire ends a member whose lease has run out, with its holds (H3b). A member with a
// successor in sight keeps its target for it (J4).
func (s *step) expire(i int) {
	m := s.g.Members[i]
	live := s.rely(m.ID)
	state, cause := Expired, CauseExpire
	switch {
	case m.State == Leaving:
		state, cause = Left, CauseLeave
	case m.State == Active && live.SuccessorAt != 0 && s.in.Now < live.SuccessorAt.Add(s.cfg.Lease):
		state = Waiting
	}
	s.record(Change{Cause: CauseExpire, Member: m.ID, Shard: -1})
	if s.in.Live[m.ID].heard() {
		s.endHolds(func(h Hold) bool { return h.by(m) })
	} else { // lost during a barrier: nobody knows when it ran out
		s.linger(i)
	}
	s.setState(i, state, cause)
	s.bump(i)
}

// fenceLate throws out a member that was told to drop shards, went on heartbeating and
// did not release them in time: those holds end, its others linger (H3c, H4).
func (s *step) fenceLate(i int) {
	m := s.g.Members[i]
	s.endHolds(func(h Hold) bool { return h.by(m) && h.Told })
	s.fence(i, CauseFenceTimeout, nil)
}

// forget removes the records of gone members after their retention, unless one of their
// holds still lingers (J6, H4).
func (s *step) forget() {
	gone := func(m Member) bool {
		return !m.Eligible() && !m.Listening() && s.in.Now >= m.Since.Add(s.cfg.StaleRetention) &&
			!slices.ContainsFunc(s.g.Holds, func(h Hold) bool { return h.Member == m.ID })
	}
	if !slices.ContainsFunc(s.g.Members, gone) {
		return
	}
	g := s.edit()
	g.Members = slices.DeleteFunc(g.Members, func(m Member) bool {
		if !gone(m) {
			return false
		}
		s.out.Forget = append(s.out.Forget, m.ID)
		s.record(Change{Cause: CauseForget, Member: m.ID, Shard: -1})
		return true
	})
}

// Due returns when time alone will change the group next, 0 for never. It may be early,
// as liveness may have moved, but is never late for the liveness given.
func Due(cfg Config, g *Group, live map[string]Liveness) Millis {
	if g.BarrierUntil != 0 {
		return g.BarrierUntil
	}
	var due Millis
	add := func(at Millis, after time.Duration) {
		if at = max(1, at.Add(after)); due == 0 || at < due {
			due = at
		}
	}
	for _, h := range g.Holds {
		if h.Lingers != 0 {
			add(h.Lingers, 0)
		}
	}
	for _, m := range g.Members {
		switch {
		case m.leased():
			add(max(live[m.ID].Deadline, g.GraceUntil), 0)
		case m.State == Waiting:
			add(max(m.Since.Add(cfg.Lease), g.GraceUntil), 0)
		default:
			add(m.Since, cfg.StaleRetention)
		}
		if m.DropBy != 0 {
			add(m.DropBy, 0)
		}
	}
	return due
}
