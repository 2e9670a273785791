package provision

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

func TestLastGroupTakesTheKeyWithItAndOthersKeepIt(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	run(t, rdb, plan(t, 300))
	do(t, rdb, "XGROUP", "CREATE", "orders:7", "other", "0")
	do(t, rdb, "XADD", "orders:7", "1-0", "f", "v")
	do(t, rdb, "XADD", "orders:8", "1-0", "f", "v")
	count := &trips{}
	rdb.AddHook(count)

	removal, err := Destroy(t.Context(), rdb, plan(t, 300), DeleteKeys, nil)
	require.NoError(t, err)
	require.Equal(t, Removal{Keys: 300, Total: 300, Destroyed: 300, Deleted: 299}, removal)
	require.Equal(t, int64(3), count.sent.Load())
	require.Equal(t, int64(1), rdb.DBSize(t.Context()).Val())
	require.Equal(t, int64(1), rdb.XLen(t.Context(), "orders:7").Val())
	require.Contains(t, groupsOn(t, rdb, "orders:7"), "other")

	removal, err = Destroy(t.Context(), rdb, plan(t, 300), DeleteKeys, nil)
	require.NoError(t, err)
	require.Equal(t, Removal{Keys: 300, Total: 300}, removal, "again there is nothing to do")
}

func TestKeptKeysLoseOnlyTheGroup(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	run(t, rdb, plan(t, 2, Group{Name: "g", Start: Earliest}, Group{Name: "h", Start: Earliest}))
	do(t, rdb, "XADD", "orders:0", "1-0", "f", "v")
	removal, err := Destroy(t.Context(), rdb, plan(t, 2, Group{Name: "g", Start: Earliest}, Group{Name: "h", Start: Earliest}), KeepKeys, nil)
	require.NoError(t, err)
	require.Equal(t, Removal{Keys: 2, Total: 2, Destroyed: 4}, removal)
	require.Equal(t, int64(1), rdb.XLen(t.Context(), "orders:0").Val())
	require.Empty(t, groupsOn(t, rdb, "orders:0"))
}

func TestKeysThatAreNoStreamAreLeftAloneAndListed(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	run(t, rdb, plan(t, 3))
	do(t, rdb, "SET", "orders:1", "somebody's")
	removal, err := Destroy(t.Context(), rdb, plan(t, 3), DeleteKeys, nil)
	require.NoError(t, err)
	require.Equal(t, Removal{Keys: 3, Total: 3, Destroyed: 2, Deleted: 2, Foreign: []string{"orders:1"}}, removal)
	require.Equal(t, "somebody's", rdb.Get(t.Context(), "orders:1").Val())
}

func TestDestroyThatBreaksOffIsCompletedByARetry(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t, redisproc.WithAOF("always"))
	rdb := server.Client(t)
	p := plan(t, 300)
	run(t, rdb, p)
	rdb.AddHook(&trips{before: func(n int64) {
		if n == 2 {
			server.Kill()
		}
	}})
	removal, err := Destroy(t.Context(), rdb, p, DeleteKeys, nil)
	var step *StepError
	require.ErrorAs(t, err, &step)
	require.Equal(t, "orders:128", step.Key)
	require.Equal(t, redisx.StateUnreachable, step.State())
	require.Equal(t, Removal{Keys: 128, Total: 300, Destroyed: 128, Deleted: 128}, removal)

	server.Restart()
	removal, err = Destroy(t.Context(), rdb, p, DeleteKeys, nil)
	require.NoError(t, err)
	require.Equal(t, Removal{Keys: 300, Total: 300, Destroyed: 172, Deleted: 172}, removal)
	require.Zero(t, rdb.DBSize(t.Context()).Val())
}
