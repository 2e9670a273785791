package group_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
)

func TestDueOfAnEmptyGroupIsNever(t *testing.T) {
	t.Parallel()
	g := group.New(group.DefaultConfig(), group.Birth{Layout: group.Whole(3), Now: start})
	require.Zero(t, group.Due(group.DefaultConfig(), g, nil))
	g = group.New(group.DefaultConfig(), group.Birth{Layout: group.Whole(3), Now: start, Barrier: true})
	require.Equal(t, start+10_000, group.Due(group.DefaultConfig(), g, nil))
}

// J0: what a new group starts from.
func TestJ0NewGroup(t *testing.T) {
	t.Parallel()
	g := group.New(group.DefaultConfig(), group.Birth{
		StreamPrefix: "orders", ConsumerGroup: "g", Layout: group.Whole(4), Lineage: "L1", Identity: "store-1", Now: start,
	})
	require.Equal(t, &group.Group{
		StreamPrefix: "orders", ConsumerGroup: "g", Lineage: "L1", Identity: "store-1",
		GroupEpoch: 1, AssignmentEpoch: 1, MetadataVersion: 1, ShardCount: 4,
		Target: make([]string, 4), Holds: make([]group.Hold, 4), Members: []group.Member{}, CreatedAt: start,
	}, g)
}
