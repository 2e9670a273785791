package manifest

import (
	"maps"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Action is what a change does.
type Action string

// The actions.
const (
	CreateStream Action = "CREATE_STREAM"
	AddGroup     Action = "ADD_GROUP"
	Scale        Action = "SCALE"
	DeleteGroup  Action = "DELETE_GROUP"
	DeleteStream Action = "DELETE_STREAM"
)

// Change is one step from what exists to what is declared.
type Change struct {
	Action Action
	Stream string
	// Groups are those that are made or deleted with the step.
	Groups []Group
	// From and To are shard counts; 0 where there is no stream.
	From, To int
	// New tells that the step makes the stream.
	New bool
}

// Unmanaged is something that exists and is not declared. Group is empty for a whole stream.
type Unmanaged struct {
	Stream string `json:"streamPrefix"`
	Group  string `json:"consumerGroup"`
}

// UnderWay is a resharding that leads to what is declared already.
type UnderWay struct {
	Stream string                  `json:"streamPrefix"`
	ID     string                  `json:"reshardingId"`
	State  protocol.MigrationState `json:"state"`
	From   int                     `json:"fromShardCount"`
	To     int                     `json:"toShardCount"`
	// Group is one through which it can be followed.
	Group string `json:"consumerGroup"`
}

// Difference is what lies between a file and what exists.
type Difference struct {
	// Changes are in the order in which they are to be made: stream by stream as in the file,
	// groups before the count, and whole streams that are pruned last.
	Changes []Change
	// Unmanaged is sorted by name. It is deleted by Changes when the file is pruned.
	Unmanaged []Unmanaged
	UnderWay  []UnderWay
}

// Diff compares what is declared with the streams that exist. The count of a stream that is
// resharded is the one that it will have. Prune decides whether what is not declared is
// deleted, whatever the file says.
func Diff(wanted Manifest, existing []protocol.StreamResponse, prune bool) Difference {
	var d Difference
	there := map[string]protocol.StreamResponse{}
	for _, stream := range existing {
		there[stream.StreamPrefix] = stream
	}
	for _, want := range wanted.Streams {
		has, exists := there[want.Name]
		if !exists {
			d.Changes = append(d.Changes, creation(want)...)
			continue
		}
		d.compare(want, has, prune)
		delete(there, want.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		d.Unmanaged = append(d.Unmanaged, Unmanaged{Stream: name})
		if prune {
			d.Changes = append(d.Changes, Change{
				Action: DeleteStream, Stream: name, From: there[name].ShardCount, Groups: named(there[name].ConsumerGroups),
			})
		}
	}
	slices.SortFunc(d.Unmanaged, func(a, b Unmanaged) int {
		return slices.Compare([]string{a.Stream, a.Group}, []string{b.Stream, b.Group})
	})
	return d
}

// creation makes a stream. Groups that begin with the oldest record come with it; the others
// are added to it, as only a group that is added may begin behind the newest one.
func creation(want Stream) []Change {
	var first, later []Group
	for _, group := range want.Groups {
		if group.InitialPosition == protocol.PositionLatest {
			later = append(later, group)
		} else {
			first = append(first, group)
		}
	}
	var changes []Change
	if len(first) > 0 {
		changes = append(changes, Change{
			Action: CreateStream, Stream: want.Name, Groups: first, To: want.ShardCount, New: true,
		})
	}
	for i, group := range later {
		changes = append(changes, Change{
			Action: AddGroup, Stream: want.Name, Groups: []Group{group}, To: want.ShardCount, From: want.ShardCount,
			New: len(first) == 0 && i == 0,
		})
	}
	return changes
}

// compare finds what has to change in a stream that exists.
func (d *Difference) compare(want Stream, has protocol.StreamResponse, prune bool) {
	declared := map[string]bool{}
	for _, group := range want.Groups {
		declared[group.Name] = true
		if !slices.Contains(has.ConsumerGroups, group.Name) {
			d.Changes = append(d.Changes, Change{
				Action: AddGroup, Stream: want.Name, Groups: []Group{group}, From: has.ShardCount, To: has.ShardCount,
			})
		}
	}
	for _, name := range slices.Sorted(slices.Values(has.ConsumerGroups)) {
		if declared[name] {
			continue
		}
		d.Unmanaged = append(d.Unmanaged, Unmanaged{want.Name, name})
		if prune {
			d.Changes = append(d.Changes, Change{
				Action: DeleteGroup, Stream: want.Name, Groups: []Group{{Name: name}}, From: has.ShardCount, To: has.ShardCount,
			})
		}
	}
	count, active := destination(has)
	switch {
	case count != want.ShardCount:
		d.Changes = append(d.Changes, Change{Action: Scale, Stream: want.Name, From: count, To: want.ShardCount})
	case active != nil:
		d.UnderWay = append(d.UnderWay, *active)
	}
}

// destination is the count that a stream will have, and the resharding that leads to it.
func destination(has protocol.StreamResponse) (int, *UnderWay) {
	for _, group := range has.Groups {
		m := group.ActiveMigration
		switch {
		case m == nil, m.State == protocol.MigrationDeprecated, m.State == protocol.MigrationRolledBack:
		default:
			count := m.ToShardCount
			if m.State == protocol.MigrationRollingBack {
				count = m.FromShardCount
			}
			return count, &UnderWay{
				Stream: has.StreamPrefix, ID: m.ReshardingID, State: m.State,
				From: m.FromShardCount, To: m.ToShardCount, Group: group.ConsumerGroup,
			}
		}
	}
	return has.ShardCount, nil
}

func named(names []string) []Group {
	groups := make([]Group, 0, len(names))
	for _, name := range names {
		groups = append(groups, Group{Name: name})
	}
	return groups
}
