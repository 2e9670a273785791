package reshard

import (
	"context"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/provision"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/views"
)

// Migration shows one resharding with its progress (L10). It looks at the shards, so that
// what it says is of now. STREAM_NOT_FOUND, GROUP_NOT_FOUND, MIGRATION_NOT_FOUND.
func (s *Service) Migration(ctx context.Context, prefix, name, id string) (protocol.Migration, error) {
	e, err := s.find(ctx, prefix)
	if err != nil {
		return protocol.Migration{}, err
	}
	if err := known(e.Stream, name); err != nil {
		return protocol.Migration{}, err
	}
	r, err := e.Stream.FindResharding(id)
	if err != nil {
		return protocol.Migration{}, refusal(e.Stream, err)
	}
	shown := views.Migration(r)
	shown.Progress = s.progress(ctx, e.Stream, r)
	return shown, nil
}

// progress tells how far a resharding has come. What cannot be looked at is left unknown.
func (s *Service) progress(ctx context.Context, record stream.Stream, r stream.Resharding) *protocol.MigrationProgress {
	progress := &protocol.MigrationProgress{
		LastError: views.Some(r.Problem), Groups: []protocol.GroupProgress{}, Shards: []protocol.ShardDrain{},
	}
	if r.DrainFrom != 0 {
		from := protocol.AtMillis(r.DrainFrom)
		progress.DrainingFrom = &from
	}
	groups := s.groupsOf(ctx, record)
	if !r.Finished() {
		for _, name := range record.Active() {
			v, read := groups[name]
			progress.Groups = append(progress.Groups, protocol.GroupProgress{
				ConsumerGroup: name, Copied: read && loop.Follows(v.Group, record), Settled: read && atRest(v),
			})
		}
	}
	s.countAdded(ctx, record, r, progress)
	if len(r.Shards) > 0 {
		progress.Total = len(r.Shards)
		progress.Done = len(r.At(stream.StepSealed))
		progress.Shards = s.drains(ctx, record, r, groups)
	}
	return progress
}

// countAdded counts the added shards that carry all groups.
func (s *Service) countAdded(ctx context.Context, record stream.Stream, r stream.Resharding, progress *protocol.MigrationProgress) {
	added := span(r.Added())
	if len(added) == 0 || len(r.Shards) > 0 || r.Phase == stream.PhaseRolledBack {
		return
	}
	progress.TotalKeys, progress.ProvisionedKeys = len(added), len(added)
	if r.Phase == stream.PhasePreparing || r.Phase == stream.PhaseRollingBack {
		found := s.facts(ctx, record, added)
		progress.ProvisionedKeys = 0
		for _, f := range found {
			if !missing(f.Reason) {
				progress.ProvisionedKeys++
			}
		}
	}
	progress.Done, progress.Total = progress.ProvisionedKeys, progress.TotalKeys
}

// facts looks at shards; it returns what could be looked at.
func (s *Service) facts(ctx context.Context, record stream.Stream, indexes []int) map[int]provision.Finding {
	facts := make(map[int]provision.Finding, len(indexes))
	if s.shards == nil || len(indexes) == 0 {
		return facts
	}
	found, err := s.shards.Prove(ctx, record.Prefix, indexes, record.Active())
	if err != nil {
		s.driver.log.Warn("shards cannot be looked at for the progress", "stream", record.Prefix, "error", err)
	}
	for _, f := range found {
		facts[f.Index] = f
	}
	return facts
}

// groupsOf returns the stream's groups that can be read, by name.
func (s *Service) groupsOf(ctx context.Context, record stream.Stream) map[string]loop.View {
	groups := make(map[string]loop.View, len(record.Groups))
	for _, name := range record.Active() {
		if v, err := s.groups.View(ctx, store.Key{Stream: record.Prefix, Group: name}); err == nil {
			groups[name] = v
		}
	}
	return groups
}

// drains shows each removed shard, where there are many only some with what Redis says now.
func (s *Service) drains(
	ctx context.Context, record stream.Stream, r stream.Resharding, groups map[string]loop.View,
) []protocol.ShardDrain {
	open := slices.Concat(r.At(stream.StepReading), r.At(stream.StepClosing))
	var facts map[int]provision.Finding
	if !r.Finished() {
		facts = s.facts(ctx, record, open[:min(len(open), atOneLook)])
	}
	drains := make([]protocol.ShardDrain, len(r.Shards))
	for i, shard := range r.Shards {
		drains[i] = s.drainOf(record, r, shard)
		drains[i].Owners = ownersOf(record, groups, shard.Index)
		if f, looked := facts[shard.Index]; looked {
			fill(&drains[i], f)
		}
	}
	return drains
}

// drainOf shows what the record says of a removed shard.
func (s *Service) drainOf(record stream.Stream, r stream.Resharding, shard stream.Removed) protocol.ShardDrain {
	drain := protocol.ShardDrain{
		ShardIndex: shard.Index, StreamKey: routing.StreamKey(record.Prefix, shard.Index),
		Phase: protocol.DrainPhase(shard.Step), Owners: []protocol.ShardOwner{},
	}
	since := protocol.AtMillis(shard.Since)
	drain.Since = &since
	switch shard.Step {
	case stream.StepReading:
		if shard.Reason == "" {
			drain.Since = nil
			break
		}
		reason := protocol.DrainReason(shard.Reason)
		drain.Reason = &reason
	case stream.StepClosing:
		reason := protocol.DrainStillOwned
		drain.Reason = &reason
	case stream.StepSealed:
		if s.cfg.Retention != provision.RetainNothing && s.shards != nil {
			key := s.shards.RetiredKey(record.Prefix, shard.Index, r.ID)
			drain.RetiredKey = &key
		}
	}
	if shard.Proof != "" {
		proof := protocol.DrainProof(shard.Proof)
		drain.Proof = &proof
	}
	return drain
}

// fill adds what Redis says now.
func fill(drain *protocol.ShardDrain, f provision.Finding) {
	drain.Pending, drain.Lag = f.Pending, f.Lag
	drain.TailID, drain.BlockingGroup, drain.BlockingConsumer = views.Some(f.Tail), views.Some(f.BlockingGroup), views.Some(f.BlockingConsumer)
}

// ownersOf lists who may be reading a shard.
func ownersOf(record stream.Stream, groups map[string]loop.View, index int) []protocol.ShardOwner {
	owners := []protocol.ShardOwner{}
	for _, name := range record.Active() {
		v, read := groups[name]
		if read && index < len(v.Group.Holds) && v.Group.Holds[index].Member != "" {
			owners = append(owners, protocol.ShardOwner{ConsumerGroup: name, MemberID: v.Group.Holds[index].Member})
		}
	}
	return owners
}
