package provision

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestPlanListsTheShardKeysInOrder(t *testing.T) {
	t.Parallel()
	plan, err := NewPlan("app:orders", 2, 5, Group{Name: "g", Start: Earliest})
	require.NoError(t, err)
	require.Equal(t, []string{"app:orders:2", "app:orders:3", "app:orders:4"}, plan.Keys())
	require.Equal(t, []Group{{Name: "g", Start: Earliest}}, plan.Groups())

	empty, err := NewPlan("orders", 4, 4, Group{Name: "g", Start: Latest})
	require.NoError(t, err)
	require.Empty(t, empty.Keys())
}

func TestPlanThatMakesNoSenseIsRefused(t *testing.T) {
	t.Parallel()
	ok := Group{Name: "g", Start: Earliest}
	for name, c := range map[string]struct {
		prefix   string
		from, to int
		groups   []Group
		want     error
	}{
		"backwards":     {"orders", 3, 2, []Group{ok}, ErrPlan},
		"below zero":    {"orders", -1, 2, []Group{ok}, ErrPlan},
		"no group":      {"orders", 0, 1, nil, ErrPlan},
		"twice":         {"orders", 0, 1, []Group{ok, {Name: "g", Start: Latest}}, ErrPlan},
		"no start":      {"orders", 0, 1, []Group{{Name: "g"}}, ErrPlan},
		"unknown start": {"orders", 0, 1, []Group{{Name: "g", Start: "0; DEL x"}}, ErrPlan},
		"bad prefix":    {"{orders}", 0, 1, []Group{ok}, protocol.ErrInvalidName},
		"bad group":     {"orders", 0, 1, []Group{{Name: "a:b", Start: Earliest}}, protocol.ErrInvalidName},
	} {
		_, err := NewPlan(c.prefix, c.from, c.to, c.groups...)
		require.ErrorIs(t, err, c.want, name)
	}
}

func TestPlanKeepsItsGroupsToItself(t *testing.T) {
	t.Parallel()
	groups := []Group{{Name: "g", Start: Earliest}}
	plan, err := NewPlan("orders", 0, 1, groups...)
	require.NoError(t, err)
	groups[0].Name = "changed"
	plan.Groups()[0].Name = "changed"
	require.Equal(t, "g", plan.Groups()[0].Name)
}
