package group

import "slices"

// settle brings the group to rest after what was heard: departures, the target, then
// told-to-drop, the end of a round, and grants last (T2).
func (s *step) settle() {
	s.endLeaves()
	s.retarget()
	s.tell()
	s.trim()
	s.setDropTimers()
	s.endRound()
	s.grant()
}

// endLeaves ends the records of leaving members that hold nothing any more (J5).
func (s *step) endLeaves() {
	for i := range s.g.Members {
		if m := s.g.Members[i]; m.State == Leaving && !s.hasHold(m) {
			s.setState(i, Left, CauseLeave)
			s.bump(i)
		}
	}
}

// retarget computes the target anew when membership or layout has changed (J2, S3).
func (s *step) retarget() {
	if !s.recompute {
		return
	}
	g := s.edit()
	g.GroupEpoch++
	g.Target = g.target()
	g.AssignmentEpoch = g.GroupEpoch
}

// eligible returns the ids that the target may name, sorted.
func (g *Group) eligible() []string {
	var ids []string
	for _, m := range g.Members {
		if m.Eligible() {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// tell tells holders to drop what the target took from them, and hands back what it
// gave them again; neither ends a hold (H2, E1).
func (s *step) tell() {
	for shard, h := range s.g.Holds {
		if !h.held() || h.Lingers != 0 {
			continue
		}
		wanted := s.g.Target[shard] == h.Member
		if wanted != h.Told {
			continue
		}
		i, found := s.g.find(h.Member)
		if !found {
			continue
		}
		s.edit().Holds[shard].Told = !wanted
		s.bump(i)
		cause := CauseTold
		if wanted {
			cause = CauseHandBack
		} else {
			s.g.Members[i].DropBy = 0 // H3: the timer restarts with each told-to-drop
			s.rely(h.Member)          // T3: it counts from Now, and a later renewal did not tell
		}
		s.record(Change{Cause: cause, Member: h.Member, Shard: shard})
	}
}

// setDropTimers starts and stops the rebalance timers: they stand still during a barrier
// and start anew after it, also while a round is still open - a member that never drains
// must not keep the round open for ever (H3, V2).
func (s *step) setDropTimers() {
	stopped := s.g.BarrierUntil != 0
	for i, m := range s.g.Members {
		told := slices.ContainsFunc(s.g.Holds, func(h Hold) bool { return h.by(m) && h.Told })
		want := m.DropBy
		switch {
		case !told || stopped:
			want = 0
		case m.DropBy == 0:
			want = s.in.Now.Add(s.cfg.RebalanceTimeout)
		}
		if want != m.DropBy {
			s.edit().Members[i].DropBy = want
		}
	}
}

// grant records holds for what is wanted and free (H1). Nothing is granted while the
// barrier is up or a round is open (M3, M4), nor on a shard that is missing (L12).
func (s *step) grant() {
	if s.g.BarrierUntil != 0 || s.g.Round != nil {
		return
	}
	for shard, target := range s.g.Target {
		if target == "" || s.g.Holds[shard].held() || s.g.lost(shard) {
			continue
		}
		i, found := s.g.find(target)
		if !found || s.g.Members[i].State != Active {
			continue
		}
		s.edit().Holds[shard] = Hold{Member: target, Incarnation: s.g.Members[i].Incarnation}
		s.bump(i)
		s.record(Change{Cause: CauseGrant, Member: target, Shard: shard})
	}
}
