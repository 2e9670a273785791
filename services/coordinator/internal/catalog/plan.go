package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/records"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// Sentences of plans.
const (
	warnDestroys = "deleteStreams destroys the Redis consumer groups, and the shard keys with all their records where no other group uses them"
	warnReaders  = "group %q has live members: they lose their shards at once"
	warnRepairs  = "the metadata of group %q is lost: it is made anew, behind a barrier of one member lease"
	warnLatest   = "group %q begins at the end of the shards: what they hold is not read by it"
)

// PlanCreateStream tells what CreateStream would do; it changes nothing (L11).
func (c *Catalog) PlanCreateStream(ctx context.Context, prefix string, req protocol.CreateStreamRequest) (protocol.Plan, error) {
	return c.planCreation(ctx, wholeStream(ctx, prefix, req))
}

// PlanCreateGroup tells what CreateGroup would do; it changes nothing (L11).
func (c *Catalog) PlanCreateGroup(ctx context.Context, prefix, name string, req protocol.CreateGroupRequest) (protocol.Plan, error) {
	return c.planCreation(ctx, oneGroup(ctx, prefix, name, req))
}

func (c *Catalog) planCreation(ctx context.Context, want creation) (protocol.Plan, error) {
	e, found, err := c.records.Load(ctx, want.prefix)
	if err != nil {
		return protocol.Plan{}, err
	}
	plan := emptyPlan(protocol.PlanCreate, want.prefix)
	plan.FromShardCount, plan.ToShardCount = e.Stream.ShardCount, e.Stream.ShardCount
	next, _, err := c.planCreate(ctx, e.Stream, found, want)
	if err != nil {
		return refused(plan, err)
	}
	plan.ToShardCount = next.ShardCount
	if len(e.Stream.Active()) == 0 {
		plan.FromShardCount = 0
	}
	for i := plan.FromShardCount; i < plan.ToShardCount; i++ {
		plan.ShardsAdded = append(plan.ShardsAdded, i)
	}
	for _, g := range want.groups {
		plan.Groups = append(plan.Groups, protocol.GroupPlan{ConsumerGroup: g.Name, Moves: []protocol.MemberMove{}})
		if known, _ := e.Stream.Find(g.Name); known.State == stream.Active {
			plan.Warnings = append(plan.Warnings, fmt.Sprintf(warnRepairs, g.Name))
		}
		if g.FromLatest {
			plan.Warnings = append(plan.Warnings, fmt.Sprintf(warnLatest, g.Name))
		}
	}
	sortGroups(plan.Groups)
	return plan, nil
}

// PlanDeleteStream tells what DeleteStream would do; it changes nothing (L11).
// STREAM_NOT_FOUND.
func (c *Catalog) PlanDeleteStream(ctx context.Context, prefix string, req protocol.DeleteRequest) (protocol.Plan, error) {
	e, found, err := c.records.Load(ctx, prefix)
	if err != nil {
		return protocol.Plan{}, err
	}
	if !found {
		return protocol.Plan{}, streamNotFound(prefix)
	}
	names := make([]string, len(e.Stream.Groups))
	for i, g := range e.Stream.Groups {
		names[i] = g.Name
	}
	return c.planDeletion(ctx, e, names, req)
}

// PlanDeleteGroup tells what DeleteGroup would do; it changes nothing (L11).
// GROUP_NOT_FOUND.
func (c *Catalog) PlanDeleteGroup(ctx context.Context, prefix, name string, req protocol.DeleteRequest) (protocol.Plan, error) {
	e, found, err := c.records.Load(ctx, prefix)
	if err != nil {
		return protocol.Plan{}, err
	}
	if _, known := e.Stream.Find(name); !found || !known {
		return protocol.Plan{}, notFound(prefix, name)
	}
	return c.planDeletion(ctx, e, []string{name}, req)
}

func (c *Catalog) planDeletion(ctx context.Context, e records.Entry, names []string, req protocol.DeleteRequest) (protocol.Plan, error) {
	plan := emptyPlan(protocol.PlanDelete, e.Stream.Prefix)
	plan.FromShardCount, plan.ToShardCount = e.Stream.ShardCount, e.Stream.ShardCount
	if len(names) == len(e.Stream.Groups) {
		plan.ToShardCount = 0
		for i := range plan.FromShardCount {
			plan.ShardsRemoved = append(plan.ShardsRemoved, i)
		}
	}
	for _, name := range names {
		plan.Groups = append(plan.Groups, protocol.GroupPlan{ConsumerGroup: name, Moves: c.losses(ctx, e.Stream.Prefix, name)})
		if req.Force && c.refuseAlive(ctx, e.Stream.Prefix, name) != nil {
			plan.Warnings = append(plan.Warnings, fmt.Sprintf(warnReaders, name))
		}
	}
	if req.DeleteStreams {
		plan.Warnings = append(plan.Warnings, warnDestroys)
	}
	if err := c.refuseRemoval(ctx, e.Stream, names, req); err != nil {
		return refused(plan, err)
	}
	return plan, nil
}

// losses tells what the members of a group that goes lose.
func (c *Catalog) losses(ctx context.Context, prefix, name string) []protocol.MemberMove {
	moves := []protocol.MemberMove{}
	v, err := c.groups.View(ctx, store.Key{Stream: prefix, Group: name})
	if err != nil {
		return moves // nobody can be told anything by a record that is gone or corrupt
	}
	for _, m := range v.Group.Members {
		lost := []int{}
		for shard, owner := range v.Group.Target {
			if owner == m.ID {
				lost = append(lost, shard)
			}
		}
		if len(lost) > 0 {
			moves = append(moves, protocol.MemberMove{MemberID: m.ID, Gains: []int{}, Loses: lost})
		}
	}
	return moves
}

// refused returns the plan with the refusal that the mutation would get. A store that is
// away is an error of the plan itself.
func refused(plan protocol.Plan, err error) (protocol.Plan, error) {
	fault, ok := errors.AsType[*protocol.Error](err)
	if !ok || fault.Code == protocol.CodeStoreUnavailable {
		return plan, err
	}
	plan.Refusal = &protocol.PlanRefusal{ErrorCode: fault.Code, Message: fault.Message}
	return plan, nil
}

func emptyPlan(action protocol.PlanAction, prefix string) protocol.Plan {
	return protocol.Plan{
		Action: action, StreamPrefix: prefix, ShardsAdded: []int{}, ShardsRemoved: []int{},
		Groups: []protocol.GroupPlan{}, Warnings: []string{},
	}
}

func sortGroups(groups []protocol.GroupPlan) {
	slices.SortFunc(groups, func(a, b protocol.GroupPlan) int { return strings.Compare(a.ConsumerGroup, b.ConsumerGroup) })
}
