package provision

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// follow makes the replica one that the primary waits for.
func follow(t *testing.T, replica, primary *redisproc.Server) {
	t.Helper()
	replica.Follow(t, primary)
	followed(t, primary)
}

// followed returns when the primary counts its replica as one that has all data.
func followed(t *testing.T, primary *redisproc.Server) {
	t.Helper()
	client := primary.Client(t)
	require.Eventually(t, func() bool {
		return strings.Contains(client.Info(t.Context(), "replication").Val(), "state=online")
	}, patience, time.Millisecond)
}

// confirmed seals the shards below a count for the group g, until a replica has them: one on
// a slow machine may need more time than a call gives it.
func (b *bench) confirmed(shards int, r Retention) (found []Finding) {
	b.t.Helper()
	require.Eventually(b.t, func() bool {
		var err error
		found, err = b.Seal(b.t.Context(), "orders", upTo(shards), sealing(), []string{"g"}, r, nil)
		return err == nil
	}, patience, time.Millisecond)
	return found
}

func TestM3SealSurvivesTheLossOfItsPrimary(t *testing.T) {
	t.Parallel()
	primary, replica := redisproc.Start(t), redisproc.Start(t)
	b := newBench(t, primary.Client(t))
	follow(t, replica, primary)
	b.made(1)
	b.handled("1-0")
	b.mark(1, sealing())
	require.True(t, b.confirmed(1, RetainForever)[0].Sealed)
	primary.Kill()
	replica.Promote(t)
	b = newBench(t, replica.Client(t))
	f := b.seal(0, RetainForever, protocol.ProofLag)
	require.True(t, f.Sealed)
	require.Equal(t, "01J", f.RetiredBy, "the replica had it")
	require.Equal(t, int64(1), b.exists(b.RetiredKey("orders", 0, "01J")))
}

func TestM3SealThatNoReplicaHasIsNotToldYet(t *testing.T) {
	t.Parallel()
	primary, replica := redisproc.Start(t), redisproc.Start(t)
	b := newBench(t, primary.Client(t))
	b.made(2)
	follow(t, replica, primary)
	b.do("XADD", "orders:1", "1-0", "f", "v")
	b.mark(2, sealing())
	require.NoError(t, syscall.Kill(replica.PID(), syscall.SIGSTOP))
	resume := func() { require.NoError(t, syscall.Kill(replica.PID(), syscall.SIGCONT)) }
	defer resume() // a stopped process would not end
	seal := func() ([]Finding, error) {
		return b.Seal(t.Context(), "orders", upTo(2), sealing(), []string{"g"}, RetainForever, nil)
	}
	found, err := seal()
	var step *StepError
	require.ErrorAs(t, err, &step)
	require.ErrorIs(t, err, errNoReplica)
	require.Equal(t, "orders:0", step.Key)
	require.Len(t, found, 1, "the shard that is not sealed needs no replica")
	require.Equal(t, protocol.DrainUnread, found[0].Reason)

	resume()
	require.Eventually(t, func() bool { found, err = seal(); return err == nil }, patience, time.Millisecond)
	require.True(t, found[0].Sealed)
	require.False(t, found[1].Sealed)
}

func TestM3SealsAreConfirmedOnEveryPrimaryOfACluster(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	replica := cluster.AddReplica(t, 0)
	followed(t, cluster.Node(0))
	b := newBench(t, cluster.Client(t))
	b.made(300)
	b.mark(300, sealing())
	require.Len(t, b.confirmed(300, RetainNothing), 300)
	primary, follower := cluster.Node(0).Client(t), replica.Client(t)
	require.NoError(t, follower.Do(t.Context(), "READONLY").Err())
	require.Equal(t, primary.DBSize(t.Context()).Val(), follower.DBSize(t.Context()).Val())
	sealed := 0
	for i := range 300 {
		key := b.keys.shard("orders", i).key
		if value, err := primary.Get(t.Context(), key).Result(); err == nil {
			require.Equal(t, "retired:01J", value)
			sealed++
		}
	}
	require.Greater(t, sealed, 50)
}

func TestSealThatIsGoneIsNotConfirmed(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.made(1)
	err := b.confirm(t.Context(), []shard{b.keys.shard("orders", 0)}, preparing())
	require.ErrorIs(t, err, errNoSeal)
	err = b.confirm(t.Context(), []shard{b.keys.shard("orders", 0)}, sealing())
	require.ErrorIs(t, err, ErrStale)
}
