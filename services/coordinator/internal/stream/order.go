package stream

import "slices"

// Scaled begins a resharding (L1). Neither routing nor layout change yet. now is the
// store's clock in milliseconds.
func (s Stream) Scaled(id string, to int, order Order, deprecatedAfter string, now int64) (Stream, error) {
	switch {
	case s.Resharding != nil:
		return s, ErrActive
	case to == s.ShardCount:
		return s, ErrSame
	case len(s.Active()) != len(s.Groups):
		return s, ErrUnfinished
	}
	return s.withResharding(Resharding{
		ID: id, From: s.ShardCount, To: to, Phase: PhasePreparing, Mark: s.nextMark(now),
		Order: order, DeprecatedAfter: deprecatedAfter, CreatedAt: now, UpdatedAt: now,
	}), nil
}

// RollingBack begins to undo the resharding of that id (L8). Routing returns with Turned.
func (s Stream) RollingBack(id string, order Order, now int64) (Stream, error) {
	r, err := s.FindResharding(id)
	if err != nil {
		return s, err
	}
	if !r.MayRollBack() {
		return s, ErrOver
	}
	r.Phase, r.Mark, r.Order = PhaseRollingBack, s.nextMark(now), order
	r.DrainFrom, r.Problem, r.UpdatedAt = 0, "", now
	return s.withResharding(r), nil
}

// Confirmed takes an operator's word for a removed shard whose lag cannot be trusted (L9).
// What else the proof needs is looked at when it is made.
func (s Stream) Confirmed(id string, index int, order Order, now int64) (Stream, error) {
	r, err := s.FindResharding(id)
	if err != nil {
		return s, err
	}
	if shard, found := r.Shard(index); !found || shard.Step != StepReading || r.Finished() {
		return s, ErrNotRemoved
	}
	r.edit(index, func(shard *Removed) { shard.Confirmed = &order })
	r.UpdatedAt = now
	return s.withResharding(r), nil
}

// edit changes one removed shard in a copy of the list.
func (r *Resharding) edit(index int, change func(*Removed)) {
	r.Shards = slices.Clone(r.Shards)
	for i := range r.Shards {
		if r.Shards[i].Index == index {
			change(&r.Shards[i])
		}
	}
}

// Marked gives the next change of the stream's shards a mark of its own, above found, the
// highest that was seen in Redis (L2).
func (s Stream) Marked(found, now int64) Stream {
	s.Mark = s.markAbove(found, now)
	s.MetadataVersion++
	return s
}

// nextMark returns a number for a new direction. It follows the store's clock, so that it
// is above the marks of former streams of the name (L2).
func (s Stream) nextMark(now int64) int64 { return s.markAbove(0, now) }

// markAbove is nextMark above a mark that was found in Redis, if that can be one: after
// damage there the record must still be one that is read.
func (s Stream) markAbove(found, now int64) int64 {
	return min(max(s.Mark+1, min(found, MaxMark)+1, now), MaxMark)
}

// withResharding returns the record with the active resharding as given.
func (s Stream) withResharding(r Resharding) Stream {
	s.Resharding = &r
	s.Mark = max(s.Mark, r.Mark)
	s.MetadataVersion++
	return s
}
