package recorder_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/recorder"
)

// with returns a group of one entry each for the targets and holds.
func with(targets []string, holds ...group.Hold) *group.Group {
	return &group.Group{Target: targets, Holds: holds}
}

func TestDiffTellsTargetAndHoldBeforeAndAfter(t *testing.T) {
	t.Parallel()
	a, b, until := "a", "b", protocol.AtMillis(7)
	holdOf := func(member string) group.Hold { return group.Hold{Member: member, Incarnation: "i"} }
	shown := func(member string) *protocol.HoldState {
		return &protocol.HoldState{MemberID: member, Incarnation: "i"}
	}
	for name, c := range map[string]struct {
		prev, next *group.Group
		want       []protocol.ShardChange
	}{
		"nothing changed": {with([]string{"a"}, holdOf("a")), with([]string{"a"}, holdOf("a")), nil},
		"no group":        {nil, nil, nil},
		"a grant": {
			with([]string{"", "a"}, group.Hold{}, holdOf("a")), with([]string{"b", "a"}, holdOf("b"), holdOf("a")),
			[]protocol.ShardChange{{Shard: 0, Target: &protocol.TargetChange{After: &b}, Hold: &protocol.HoldChange{After: shown(b)}}},
		},
		"only the target moves, the hold stays (H2)": {
			with([]string{"a"}, holdOf("a")), with([]string{"b"}, holdOf("a")),
			[]protocol.ShardChange{{Target: &protocol.TargetChange{Before: &a, After: &b}}},
		},
		"told to drop": {
			with([]string{"b"}, holdOf("a")), with([]string{"b"}, group.Hold{Member: "a", Incarnation: "i", Told: true}),
			[]protocol.ShardChange{{Hold: &protocol.HoldChange{
				Before: shown(a), After: &protocol.HoldState{MemberID: a, Incarnation: "i", Told: true},
			}}},
		},
		"lingering (H4)": {
			with([]string{"b"}, holdOf("a")), with([]string{"b"}, group.Hold{Member: "a", Incarnation: "i", Lingers: 7}),
			[]protocol.ShardChange{{Hold: &protocol.HoldChange{
				Before: shown(a), After: &protocol.HoldState{MemberID: a, Incarnation: "i", LingersUntil: &until},
			}}},
		},
		"another life of the same member": {
			with([]string{"a"}, holdOf("a")), with([]string{"a"}, group.Hold{Member: "a", Incarnation: "j"}),
			[]protocol.ShardChange{{Hold: &protocol.HoldChange{
				Before: shown(a), After: &protocol.HoldState{MemberID: a, Incarnation: "j"},
			}}},
		},
		"more shards": {
			with([]string{"a"}, holdOf("a")), with([]string{"a", "b"}, holdOf("a"), holdOf("b")),
			[]protocol.ShardChange{{Shard: 1, Target: &protocol.TargetChange{After: &b}, Hold: &protocol.HoldChange{After: shown(b)}}},
		},
		"fewer shards": {
			with([]string{"a", "b"}, holdOf("a"), holdOf("b")), with([]string{"a"}, holdOf("a")),
			[]protocol.ShardChange{{Shard: 1, Target: &protocol.TargetChange{Before: &b}, Hold: &protocol.HoldChange{Before: shown(b)}}},
		},
		"a group that goes": {
			with([]string{"a"}, holdOf("a")), nil,
			[]protocol.ShardChange{{Target: &protocol.TargetChange{Before: &a}, Hold: &protocol.HoldChange{Before: shown(a)}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, append([]protocol.ShardChange{}, c.want...), recorder.Diff(c.prev, c.next))
		})
	}
}
