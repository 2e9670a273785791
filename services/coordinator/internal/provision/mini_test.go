package provision

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// TestMiniredisDrainsByItsTail: its lag is the length of the stream and it does not know
// what was read, so only shards that are deleted empty have a proof by the lag.
func TestMiniredisDrainsByItsTail(t *testing.T) {
	t.Parallel()
	rdb := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
	t.Cleanup(func() { _ = rdb.Close() })
	b := newBench(t, rdb)

	_, err := b.Provision(t.Context(), "orders", upTo(3), groups("g", "h"), 1)
	require.NoError(t, err)
	b.complete(3, "g", "h")
	higher, err := b.Mark(t.Context(), "orders", upTo(3), sealing())
	require.NoError(t, err)
	require.Zero(t, higher)
	higher, err = b.Mark(t.Context(), "orders", upTo(3), preparing())
	require.NoError(t, err)
	require.Equal(t, int64(2), higher)
	_, err = b.Make(t.Context(), "orders", upTo(3), preparing(), groups(), nil)
	require.ErrorIs(t, err, ErrStale)

	b.do("XADD", "orders:0", "1-0", "f", "v")
	require.Equal(t, judged{reason: protocol.DrainUnread, group: "g", tail: "1-0", pending: "0", lag: "2"}, judgedOf(b.prove(0, "g", "h")))
	b.read("g", 1)
	b.read("h", 1)
	b.do("XACK", "orders:0", "g", "1-0")
	require.Equal(t, judged{reason: protocol.DrainPending, group: "h", consumer: "c", pending: "1", lag: "2"}, judgedOf(b.prove(0, "g", "h")))
	b.do("XACK", "orders:0", "h", "1-0")
	require.Equal(t, judged{reason: protocol.DrainLagContradicts, group: "g", pending: "0", lag: "2"}, judgedOf(b.prove(0, "g", "h")))
	require.Equal(t, protocol.DrainGroupMissing, b.prove(0, "i").Reason)
	require.Equal(t, protocol.DrainStreamMissing, b.prove(3, "g").Reason)
	require.Empty(t, b.prove(1, "g", "h").Reason)

	require.False(t, b.seal(0, RetainForever, protocol.ProofLag).Sealed)
	for i, retention := range []Retention{RetainForever, RetainNothing, Retention(time.Hour)} {
		for range 2 {
			require.True(t, b.seal(i, retention, protocol.ProofTail).Sealed)
		}
	}
	require.Error(t, b.rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: "orders:0", Values: []string{"f", "v"}}).Err())
	requireTTL(t, b.rdb, "orders:0", -1)
	requireTTL(t, b.rdb, b.RetiredKey("orders", 2, "01J"), time.Hour)

	b.mark(3, backing())
	require.NoError(t, b.Unseal(t.Context(), "orders", upTo(3), backing(), groups("g", "h")))
	b.complete(3, "g", "h")
	require.Equal(t, int64(1), b.rdb.XLen(t.Context(), "orders:0").Val())
	requireTTL(t, b.rdb, "orders:2", -1)

	require.NoError(t, b.unmake(upTo(3), backing()))
	require.Equal(t, int64(1), b.exists("orders:0", "orders:1", "orders:2"), "only the one that was written to")
	made, err := b.Remake(t.Context(), "orders", 1, backing(), map[string]string{"g": "0", "h": "7-0"})
	require.NoError(t, err)
	require.Equal(t, []string{"g", "h"}, made)
	require.NoError(t, b.Destroy(t.Context(), "orders", 3, "g"))
	require.NoError(t, b.Destroy(t.Context(), "orders", 3, "h"))
	require.Zero(t, b.rdb.DBSize(t.Context()).Val())
}
