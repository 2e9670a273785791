package stream

import "slices"

// Judged is what a look at a removed shard found: no reason means proven empty (L4).
type Judged struct {
	Index                   int
	Reason, Proof, Evidence string
}

// Activated lets the layout change: new shards are provisioned, or routing shrinks (L2, L3).
func (s Stream) Activated(now int64) Stream {
	r := *s.Resharding
	r.Phase, r.Problem, r.UpdatedAt = PhaseActive, "", now
	s.ShardCount = r.To
	from, to := r.Cut()
	s.Removed, r.Shards = remove(from, to, now)
	return s.withResharding(r).relaid(CauseScale)
}

// Turned lets routing return in a rollback, when the markers are overwritten and sealed
// shards are back (L8). Shards that were added become removed ones.
func (s Stream) Turned(now int64) Stream {
	r, before := *s.Resharding, s
	added := s.ShardCount > r.From
	r.Turned, r.Problem, r.UpdatedAt, r.Shards = true, "", now, nil
	s.ShardCount, s.Removed = r.From, 0
	if added {
		s.Removed, r.Shards = remove(r.From, r.To, now)
	}
	s = s.withResharding(r)
	if s.ShardCount == before.ShardCount { // the layout has not changed yet: nothing to copy
		return s
	}
	return s.relaid(CauseRollback)
}

// DrainingFrom notes that every group has copied the layout, and when the last routing
// answer that names removed shards runs out (L3).
func (s Stream) DrainingFrom(at, now int64) Stream {
	r := *s.Resharding
	r.DrainFrom, r.UpdatedAt = at, now
	return s.withResharding(r)
}

// Drained begins to look at the removed shards (L3). A rollback stays one.
func (s Stream) Drained(now int64) Stream {
	r := *s.Resharding
	if r.Phase == PhaseActive {
		r.Phase = PhaseDraining
	}
	r.UpdatedAt = now
	return s.withResharding(r)
}

// Judged takes over what a look at the removed shards found. Shards that are proven empty
// are closed (L5). It is the record itself when nothing changed.
func (s Stream) Judged(found []Judged, now int64) Stream {
	r := *s.Resharding
	r.Shards = slices.Clone(r.Shards)
	closed := false
	for _, j := range found {
		i := slices.IndexFunc(r.Shards, func(shard Removed) bool { return shard.Index == j.Index })
		if i < 0 || r.Shards[i].Step != StepReading {
			continue
		}
		shard := &r.Shards[i]
		switch {
		case j.Reason == "":
			shard.Step, shard.Reason, shard.Since = StepClosing, "", now
			shard.Proof, shard.Evidence = j.Proof, j.Evidence
			closed = true
		case j.Reason != shard.Reason:
			shard.Reason, shard.Since = j.Reason, now
		}
	}
	if slices.Equal(r.Shards, s.Resharding.Shards) {
		return s
	}
	r.UpdatedAt = now
	s = s.withResharding(r)
	if closed {
		s = s.relaid(CauseSeal)
	}
	return s
}

// Sealed takes over what sealing the closed shards came to: without a reason they are
// sealed, with one they go back into reading (L5). When all are sealed the reading set
// shrinks (L6).
func (s Stream) Sealed(found []Judged, now int64) Stream {
	r := *s.Resharding
	r.Shards = slices.Clone(r.Shards)
	reopened := false
	for _, j := range found {
		i := slices.IndexFunc(r.Shards, func(shard Removed) bool { return shard.Index == j.Index })
		if i < 0 || r.Shards[i].Step != StepClosing {
			continue
		}
		shard := &r.Shards[i]
		shard.Since = now
		if j.Reason != "" {
			shard.Step, shard.Reason, shard.Proof, shard.Evidence = StepReading, j.Reason, "", ""
			reopened = true
			continue
		}
		shard.Step = StepSealed
		if j.Evidence != "" { // a repeated seal has none
			shard.Proof, shard.Evidence = j.Proof, j.Evidence
		}
	}
	if slices.Equal(r.Shards, s.Resharding.Shards) {
		return s
	}
	r.UpdatedAt = now
	s = s.withResharding(r)
	all := !slices.ContainsFunc(r.Shards, func(shard Removed) bool { return shard.Step != StepSealed })
	if all {
		s.Removed = 0
	}
	if all || reopened {
		s = s.relaid(CauseSeal)
	}
	return s
}

// Raised gives the resharding a mark above one that was found in Redis, where the record
// has lost a later phase (L2).
func (s Stream) Raised(found, now int64) Stream {
	r := *s.Resharding
	r.Mark, r.UpdatedAt = s.markAbove(found, now), now
	return s.withResharding(r)
}

// Stopped notes what stopped a try to go on, "" when it went on (L10). It is the record
// itself when that is known.
func (s Stream) Stopped(problem string, now int64) Stream {
	if s.Resharding.Problem == problem {
		return s
	}
	r := *s.Resharding
	r.Problem, r.UpdatedAt = problem, now
	return s.withResharding(r)
}

// Finished ends the resharding and files it with the past ones (L2, L6, L8). Only the last
// one keeps what became of its shards: there may be ten thousand.
func (s Stream) Finished(now int64) Stream {
	r := *s.Resharding
	r.Phase, r.Problem, r.UpdatedAt = endOf(r.Phase), "", now
	s.Past = append([]Resharding{r}, s.Past[:min(len(s.Past), MaxPast-1)]...)
	if len(s.Past) > 1 {
		s.Past[1].Shards = nil
	}
	s.Resharding = nil
	s.MetadataVersion++
	return s
}

func endOf(phase Phase) Phase {
	if phase == PhaseRollingBack {
		return PhaseRolledBack
	}
	return PhaseDeprecated
}

// remove lists the shards of a range as removed ones.
func remove(from, to int, now int64) (int, []Removed) {
	if from >= to {
		return 0, nil
	}
	shards := make([]Removed, 0, to-from)
	for i := from; i < to; i++ {
		shards = append(shards, Removed{Index: i, Step: StepReading, Since: now})
	}
	return len(shards), shards
}
