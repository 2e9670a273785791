package observe

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// structureShare is how many times as long as the coordinator took for an answer it is left
// alone before it is asked again between rounds.
const structureShare = 10

// await waits for the next round. Meanwhile it asks the coordinator what has become of the
// groups, so that a member that is gone is news before the round that would tell of it. Redis is
// asked nothing.
func (o *Observer) await(ctx context.Context, next time.Time) error {
	for pause := o.cfg.StructureInterval; clock.Until(next) > pause; {
		if err := clock.Sleep(ctx, pause); err != nil {
			return err
		}
		began := clock.Now()
		if groups, news := o.restructure(ctx, next); news {
			o.deps.Restructure(groups)
		}
		pause = max(o.cfg.StructureInterval, structureShare*clock.Since(began))
	}
	return clock.Sleep(ctx, clock.Until(next))
}

// restructure asks for the groups until end, between two rounds. It returns those that the round
// before has looked at, and whether anything about them has changed but that members go on. One
// that is new comes with the next round, which looks at its shards. Where the coordinator does
// not answer there is no news: the next round says so.
func (o *Observer) restructure(ctx context.Context, end time.Time) (groups []facts.Group, news bool) {
	select {
	case <-o.turn:
	case <-ctx.Done():
		return nil, false
	}
	defer func() { o.turn <- struct{}{} }()
	before, tag := o.groups.last, o.groups.tag
	answer, problem := o.groups.ask(ctx, min(o.cfg.RoundTimeout, 2*clock.Until(end)))
	if problem != "" {
		return nil, false
	}
	now := among(answer, o.seen)
	news = o.alone || tag != o.groups.tag && !slices.EqualFunc(among(before, o.seen), now, sameStructure)
	o.heard(ctx, problem)
	return factsOf(now), news
}

// heard notes whether the coordinator has answered, and says so once when that changes.
func (o *Observer) heard(ctx context.Context, problem string) {
	if alone := problem != ""; alone != o.alone {
		o.alone = alone
		o.deps.Log.WarnContext(ctx, "the coordinator tells the groups, or those of an earlier round go on", "problem", problem)
	}
}

// name is that of a group.
type name struct{ stream, group string }

func nameOfGroup(g *protocol.GroupSnapshot) name {
	return name{g.Group.StreamPrefix, g.Group.ConsumerGroup}
}

// namesOf returns the names of groups.
func namesOf(groups []protocol.GroupSnapshot) map[name]bool {
	names := make(map[name]bool, len(groups))
	for i := range groups {
		names[nameOfGroup(&groups[i])] = true
	}
	return names
}

// among returns those of groups that have one of the names.
func among(groups []protocol.GroupSnapshot, names map[name]bool) []protocol.GroupSnapshot {
	found := make([]protocol.GroupSnapshot, 0, len(groups))
	for i := range groups {
		if names[nameOfGroup(&groups[i])] {
			found = append(found, groups[i])
		}
	}
	return found
}

// sameStructure tells whether two answers about a group say the same, but for what every
// heartbeat moves.
func sameStructure(a, b protocol.GroupSnapshot) bool {
	if !slices.EqualFunc(a.Members, b.Members, sameMember) {
		return false
	}
	a.Members, b.Members = nil, nil
	return reflect.DeepEqual(a, b)
}

func sameMember(a, b protocol.MemberMetadata) bool {
	if !slices.EqualFunc(a.ShardProgress, b.ShardProgress, func(a, b protocol.ShardProgress) bool {
		return a.Shard == b.Shard && a.Error == b.Error
	}) {
		return false
	}
	return reflect.DeepEqual(steady(a), steady(b))
}

// steady returns a member without what every heartbeat moves.
func steady(m protocol.MemberMetadata) protocol.MemberMetadata {
	m.LastHeartbeatAt, m.MemberLeaseExpiresAt = protocol.Timestamp{}, protocol.Timestamp{}
	m.ActiveConsumerWorkers, m.ShardProgress = 0, nil
	return m
}
