package views_test

import (
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/views"
)

// settled is a group in which a reads shards 0 and 1 and b reads shard 2, all of it
// reported.
func settled() views.Source {
	return views.Source{
		Group: &group.Group{
			StreamPrefix: "orders", ConsumerGroup: "billing", Lineage: "L", GroupEpoch: 5, AssignmentEpoch: 5, EpochCounter: 9,
			MetadataVersion: 11, ShardCount: 3, Target: []string{"a", "a", "b"},
			Holds: []group.Hold{{Member: "a", Incarnation: "ia"}, {Member: "a", Incarnation: "ia"}, {Member: "b", Incarnation: "ib"}},
			Members: []group.Member{
				{ID: "a", Name: "node a", Incarnation: "ia", State: group.Active, Since: 1, Epoch: 8, JoinEpoch: 3},
				{ID: "b", Name: "node b", Incarnation: "ib", State: group.Active, Since: 1, Epoch: 9, JoinEpoch: 4},
			},
		},
		Live: map[string]group.Liveness{
			"a": {Deadline: 10_123, HeardAt: 123}, "b": {Deadline: 10_456, HeardAt: 456},
		},
		Detail: map[string]codec.Detail{
			"a": {Version: 11, Max: 8, Free: 3, Owned: []int{1, 0}},
			"b": {Version: 10, Max: 8, Free: 8, Owned: []int{2}},
		},
		RebalanceTimeoutMs: 60_000,
	}
}

// changed is settled with a change.
func changed(change func(views.Source)) views.Source {
	s := settled()
	change(s)
	return s
}

// everyone puts all members into a state, as a commit would leave them: only those that
// are heard hold shards that do not linger, and the target names only those that may own.
func everyone(s views.Source, state group.MemberState) {
	for i := range s.Group.Members {
		m := &s.Group.Members[i]
		m.State = state
		for shard, h := range s.Group.Holds {
			if h.Member != m.ID {
				continue
			}
			switch {
			case state == group.Leaving:
				s.Group.Holds[shard].Told = true
			case state == group.Suspended:
				s.Group.Holds[shard].Lingers = 10_000
			case !m.Listening():
				s.Group.Holds[shard] = group.Hold{}
			}
			if !m.Eligible() {
				s.Group.Target[shard] = ""
			}
		}
	}
}

func ids(indexes ...int) []protocol.ShardID {
	list := []protocol.ShardID{}
	for _, i := range indexes {
		list = append(list, protocol.ShardID{ShardIndex: i})
	}
	return list
}

func owned(s views.Source, member string, shards ...int) {
	d := s.Detail[member]
	d.Owned = shards
	s.Detail[member] = d
}
