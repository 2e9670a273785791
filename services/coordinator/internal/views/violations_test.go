package views_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/views"
)

func TestReportOfAShardThatAnotherHoldsIsAViolation(t *testing.T) {
	t.Parallel()
	source := views.Source{
		Group: &group.Group{
			Target: []string{"a", "b"},
			Holds:  []group.Hold{{Member: "a"}, {Member: "b"}},
			Members: []group.Member{
				{ID: "a", State: group.Active},
				{ID: "b", State: group.Active},
				{ID: "c", State: group.Fenced},
			},
		},
		Detail: map[string]codec.Detail{"a": {Owned: []int{0, 1, 9}}, "b": {Owned: []int{1, -1}}, "c": {Owned: []int{0}}},
	}
	require.Equal(t, []string{
		`member "a" reports shard 1, which "b" holds`,
		`member "a" reports shard 9, which "" holds`,
		`member "b" reports shard -1, which "" holds`,
	}, views.Assignments(source).InvariantViolations, "a fenced member has been told")
}

// J4: the mark of a successor that has taken over is not shown as another one.
func TestSuccessorThatTookOverIsNotShown(t *testing.T) {
	t.Parallel()
	source := views.Source{
		Group: &group.Group{
			Target: []string{"a"}, Holds: []group.Hold{{}},
			Members: []group.Member{{ID: "a", Incarnation: "x", State: group.Active, Since: 5_000}},
		},
		Live: map[string]group.Liveness{"a": {Incarnation: "x", Successor: "x", SuccessorAt: 4_500}},
	}
	require.Nil(t, views.Members(source)[0].Successor)
	source.Live["a"] = group.Liveness{Incarnation: "x", Successor: "y", SuccessorAt: 6_000}
	require.Equal(t, "y", *views.Members(source)[0].Successor)
}
