package group_test

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

// reshardingBound is how much longer than V1 a whole resharding may take on a fair day, in ms:
// a routing lease, and a heartbeat interval for each step of the driver.
const reshardingBound = routingLease + 12_000

// simplest is the chooser of a day without faults.
type simplest struct{}

func (simplest) pick(string, int) int { return 0 }

// settleFairly goes on without faults: every process heartbeats in its interval, handlers
// end, coordinators tick. Within the bound of V1 the group is stable, and then nothing
// changes any more (I15).
func (s *sim) settleFairly() {
	s.draw = simplest{}
	for _, c := range s.coords {
		if c.pending != nil {
			s.finish(c, lives)
		}
	}
	s.bag = nil
	s.logf("from here on nothing fails")
	bound := s.now + ms(2*s.cfg.Lease+s.cfg.RebalanceTimeout+4*s.cfg.HeartbeatInterval)
	ends := bound // V3: and then every removed shard is sealed
	if s.has("scale") {
		ends += reshardingBound
	}
	for round := 0; !s.settled() || !s.reshaped(); round++ {
		if s.now > ends && !s.reshaped() {
			s.violated("V3", "the resharding does not end: %+v\n%s", s.stream.rec, stateText(s))
			return
		}
		if s.now > ends || s.now > bound && !s.has("scale") {
			if s.store.g.Round != nil {
				s.violated("V2", "a correction round is still open after the bound: %s", stateText(s))
			}
			s.violated("V1", "not stable after the bound: %s", stateText(s))
			return
		}
		if s.fairRound(round); len(s.broken) > 0 {
			return
		}
	}
	since := s.now
	for round := 0; s.now < since+ms(s.cfg.Lease)+2000; round++ {
		s.fairRound(round)
		if len(s.broken) == 0 && !(s.settled() && s.reshaped()) {
			s.violated("I15", "stable at %d, not any more at %d: %s", since, s.now, stateText(s))
			return
		}
	}
}

// fairRound is one heartbeat interval.
func (s *sim) fairRound(round int) {
	for i, p := range s.alive() {
		s.roundTrip(p, s.coords[(round+i)%len(s.coords)])
		p.drained()
		s.checkState()
	}
	s.now += ms(s.cfg.HeartbeatInterval)
	s.tick(s.coords[round%len(s.coords)])
	if s.has("scale") {
		s.drive(s.coords[0])
		s.drive(s.coords[0])
	}
	s.checkState()
}

// reshaped tells whether the stream's record is at rest and the group has copied it (V3).
func (s *sim) reshaped() bool {
	rec := s.stream.rec
	return rec.Resharding == nil && len(rec.Lost) == 0 && sameLayout(layoutOfStream(rec), s.store.g.LayoutOf())
}

// settled tells whether the group is STABLE (I15): reported = held = target, nothing
// lingers, no round, and every member id that has a process has one that reads.
func (s *sim) settled() bool {
	g := s.store.g
	if g.Round != nil || g.BarrierUntil != 0 || s.store.lostUnnoticed() ||
		slices.ContainsFunc(s.coords, s.jumped) || slices.ContainsFunc(s.coords, s.recalls) {
		return false
	}
	for shard, h := range g.Holds {
		if h.Member != g.Target[shard] || h.Told || h.Lingers != 0 || h.Member == "" && g.Open(shard) && len(s.alive()) > 0 {
			return false
		}
	}
	for _, m := range g.Members {
		if _, known := s.store.live[m.ID]; !known && (m.Listening() || m.State == group.Suspended) {
			return false // lost, and nobody has looked
		}
		if m.Listening() && !s.served(m) || m.State == group.Suspended || m.State == group.Waiting {
			return false
		}
	}
	for _, p := range s.alive() {
		if m, found := g.Find(p.id); !found || m.State != group.Active || p.leaving != 0 || s.readers(p.id) > 1 {
			return false
		}
	}
	return true
}

// served tells whether a process of the member reads exactly its target.
func (s *sim) served(m group.Member) bool {
	return slices.ContainsFunc(s.alive(), func(p *process) bool {
		if p.id != m.ID || p.incarnated != m.Incarnation || !p.leased() {
			return false
		}
		for shard, target := range s.store.g.Target {
			if p.mayRead(shard) != (target == m.ID) {
				return false
			}
		}
		return true
	})
}

// readers counts the processes under one id that read anything.
func (s *sim) readers(id string) int {
	n := 0
	for _, p := range s.alive() {
		reads := false
		for shard := range p.shards {
			reads = reads || p.mayRead(shard)
		}
		if p.id == id && reads {
			n++
		}
	}
	return n
}

func stateText(s *sim) string {
	w := world{g: s.store.g, live: s.store.live, now: s.clock()}
	text := w.show()
	for _, p := range s.alive() {
		text += "  process " + p.name + " of " + p.id
		for shard := range p.shards {
			if p.mayRead(shard) {
				text += " reads " + string(rune('0'+shard))
			}
		}
		text += "\n"
	}
	return text
}
