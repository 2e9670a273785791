package provision

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// whole returns all that Redis knows of the shard 0.
func (b *bench) whole() any {
	b.t.Helper()
	full, err := b.rdb.XInfoStreamFull(b.t.Context(), "orders:0", 0).Result()
	require.NoError(b.t, err)
	return full
}

func TestT23UnsealedShardIsWhatItWasBefore(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.made(2, groups("g", "h")...)
	for _, id := range []string{"1-0", "2-0", "3-0"} {
		b.do("XADD", "orders:0", id, "f", "v"+id)
	}
	b.read("g", 3)
	b.do("XREADGROUP", "GROUP", "h", "one", "NOACK", "STREAMS", "orders:0", ">")
	b.do("XACK", "orders:0", "g", "1-0", "2-0", "3-0")
	b.mark(2, sealing())
	before := b.whole()
	require.True(t, b.seal(0, Retention(time.Hour), protocol.ProofLag).Sealed)

	b.mark(2, backing())
	for range 2 { // the shard 1 was not sealed yet
		require.NoError(t, b.Unseal(t.Context(), "orders", upTo(2), backing(), groups("g", "h")))
		require.Equal(t, before, b.whole())
		requireTTL(t, b.rdb, "orders:0", -1)
		require.Zero(t, b.exists(b.RetiredKey("orders", 0, "01J")))
	}
	b.do("XADD", "orders:0", "4-0", "f", "v")
	b.do("XADD", "orders:1", "4-0", "f", "v")
	require.Equal(t, []string{"4-0"}, readAll(t, b.rdb, "g", "orders:0"))
}

// TestUnsealKeepsWhatIsPending, which a seal by hand of an older history may have left.
func TestUnsealKeepsWhatIsPending(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.made(1)
	b.do("XADD", "orders:0", "1-0", "f", "v")
	b.read("g", 1)
	before := b.whole()
	b.do("RENAME", "orders:0", b.RetiredKey("orders", 0, "01J"))
	b.do("SET", "orders:0", "retired:01J")
	require.NoError(t, b.Unseal(t.Context(), "orders", []int{0}, preparing(), groups()))
	require.Equal(t, before, b.whole())
	require.Equal(t, protocol.DrainPending, b.prove(0, "g").Reason)
}

func TestL8ShardWhoseDataIsGoneIsMadeAnew(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(b *bench){
		"retention 0": func(b *bench) { b.sealed(RetainNothing) },
		"the retention is over": func(b *bench) {
			b.sealed(Retention(time.Hour))
			b.do("DEL", b.RetiredKey("orders", 0, "01J"))
		},
		"the string is gone too": func(b *bench) {
			b.sealed(Retention(time.Hour))
			b.do("DEL", "orders:0", b.RetiredKey("orders", 0, "01J"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := onRedis(t)
			lose(b)
			b.mark(1, backing())
			for range 2 {
				require.NoError(t, b.Unseal(t.Context(), "orders", []int{0}, backing(), groups("g", "h")))
				b.complete(1, "g", "h")
			}
			b.do("XADD", "orders:0", "1-0", "f", "v")
			require.Equal(t, []string{"1-0"}, readAll(t, b.rdb, "g", "orders:0"))
		})
	}
}

func TestDataIsFoundAlsoWhenTheStringIsGone(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.sealed(Retention(time.Hour))
	b.do("DEL", "orders:0")
	b.mark(1, backing())
	require.NoError(t, b.Unseal(t.Context(), "orders", []int{0}, backing(), groups()))
	require.Equal(t, int64(1), b.rdb.XLen(t.Context(), "orders:0").Val())
	requireTTL(t, b.rdb, "orders:0", -1)
}

func TestL5ScaleOutOverASealedShardMakesItAnewAndKeepsTheOldData(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.sealed(RetainForever)
	next := Token{Mark: 9, ReshardingID: "01K", Phase: "PREPARING"}
	b.mark(1, next)
	for _, want := range []int{0, 1} {
		existing, err := b.Make(t.Context(), "orders", []int{0}, next, groups(), nil)
		require.NoError(t, err)
		require.Equal(t, want, existing)
	}
	require.Zero(t, b.rdb.XLen(t.Context(), "orders:0").Val())
	require.Equal(t, int64(1), b.rdb.XLen(t.Context(), b.RetiredKey("orders", 0, "01J")).Val())
	require.NoError(t, b.unmake([]int{0}, next))
	require.Zero(t, b.exists("orders:0"))

	made, err := b.Remake(t.Context(), "orders", 0, next, map[string]string{"g": "0"})
	require.NoError(t, err)
	require.Equal(t, []string{"g"}, made)
	b.do("XADD", "orders:0", "1-0", "f", "v")
	existing, err := b.Make(t.Context(), "orders", []int{0}, next, groups("g", "h"), nil)
	require.NoError(t, err)
	require.Equal(t, 1, existing)
}

func TestSomebodysStringIsNoSeal(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.mark(1, preparing())
	for _, value := range []string{"somebody's", "", "retired", "RETIRED:01J"} {
		b.do("SET", "orders:0", value)
		var step *StepError
		_, err := b.Make(t.Context(), "orders", []int{0}, preparing(), groups(), nil)
		require.ErrorAs(t, err, &step)
		require.ErrorAs(t, b.Unseal(t.Context(), "orders", []int{0}, preparing(), groups()), &step)
		require.NoError(t, b.unmake([]int{0}, preparing()))
		require.Equal(t, []string{"orders:0"}, b.ended(1, DeleteKeys).Foreign)
		require.Equal(t, value, b.rdb.Get(t.Context(), "orders:0").Val())
	}
}
