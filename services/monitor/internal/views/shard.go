package views

import (
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// shard is a group on a shard.
type shard struct {
	*facts.Shard
	rate rates.Rate
	// group is empty, and groupThere false, where it was not observed.
	group      facts.ShardGroup
	groupThere bool
}

// shardsOf returns the shards of a group by index.
func shardsOf(round facts.Round, snap rates.Snapshot, g *facts.Group) []shard {
	stream := streamOf(round, g.View.StreamPrefix)
	if stream == nil {
		return nil
	}
	owners := ownersOf(g)
	shards := make([]shard, 0, len(stream.Shards))
	for i := range stream.Shards {
		s := shard{Shard: &stream.Shards[i]}
		if s.sealed(stream.ShardCount, g, owners) {
			continue
		}
		s.rate = snap.Rate(stream.Prefix, g.View.ConsumerGroup, s.Index)
		s.group, s.groupThere = s.Groups[g.View.ConsumerGroup]
		shards = append(shards, s)
	}
	return shards
}

// sealed tells whether a removed shard is gone and nobody misses it (L5, L12).
func (s shard) sealed(count int, g *facts.Group, owners owners) bool {
	gone := s.Problem == facts.ProblemMissing || s.Problem == facts.ProblemWrongType
	return gone && s.Index >= count && !owners.named(s.Index) && !slices.Contains(g.View.LostShards, s.Index)
}

func streamOf(round facts.Round, prefix string) *facts.Stream {
	for i := range round.Streams {
		if round.Streams[i].Prefix == prefix {
			return &round.Streams[i]
		}
	}
	return nil
}

// problem names why the group could not be observed on the shard, nil where it could.
func (s shard) problem() *string {
	switch {
	case s.Problem != "":
		problem := string(s.Problem)
		return &problem
	case !s.groupThere:
		problem := string(facts.ProblemGroupMissing)
		return &problem
	default:
		return nil
	}
}

// signals is what the contract of the original did not have.
func (s shard) signals() protocol.ShardSignals {
	signals := protocol.ShardSignals{
		Problem:            s.problem(),
		OldestUnreadAgeMs:  s.rate.OldestUnreadAgeMs,
		OldestPendingAgeMs: s.rate.OldestPendingAgeMs,
		TimeToDrainSeconds: s.rate.TimeToDrainSeconds,
		TrimmedUnread:      s.rate.TrimmedUnread,
		TrimmedUnreadAlarm: s.rate.TrimmedUnreadAlarm,
		GroupRegressed:     s.rate.Regressed,
	}
	if reason := s.rate.Lag.Reason; reason != "" {
		signals.LagReason = &reason
	}
	if s.Detail != "" {
		signals.ProblemDetail = &s.Detail
	}
	if !s.At.IsZero() {
		signals.ObservedAt = &protocol.Timestamp{Time: s.At}
	}
	return signals
}
