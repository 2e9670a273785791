package routing

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestShardCountOutOfRangeIsNamed(t *testing.T) {
	t.Parallel()
	for _, count := range []int{0, -1, math.MinInt, MaxShardCount + 1, math.MaxInt} {
		_, err := Shard("order-1", count)
		require.ErrorIs(t, err, ErrShardCount, "count %d", count)
		_, err = ShardBytes(nil, count)
		require.ErrorIs(t, err, ErrShardCount, "count %d", count)
	}
	shard, err := Shard("order-1", MaxShardCount)
	require.NoError(t, err)
	require.Less(t, shard, MaxShardCount)
}

func TestShardIsInRangeAndTheSameForStringAndBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOf(rapid.Byte()).Draw(t, "key")
		count := rapid.IntRange(1, MaxShardCount).Draw(t, "count")
		fromBytes, err := ShardBytes(key, count)
		require.NoError(t, err)
		require.GreaterOrEqual(t, fromBytes, 0)
		require.Less(t, fromBytes, count)
		fromString, err := Shard(string(key), count)
		require.NoError(t, err)
		require.Equal(t, fromBytes, fromString)
	})
}

func TestShardsGetEvenShares(t *testing.T) {
	t.Parallel()
	const keys, count = 100_000, 7
	var got [count]int
	for i := range keys {
		shard, err := Shard("order-"+strconv.Itoa(i), count)
		require.NoError(t, err)
		got[shard]++
	}
	for shard, n := range got {
		require.InEpsilon(t, keys/count, n, 0.05, "shard %d", shard)
	}
}

func TestRoutingDoesNotAllocate(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts the whole process.
	key, raw := "order-123", []byte("order-123")
	require.Zero(t, testing.AllocsPerRun(200, func() { _, _ = Shard(key, 12) }))
	require.Zero(t, testing.AllocsPerRun(200, func() { _, _ = ShardBytes(raw, 3_221_225_472) }))
	require.Zero(t, testing.AllocsPerRun(200, func() { _ = Slot("redis-stream:coord:{orders:g}:metadata") }))
}

func FuzzShard(f *testing.F) {
	f.Add("order-1", 4)
	f.Add("", 1)
	f.Add("주문", 1_431_655_766)
	f.Fuzz(func(t *testing.T, key string, count int) {
		shard, err := Shard(key, count)
		if count < 1 || count > MaxShardCount {
			require.ErrorIs(t, err, ErrShardCount)
			return
		}
		require.NoError(t, err)
		require.GreaterOrEqual(t, shard, 0)
		require.Less(t, shard, count)
	})
}

func BenchmarkShard(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, _ = Shard("order-1234567890", 12)
	}
}

func BenchmarkShardWithRetries(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, _ = Shard("order-1234567890", 2_147_483_649)
	}
}
