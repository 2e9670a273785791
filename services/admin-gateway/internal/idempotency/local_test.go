package idempotency_test

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/idempotency"
)

func newLocal(maxEntries int) timed {
	var clock dial
	return timed{idempotency.NewLocal(maxEntries), clock.now, func(_ string, d time.Duration) { clock.since.Add(int64(d)) }}
}

func TestLocalForgetsTheOldestAnswersForRoomButNoneUnderWay(t *testing.T) {
	t.Parallel()
	s := newLocal(3)
	s.claimBy(t, claimOf("under way", "1"))
	for _, key := range []string{"a", "b", "c"} {
		c := claimOf(key, "1")
		require.Equal(t, idempotency.Claimed, s.claimBy(t, c).State)
		s.keep(t, c, key)
	}
	require.Equal(t, idempotency.UnderWay, s.claimBy(t, claimOf("under way", "2")).State)
	require.Equal(t, idempotency.Kept, s.claimBy(t, claimOf("b", "2")).State)
	require.Equal(t, idempotency.Kept, s.claimBy(t, claimOf("c", "2")).State)
	require.Equal(t, idempotency.Claimed, s.claimBy(t, claimOf("a", "2")).State, "the oldest is forgotten")
	require.Equal(t, idempotency.Claimed, s.claimBy(t, claimOf("d", "2")).State)
	_, err := s.Claim(t.Context(), claimOf("e", "2"), s.now())
	require.ErrorIs(t, err, idempotency.ErrFull, "all three are under way")
	require.NoError(t, s.Drop(t.Context(), claimOf("d", "2")))
	require.Equal(t, idempotency.Claimed, s.claimBy(t, claimOf("e", "2")).State)
}

func TestSecurityAMillionKeysStayWithinTheBound(t *testing.T) {
	t.Parallel()
	s := newLocal(1_000)
	fill := func(from, to int) {
		for i := from; i < to; i++ {
			c := idempotency.Claim{Key: strconv.Itoa(i), Token: "1"}
			_, err := s.Claim(t.Context(), c, s.now())
			if err != nil || i%2 == 1 { // every other one is given free again
				require.NoError(t, err)
				require.NoError(t, s.Drop(t.Context(), c))
				continue
			}
			require.NoError(t, s.Keep(t.Context(), c, idempotency.Answer{Status: 202, Body: []byte("x")}, s.now()))
		}
	}
	fill(0, 10_000)
	before := heap()
	fill(10_000, 1_000_000)
	require.Eventually(t, func() bool { // other tests of the process have things in hand for a while
		return int64(heap())-int64(before) < 8<<20
	}, time.Minute, 100*time.Millisecond)
	require.Equal(t, idempotency.Claimed, s.claimBy(t, claimOf("one more", "1")).State)
}

func TestLocalBoundsTheBytesThatItKeeps(t *testing.T) {
	t.Parallel()
	s := newLocal(10_000)
	const size, room = 256 << 10, 256
	for i := range room + 10 {
		c := claimOf(fmt.Sprint(i), "1")
		s.claimBy(t, c)
		s.keep(t, c, string(make([]byte, size)))
	}
	kept := 0
	for i := range room + 10 {
		if s.claimBy(t, claimOf(fmt.Sprint(i), "2")).State == idempotency.Kept {
			kept++
			require.GreaterOrEqual(t, i, 10, "the newest are kept")
		}
	}
	require.Equal(t, room, kept, "64 MiB of answers")
}

func TestLocalGivesTheRoomOfExpiredAnswersBack(t *testing.T) {
	t.Parallel()
	s := newLocal(2)
	for _, key := range []string{"a", "b"} {
		c := claimOf(key, "1")
		s.claimBy(t, c)
		s.keep(t, c, key)
	}
	s.pass("", idempotency.AnswerLife)
	require.Equal(t, idempotency.Claimed, s.claimBy(t, claimOf("c", "1")).State)
	require.Equal(t, idempotency.Claimed, s.claimBy(t, claimOf("d", "1")).State)
	// An expired claim whose request comes back late leaves nothing behind.
	s.pass("", idempotency.ClaimLife)
	s.keep(t, claimOf("c", "1"), "late")
	require.Equal(t, idempotency.Claimed, s.claimBy(t, claimOf("e", "1")).State)
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
