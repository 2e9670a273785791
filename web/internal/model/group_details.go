package model

import (
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// detailsAge is for how long details are good while the group's structure stays.
	detailsAge = 10 * time.Second
	// EventsKept is how many events of a group's history are kept and shown.
	EventsKept = 50
)

// GroupDetails is what the monitor's events do not tell of a group. What could not be asked is
// nil, and named in Missing.
type GroupDetails struct {
	// At is of which round the group was when this was asked; ages are counted from there.
	At protocol.Timestamp
	// Version and Lineage are of the structure that was known then.
	Version int64
	Lineage string

	Problems  []protocol.GroupProblem
	Mutations *[]protocol.RecentMutation
	// Samples are of the last minutes; nil without a monitor.
	Samples *protocol.Samples
	// Members are those first that somebody should look at; see SortMembers.
	Members     []protocol.MemberMetadata
	Assignments *protocol.AssignmentsResponse
	// Events are the newest ones, oldest first.
	Events []protocol.GroupEvent
	// Missing says which parts could not be asked, for people.
	Missing []string
}

// Cursor is the id of the newest event that is known, empty for none.
func (d *GroupDetails) Cursor() string {
	if d == nil || len(d.Events) == 0 {
		return ""
	}
	return d.Events[len(d.Events)-1].ID
}

// Newest returns the newest events of two parts of a history, at most EventsKept.
func Newest(before, after []protocol.GroupEvent) []protocol.GroupEvent {
	all := make([]protocol.GroupEvent, 0, len(before)+len(after))
	all = append(append(all, before...), after...)
	return all[max(0, len(all)-EventsKept):]
}

// DetailsDue tells whether the details are to be asked for: there are none, the structure is
// another one, or they are old.
func (s *Scene) DetailsDue() bool {
	switch {
	case s == nil || s.Group == nil || len(s.Groups) == 0:
		return false
	case s.Details == nil:
		return true
	default:
		return s.Details.Version != s.Group.MetadataVersion || s.Details.Lineage != s.Group.Lineage ||
			s.At.Sub(s.Details.At.Time) >= detailsAge
	}
}

// WithDetails returns the scene with other details.
func (s *Scene) WithDetails(details *GroupDetails) *Scene {
	next := *s
	next.Details = details
	return &next
}

// SceneOf is the scene of one group as answers to questions tell it.
func SceneOf(group *protocol.MonitoredGroup, rows []protocol.GrafanaShardRow, details *GroupDetails) *Scene {
	scene := &Scene{
		At: group.ObservedAt, Group: &group.GroupResponse, Details: details, Shards: make(map[int]protocol.GrafanaShardRow, len(rows)),
		Groups: map[protocol.GroupName]protocol.GrafanaGroupRow{
			{StreamPrefix: group.StreamPrefix, ConsumerGroup: group.ConsumerGroup}: rowOf(group, rows, details.Members),
		},
	}
	for _, row := range rows {
		scene.Shards[row.ShardIndex] = row
	}
	scene.order()
	for _, problem := range group.Problems {
		if problem.Problem == protocol.ProblemStructure {
			scene.Problem = problem.Detail
		}
	}
	return scene
}

// rowOf is the row that the monitor makes of a group in its events.
func rowOf(group *protocol.MonitoredGroup, rows []protocol.GrafanaShardRow, members []protocol.MemberMetadata) protocol.GrafanaGroupRow {
	row := protocol.GrafanaGroupRow{
		StreamPrefix: group.StreamPrefix, ConsumerGroup: group.ConsumerGroup, State: group.State,
		GroupEpoch: group.GroupEpoch, AssignmentEpoch: group.AssignmentEpoch, MetadataVersion: group.MetadataVersion,
		ShardCount: group.ShardCount, TotalMembers: len(members),
		TotalStreamLength: group.TotalStreamLength, TotalPendingCount: group.TotalPendingCount, TotalLag: group.TotalLag,
		ProducedPerSecond: group.ProducedPerSecond, ConsumedPerSecond: group.ConsumedPerSecond, GroupSignals: group.GroupSignals,
	}
	for _, member := range members {
		if member.State == protocol.MemberActive || member.State == protocol.MemberStarting {
			row.ActiveMembers++
		}
	}
	held := 0
	for _, shard := range rows {
		if shard.CurrentOwnerMemberIDs != "" {
			row.CurrentShards++
			if shard.ShardIndex < group.ShardCount {
				held++
			}
		}
	}
	row.AssignedShardRatio = Count(int64(held)) + " / " + Count(int64(group.ShardCount))
	return row
}
