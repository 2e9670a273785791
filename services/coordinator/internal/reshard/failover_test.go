package reshard_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// replicated returns when a replica has everything that was written before. Redis waits for
// what the same connection wrote: on another one it would not wait at all.
func (b *bench) replicated() {
	b.t.Helper()
	conn := b.rdb.Conn()
	defer func() { require.NoError(b.t, conn.Close()) }()
	require.NoError(b.t, conn.Set(b.t.Context(), "fence", "v", 0).Err())
	count, err := conn.Wait(b.t.Context(), 1, patience).Result()
	require.NoError(b.t, err)
	require.EqualValues(b.t, 1, count)
}

// F05: a promoted replica does not know what groups have read. A scale-in waits until they
// are at the tail, and ends by itself; the failover is one event.
func TestFieldF05ScaleInOutlastsAFailover(t *testing.T) {
	t.Parallel()
	primary, replica := redisproc.Start(t), redisproc.Start(t)
	b := newBench(t, primary.Client(t))
	b.core.Lease, b.core.ClientLease, b.core.HeartbeatInterval = 2*time.Second, 1600*time.Millisecond, 500*time.Millisecond
	b.core.RebalanceTimeout = 4 * time.Second
	b.cfg.LeaseTTL = time.Second // one that was held at the failover has to run out
	b.begin(2, "a")
	b.publish(1, 4)
	id := b.scaled(1)
	b.keptFor(id, 1, protocol.DrainUnread)
	replica.Follow(t, primary)
	b.do("XREADGROUP", "GROUP", "a", "c", "COUNT", 2, "STREAMS", b.key(1), ">")
	require.EqualValues(t, 2, *b.drain(id, 1).Lag)
	b.await("a first replica changes the store's identity", func() bool { return b.causes("a", protocol.EventCorrection) == 1 })
	b.replicated()
	replica.Promote(t)

	after := newBench(t, replica.Client(t))
	after.core, after.cfg = b.core, b.cfg
	after.cfg.Scan = 20 * time.Millisecond
	after.lead = after.start()
	require.Equal(t, protocol.MigrationDraining, after.migration(id).State)
	shown := after.drain(id, 1)
	require.Nil(t, shown.Lag, "not known, and not 0")
	require.EqualValues(t, 2, *shown.Pending)
	after.join("a", "a-1")
	after.becomes(id, protocol.MigrationDeprecated)
	n, _ := after.handledBy("a")
	require.Equal(t, 4, n)
	require.Equal(t, protocol.ProofLag, *after.drain(id, 1).Proof)
	require.Equal(t, 2, after.causes("a", protocol.EventCorrection), "one for the replica and one for the failover")
}
