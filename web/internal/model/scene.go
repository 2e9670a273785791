package model

import (
	"maps"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Scene is what a stream of the monitor's events has told so far. It does not change: Next makes
// another one.
type Scene struct {
	// Round, At and Problem are those of the newest round.
	Round   int64
	At      protocol.Timestamp
	Problem string
	// Groups are the groups that are followed, Unreadable those that cannot be shown.
	Groups     map[protocol.GroupName]protocol.GrafanaGroupRow
	Unreadable []protocol.UnreadableGroup
	// Group and Shards are of the one group that is followed; nil and empty otherwise.
	Group  *protocol.GroupResponse
	Shards map[int]protocol.GrafanaShardRow
	// Rows are the shards by index. They are shared by all pages made of the scene.
	Rows []protocol.GrafanaShardRow
	// Details are what was asked about the one group besides; nil before it was.
	Details *GroupDetails
	// Samples are those of the groups, as they were in the round at SampledAt; nil before they were
	// asked for.
	Samples   map[protocol.GroupName]*protocol.Samples
	SampledAt protocol.Timestamp
}

// Update is one event of the monitor. One of Groups, Group and Shards is set.
type Update struct {
	// Fresh marks the first event of a connection: what was learnt before is to be forgotten.
	Fresh  bool
	Groups *protocol.GroupsEvent
	Group  *protocol.GroupResponse
	Shards *protocol.ShardsEvent
}

// Next returns the scene after an update; s may be nil.
func (s *Scene) Next(update Update) *Scene {
	var next Scene
	switch {
	case s == nil:
	case update.Fresh:
		next.Details, next.Samples, next.SampledAt = s.Details, s.Samples, s.SampledAt
	default:
		next = *s
	}
	switch {
	case update.Groups != nil:
		next.learnGroups(update.Groups)
	case update.Group != nil:
		next.Group = update.Group
	case update.Shards != nil:
		next.learnShards(update.Shards)
	}
	return &next
}

func (s *Scene) learnGroups(event *protocol.GroupsEvent) {
	s.Round, s.At, s.Problem, s.Unreadable = event.Round, event.At, "", event.Unreadable
	if event.Problem != nil {
		s.Problem = *event.Problem
	}
	if len(event.Groups)+len(event.Removed) == 0 {
		return
	}
	s.Groups = cloned(s.Groups)
	for _, row := range event.Groups {
		s.Groups[protocol.GroupName{StreamPrefix: row.StreamPrefix, ConsumerGroup: row.ConsumerGroup}] = row
	}
	for _, gone := range event.Removed {
		delete(s.Groups, gone)
	}
}

func (s *Scene) learnShards(event *protocol.ShardsEvent) {
	s.Shards = cloned(s.Shards)
	for _, row := range event.Shards {
		s.Shards[row.ShardIndex] = row
	}
	for _, gone := range event.Removed {
		delete(s.Shards, gone)
	}
	s.order()
}

func (s *Scene) order() {
	s.Rows = make([]protocol.GrafanaShardRow, 0, len(s.Shards))
	for _, index := range slices.Sorted(maps.Keys(s.Shards)) {
		s.Rows = append(s.Rows, s.Shards[index])
	}
}

func cloned[K comparable, V any](from map[K]V) map[K]V {
	if from == nil {
		return map[K]V{}
	}
	return maps.Clone(from)
}
