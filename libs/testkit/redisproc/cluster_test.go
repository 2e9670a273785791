package redisproc

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClusterServesEverySlotOnThreeMasters(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 3)
	rdb := c.Client(t)
	require.Len(t, c.Addrs(), 3)
	for i := range 60 {
		require.NoError(t, rdb.Set(t.Context(), fmt.Sprintf("k:%d", i), i, 0).Err())
	}
	for i := range 3 {
		size, err := c.Node(i).Client(t).DBSize(t.Context()).Result()
		require.NoError(t, err)
		require.Positive(t, size, "node %d holds a part of the keys", i)
	}
}

func TestClusterNodeRejoinsAfterACrash(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 3)
	c.Node(1).Restart()
	require.NoError(t, poll(c.complete))
}

func TestClusterOfTwoIsRefused(t *testing.T) {
	t.Parallel()
	require.Contains(t, failure(t, func(tb testing.TB) {
		tb.Helper()
		StartCluster(tb, 2)
	}), "at least 3 masters")
}

func TestReplicaServesItsMastersKeys(t *testing.T) {
	t.Parallel()
	c := StartCluster(t, 3)
	replica := c.AddReplica(t, 2)
	rdb := c.Client(t)
	require.NoError(t, rdb.Set(t.Context(), "123456789", "v", 0).Err(), "slot 12739 is of node 2")
	require.Eventually(t, func() bool {
		return replica.Client(t).DBSize(t.Context()).Val() == 1
	}, readyBudget, readyPoll)
}
