package views

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/rates"
)

// Group returns a group at a glance, false where there is none.
func Group(round facts.Round, snap rates.Snapshot, stream, group string) (protocol.MonitoredGroup, bool) {
	g, found := find(round, stream, group)
	if !found {
		return protocol.MonitoredGroup{}, false
	}
	return monitored(round, snap, g), true
}

// Groups returns all groups at a glance, sorted by stream and group; never nil.
func Groups(round facts.Round, snap rates.Snapshot) []protocol.MonitoredGroup {
	groups := make([]protocol.MonitoredGroup, 0, len(round.Groups))
	for i := range round.Groups {
		groups = append(groups, monitored(round, snap, &round.Groups[i]))
	}
	return groups
}

func monitored(round facts.Round, snap rates.Snapshot, g *facts.Group) protocol.MonitoredGroup {
	shards := shardsOf(round, snap, g)
	sums := sumUp(round, g, shards)
	return protocol.MonitoredGroup{
		GroupResponse:         g.View,
		TotalStreamLength:     sums.length,
		TotalPendingCount:     sums.pending,
		TotalLag:              sums.lag,
		TotalMemoryUsageBytes: sums.memory,
		MemoryUsageKnown:      sums.memoryKnown,
		ProducedPerSecond:     sums.produced,
		ConsumedPerSecond:     sums.consumed,
		GroupSignals:          sums.signals,
		Problems:              problemsOf(round, g, shards),
	}
}

// find returns a group of the round.
func find(round facts.Round, stream, group string) (*facts.Group, bool) {
	for i := range round.Groups {
		if view := &round.Groups[i].View; view.StreamPrefix == stream && view.ConsumerGroup == group {
			return &round.Groups[i], true
		}
	}
	return nil, false
}

// matching returns the groups that two filters let pass; an empty one lets all.
func matching(round facts.Round, stream, group string) []*facts.Group {
	var groups []*facts.Group
	for i := range round.Groups {
		view := round.Groups[i].View
		if (stream == "" || stream == view.StreamPrefix) && (group == "" || group == view.ConsumerGroup) {
			groups = append(groups, &round.Groups[i])
		}
	}
	return groups
}

// sums is what the shards of a group come to.
type sums struct {
	length, pending, memory      int64
	lag                          *int64
	produced, consumed           *float64
	memoryKnown                  bool
	signals                      protocol.GroupSignals
	unreadAge, pendingAge, drain bool // whether all parts are known
}

// sumUp adds up shards. One that the group has and the round has not is unknown.
func sumUp(round facts.Round, g *facts.Group, shards []shard) sums {
	s := sums{lag: new(int64), produced: new(float64), consumed: new(float64), memoryKnown: true, unreadAge: true, pendingAge: true, drain: true}
	s.signals = protocol.GroupSignals{
		TrimmedUnread: new(int64), TimeToDrainSeconds: new(float64), Problem: problemOf(round, g, shards),
		Partial: g.Problem != "" || round.Problem != "", ObservedAt: protocol.Timestamp{Time: round.At},
	}
	missing := g.View.ShardCount
	for _, shard := range shards {
		s.add(shard)
		if shard.Index < g.View.ShardCount {
			missing--
		}
	}
	for range missing {
		s.add(shard{Shard: &facts.Shard{Problem: facts.ProblemUnreachable}})
	}
	if !s.unreadAge {
		s.signals.OldestUnreadAgeMs = nil
	}
	if !s.pendingAge {
		s.signals.OldestPendingAgeMs = nil
	}
	if !s.drain {
		s.signals.TimeToDrainSeconds = nil
	}
	return s
}

func (s *sums) add(shard shard) {
	problem := shard.problem() != nil
	s.signals.AllParts++
	if !problem && shard.rate.Lag.Known() {
		s.signals.KnownParts++
	}
	s.signals.Partial = s.signals.Partial || problem
	if shard.Problem == "" {
		s.length += shard.Length
	}
	s.pending += shard.group.Pending
	if shard.Memory == nil {
		s.memoryKnown = false
	} else {
		s.memory += *shard.Memory
	}
	s.lag = plus(s.lag, shard.rate.Lag.Value)
	s.produced, s.consumed = plus(s.produced, shard.rate.ProducedPerSecond), plus(s.consumed, shard.rate.ConsumedPerSecond)
	s.signals.TrimmedUnread = plus(s.signals.TrimmedUnread, shard.rate.TrimmedUnread)
	s.signals.TrimmedUnreadAlarm = s.signals.TrimmedUnreadAlarm || shard.rate.TrimmedUnreadAlarm
	s.age(shard, problem)
}

// age keeps the highest ages. Where nothing waits there is no age, and that is known.
func (s *sums) age(shard shard, problem bool) {
	lag, rate := shard.rate.Lag, shard.rate
	s.signals.OldestUnreadAgeMs = highest(s.signals.OldestUnreadAgeMs, rate.OldestUnreadAgeMs)
	s.signals.OldestPendingAgeMs = highest(s.signals.OldestPendingAgeMs, rate.OldestPendingAgeMs)
	s.signals.TimeToDrainSeconds = highest(s.signals.TimeToDrainSeconds, rate.TimeToDrainSeconds)
	nothingUnread := lag.Known() && *lag.Value == 0
	s.unreadAge = s.unreadAge && (rate.OldestUnreadAgeMs != nil || nothingUnread)
	s.pendingAge = s.pendingAge && !problem && (rate.OldestPendingAgeMs != nil || shard.group.Pending == 0)
	s.drain = s.drain && rate.TimeToDrainSeconds != nil
}

// plus adds, nil where either is unknown.
func plus[N int64 | float64](a, b *N) *N {
	if a == nil || b == nil {
		return nil
	}
	sum := *a + *b
	return &sum
}

// highest returns the higher of two, one of them where the other is nil.
func highest[N int64 | float64](a, b *N) *N {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}
