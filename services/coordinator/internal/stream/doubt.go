package stream

import "slices"

// Doubted takes no seal for granted any more: the store has lost writes, and a rollback
// that is lost with them may have undone it. Sealed shards are closed ones then, which are
// sealed once more; a seal that is there is recognised (L5).
func (s Stream) Doubted() Stream {
	if s.Resharding == nil || len(s.Resharding.At(StepSealed)) == 0 {
		return s
	}
	r := *s.Resharding
	if r.Phase == PhaseRollingBack && !r.Turned { // all of them come back anyhow (L8)
		return s
	}
	r.Shards = slices.Clone(r.Shards)
	for i := range r.Shards {
		if r.Shards[i].Step == StepSealed {
			r.Shards[i].Step = StepClosing
		}
	}
	whole := s.Removed == len(r.Shards)
	s.Removed = len(r.Shards)
	if s = s.withResharding(r); whole {
		return s
	}
	return s.relaid(CauseCorrection)
}

// Covering routes to as many shards as the reading set of a group has: what added them is
// lost with the store's writes, and they may hold records (L1). A scale-out under way goes
// on from where its shards were routed to. It is the record itself where a resharding does
// not know of the shards.
func (s Stream) Covering(readCount int) Stream {
	if readCount <= s.ReadCount() {
		return s
	}
	if s.Resharding == nil {
		s.ShardCount = readCount
		s.MetadataVersion++
		return s.relaid(CauseCorrection)
	}
	r := *s.Resharding
	undone := r.Phase == PhaseRollingBack && !r.Turned
	if r.To <= s.ShardCount || r.Phase != PhasePreparing && !undone {
		return s
	}
	if r.Phase == PhasePreparing {
		r.Phase = PhaseActive
	}
	s.ShardCount = r.To
	return s.withResharding(r).relaid(CauseCorrection)
}
