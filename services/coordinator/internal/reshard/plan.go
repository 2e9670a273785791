package reshard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// Sentences of plans.
const (
	warnKeysMove   = "records of one key may go to another shard from then on: order across the change is not kept"
	warnDuplicates = "producers that cannot bear duplicates should pause before and resume after the change"
	warnNoShards   = "with 0 shards nothing can be published"
	warnNobody     = "group %q has no live member: removed shards stay until somebody has read them"
)

// PlanScale tells what Scale would do; it changes nothing (L11). STREAM_NOT_FOUND. What
// Scale would refuse is in the plan.
func (s *Service) PlanScale(ctx context.Context, prefix string, req protocol.ScaleRequest) (protocol.Plan, error) {
	e, err := s.find(ctx, prefix)
	if err != nil {
		return protocol.Plan{}, err
	}
	plan := s.planOf(protocol.PlanScale, e.Stream, e.Stream.ShardCount, *req.TargetShardCount)
	_, err = s.scaled(ctx, e, req)
	if errors.Is(err, stream.ErrSame) {
		return plan, nil
	}
	return s.foreseen(ctx, plan, e.Stream, cmp.Or(s.off(), err))
}

// PlanRollback tells what Rollback would do; it changes nothing (L11). STREAM_NOT_FOUND,
// GROUP_NOT_FOUND, MIGRATION_NOT_FOUND.
func (s *Service) PlanRollback(ctx context.Context, prefix, name, id string, req protocol.RollbackRequest) (protocol.Plan, error) {
	e, err := s.find(ctx, prefix)
	if err != nil {
		return protocol.Plan{}, err
	}
	if err := known(e.Stream, name); err != nil {
		return protocol.Plan{}, err
	}
	r, err := e.Stream.FindResharding(id)
	if err != nil {
		return protocol.Plan{}, refusal(e.Stream, err)
	}
	plan := s.planOf(protocol.PlanRollback, e.Stream, e.Stream.ShardCount, r.From)
	err = s.refuseInRound(ctx, e.Stream)
	if _, over := e.Stream.RollingBack(id, orderBy(ctx, req.RequestedBy, req.Reason), int64(e.Clock)); over != nil {
		err = refusal(e.Stream, over)
	}
	return s.foreseen(ctx, plan, e.Stream, cmp.Or(s.off(), err))
}

// planOf returns a plan without groups.
func (s *Service) planOf(action protocol.PlanAction, record stream.Stream, from, to int) protocol.Plan {
	plan := protocol.Plan{
		Action: action, StreamPrefix: record.Prefix, FromShardCount: from, ToShardCount: to,
		ShardsAdded: span(from, to), ShardsRemoved: span(to, from), Groups: []protocol.GroupPlan{}, Warnings: []string{},
	}
	if from == to {
		return plan
	}
	plan.Warnings = append(plan.Warnings, warnKeysMove, warnDuplicates)
	if to == 0 {
		plan.Warnings = append(plan.Warnings, warnNoShards)
	}
	return plan
}

// foreseen adds what becomes of the groups, and the refusal that the order would get.
func (s *Service) foreseen(ctx context.Context, plan protocol.Plan, record stream.Stream, refused error) (protocol.Plan, error) {
	if refused != nil {
		fault, ok := errors.AsType[*protocol.Error](refused)
		if !ok || fault.Code == protocol.CodeStoreUnavailable {
			return plan, refused
		}
		plan.Refusal = &protocol.PlanRefusal{ErrorCode: fault.Code, Message: fault.Message}
	}
	groups := s.groupsOf(ctx, record)
	for _, name := range record.Active() {
		v, read := groups[name]
		if !read {
			continue
		}
		g := v.Group
		if len(plan.ShardsRemoved) > 0 && !g.HasListening() {
			plan.Warnings = append(plan.Warnings, fmt.Sprintf(warnNobody, name))
		}
		moves := Moves(g.Target, group.Foresee(g, group.Whole(plan.ToShardCount)))
		plan.Groups = append(plan.Groups, protocol.GroupPlan{ConsumerGroup: name, Moves: moves})
	}
	return plan, nil
}

// Moves tells what each member gains and loses between two targets, by member.
func Moves(before, after []string) []protocol.MemberMove {
	moves := make(map[string]*protocol.MemberMove)
	of := func(member string) *protocol.MemberMove {
		if moves[member] == nil {
			moves[member] = &protocol.MemberMove{MemberID: member, Gains: []int{}, Loses: []int{}}
		}
		return moves[member]
	}
	for shard := range max(len(before), len(after)) {
		was, is := ownerAt(before, shard), ownerAt(after, shard)
		if was == is {
			continue
		}
		if was != "" {
			of(was).Loses = append(of(was).Loses, shard)
		}
		if is != "" {
			of(is).Gains = append(of(is).Gains, shard)
		}
	}
	sorted := make([]protocol.MemberMove, 0, len(moves))
	for _, member := range slices.Sorted(maps.Keys(moves)) {
		sorted = append(sorted, *moves[member])
	}
	return sorted
}

func ownerAt(target []string, shard int) string {
	if shard >= len(target) {
		return ""
	}
	return target[shard]
}
