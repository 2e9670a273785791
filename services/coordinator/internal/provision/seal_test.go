package provision

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

func TestSealKeepsTheDataForTheRetentionAndTheStringForADayAtLeast(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		retention  Retention
		data, seal time.Duration // -1 for ever, 0 gone
	}{
		"a week":             {Retention(7 * day), 7 * day, 7 * day},
		"an hour":            {Retention(time.Hour), time.Hour, day},
		"below Redis' clock": {Retention(1), time.Millisecond, day},
		"for ever":           {RetainForever, -1, -1},
		"nothing":            {RetainNothing, 0, day},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := onRedis(t)
			b.made(1)
			b.do("PEXPIRE", "orders:0", 9_000_000_000_000) // what somebody set does not count
			b.handled("1-0")
			b.mark(1, sealing())
			f := b.seal(0, test.retention, protocol.ProofLag)
			require.True(t, f.Sealed)
			require.Equal(t, protocol.ProofLag, f.Proof)
			require.Equal(t, "1-0", f.LastID)
			require.Equal(t, "retired:01J", b.rdb.Get(t.Context(), "orders:0").Val())
			requireTTL(t, b.rdb, "orders:0", test.seal)
			retired := b.RetiredKey("orders", 0, "01J")
			require.Equal(t, "redis-stream:coord:retired:{orders:0}:01J", retired)
			if test.data < time.Second && test.data >= 0 {
				require.Eventually(t, func() bool { return b.exists(retired) == 0 }, patience, time.Millisecond)
				return
			}
			require.Equal(t, int64(1), b.rdb.XLen(t.Context(), retired).Val())
			requireTTL(t, b.rdb, retired, test.data)
		})
	}
}

func requireTTL(t *testing.T, rdb redis.UniversalClient, key string, want time.Duration) {
	t.Helper()
	ttl := rdb.PTTL(t.Context(), key).Val()
	if want < 0 {
		require.Equal(t, time.Duration(-1), ttl)
		return
	}
	require.LessOrEqual(t, ttl, want)
	require.Greater(t, ttl, want-time.Minute)
}

func TestT24NothingCanBeAddedToASealedShard(t *testing.T) {
	t.Parallel()
	for _, retention := range []Retention{RetainForever, Retention(time.Hour), RetainNothing} {
		b := onRedis(t)
		b.sealed(retention)
		for _, args := range [][]any{
			{"XADD", "orders:0", "*", "f", "v"},
			{"XADD", "orders:0", "NOMKSTREAM", "*", "f", "v"},
			{"XGROUP", "CREATE", "orders:0", "g", "0", "MKSTREAM"},
			{"XREADGROUP", "GROUP", "g", "c", "STREAMS", "orders:0", ">"},
		} {
			require.Equal(t, redisx.StateWrongType, redisx.StateOf(b.rdb.Do(t.Context(), args...).Err()), "%v", args)
		}
		require.Equal(t, "retired:01J", b.rdb.Get(t.Context(), "orders:0").Val())
	}
}

func TestT25LateScriptsOfEarlierPhasesDoNothing(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.sealed(RetainForever)
	late := func() {
		t.Helper()
		_, err := b.Make(t.Context(), "orders", []int{0}, preparing(), groups("late"), nil)
		require.ErrorIs(t, err, ErrStale)
		_, err = b.Make(t.Context(), "orders", []int{0}, Creation(9), groups("late"), nil)
		require.ErrorIs(t, err, ErrStale, "a creation, whatever its mark")
		_, err = b.Remake(t.Context(), "orders", 0, preparing(), map[string]string{"late": "0"})
		require.ErrorIs(t, err, ErrStale)
		require.ErrorIs(t, b.unmake([]int{0}, preparing()), ErrStale)
		require.ErrorIs(t, b.Unseal(t.Context(), "orders", []int{0}, preparing(), groups("late")), ErrStale)
		found, err := b.Seal(t.Context(), "orders", []int{0}, preparing(), []string{"g"}, RetainNothing, nil)
		require.NoError(t, err)
		require.Equal(t, []Finding{{Index: 0, Stale: true}}, found)
	}
	late()
	require.Equal(t, "retired:01J", b.rdb.Get(t.Context(), "orders:0").Val())
	require.Equal(t, int64(1), b.exists(b.RetiredKey("orders", 0, "01J")))

	b.mark(1, backing())
	require.NoError(t, b.Unseal(t.Context(), "orders", []int{0}, backing(), groups()))
	late()
	found, err := b.Seal(t.Context(), "orders", []int{0}, sealing(), []string{"g"}, RetainNothing, nil)
	require.NoError(t, err)
	require.True(t, found[0].Stale, "a seal delayed past the rollback")
	require.NotContains(t, groupsOn(t, b.rdb, "orders:0"), "late")
	require.Equal(t, int64(1), b.rdb.XLen(t.Context(), "orders:0").Val())

	b.do("DEL", "redis-stream:coord:shard:{orders:0}")
	late()
	require.Contains(t, groupsOn(t, b.rdb, "orders:0"), "g", "a lost marker is nobody's")
}

func TestL2HigherMarkStays(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.mark(3, tokenOf(10, "DRAINING"))
	b.do("SET", "redis-stream:coord:shard:{orders:1}", tokenOf(100, "ROLLING_BACK").String())
	for range 2 {
		higher, err := b.Mark(t.Context(), "orders", upTo(3), tokenOf(99, "DRAINING"))
		require.NoError(t, err)
		require.Equal(t, int64(100), higher, "99 is below 100")
	}
	require.Equal(t, "100:01J:ROLLING_BACK", b.rdb.Get(t.Context(), "redis-stream:coord:shard:{orders:1}").Val())
	b.mark(3, tokenOf(101, "DRAINING"))
	b.mark(3, tokenOf(101, "DRAINING")) // again
	for i, key := range []string{"redis-stream:coord:shard:{orders:0}", "redis-stream:coord:shard:{orders:1}"} {
		require.Equal(t, "101:01J:DRAINING", b.rdb.Get(t.Context(), key).Val(), i)
	}
	higher, err := b.Mark(t.Context(), "orders", upTo(3), tokenOf(9, "DRAINING"))
	require.NoError(t, err)
	require.Equal(t, int64(101), higher)

	higher, err = b.Mark(t.Context(), "orders", upTo(3), tokenOf(101, "PREPARING"))
	require.NoError(t, err)
	require.Equal(t, int64(101), higher, "of two phases with one mark nobody knows which is later")
	require.Equal(t, "101:01J:DRAINING", b.rdb.Get(t.Context(), "redis-stream:coord:shard:{orders:0}").Val())

	huge := tokenOf(9_007_199_254_740_993, "A") // above what a script's numbers tell apart
	b.mark(3, huge)
	higher, err = b.Mark(t.Context(), "orders", upTo(3), tokenOf(huge.Mark-1, "A"))
	require.NoError(t, err)
	require.Equal(t, huge.Mark, higher)

	for _, garbage := range []string{"no token", "", "9223372036854775808:01J:A", "99999999999999999999999999:01J:A"} {
		b.do("SET", "redis-stream:coord:shard:{orders:1}", garbage)
		b.mark(3, huge) // over what no Mark has written
		require.Equal(t, huge.String(), b.rdb.Get(t.Context(), "redis-stream:coord:shard:{orders:1}").Val())
	}
}

func TestT27SealIsRecognisedWhenItIsRepeated(t *testing.T) {
	t.Parallel()
	for _, retention := range []Retention{RetainNothing, RetainForever} {
		b := onRedis(t)
		b.sealed(retention)
		before := b.rdb.DBSize(t.Context()).Val()
		for range 2 { // the answer of the first one was lost
			f := b.seal(0, retention, protocol.ProofLag)
			require.True(t, f.Sealed)
			require.Empty(t, f.Reason)
			require.Empty(t, f.Proof, "nothing was looked at")
			require.Equal(t, "01J", f.RetiredBy)
		}
		require.Equal(t, before, b.rdb.DBSize(t.Context()).Val())
		f := b.prove(0, "g")
		require.Equal(t, protocol.DrainStreamMissing, f.Reason)
		require.Equal(t, "01J", f.RetiredBy)
	}
}

func TestSealOfAnotherReshardingIsNotTakenForItsOwn(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.sealed(RetainForever)
	other := Token{Mark: 5, ReshardingID: "01K", Phase: "DRAINING"}
	b.mark(1, other)
	found, err := b.Seal(t.Context(), "orders", []int{0}, other, []string{"g"}, RetainForever, nil)
	require.NoError(t, err)
	require.False(t, found[0].Sealed)
	require.Equal(t, protocol.DrainStreamMissing, found[0].Reason)
	require.Equal(t, "01J", found[0].RetiredBy)
	var step *StepError
	require.ErrorAs(t, b.Unseal(t.Context(), "orders", []int{0}, other, groups()), &step)
	require.Equal(t, redisx.StateWrongType, step.State())
	require.Equal(t, "retired:01J", b.rdb.Get(t.Context(), "orders:0").Val())
}

func TestT28RecordBetweenProofAndSealKeepsTheShardOpen(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		between func(b *bench)
		want    judged
	}{
		"an entry is added": {
			func(b *bench) { b.do("XADD", "orders:0", "5-0", "f", "v") },
			judged{reason: protocol.DrainUnread, group: "g", tail: "5-0", pending: "0", lag: "1"},
		},
		"an entry is added and read": {
			func(b *bench) { b.do("XADD", "orders:0", "5-0", "f", "v"); b.read("g", 1) },
			judged{reason: protocol.DrainPending, group: "g", consumer: "c", pending: "1", lag: "0"},
		},
		"a group is lost": {
			func(b *bench) { b.do("XGROUP", "DESTROY", "orders:0", "g") },
			judged{reason: protocol.DrainGroupMissing, group: "g", pending: "0", lag: "0"},
		},
		"the shard is lost": {
			func(b *bench) { b.do("DEL", "orders:0") },
			judged{reason: protocol.DrainStreamMissing, pending: "?", lag: "?"},
		},
		"a foreign group comes": {
			func(b *bench) { b.do("XGROUP", "CREATE", "orders:0", "foreign", "0") },
			judged{reason: protocol.DrainUnread, group: "foreign", tail: "1-0", pending: "0", lag: "1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := onRedis(t)
			b.made(1)
			b.handled("1-0")
			b.mark(1, sealing())
			require.Empty(t, b.prove(0, "g").Reason)
			test.between(b)
			for _, proof := range []protocol.DrainProof{protocol.ProofLag, protocol.ProofTail, protocol.ProofConfirmed} {
				f := b.seal(0, RetainNothing, proof)
				require.Equal(t, test.want, judgedOf(f))
				require.False(t, f.Sealed)
				require.Empty(t, f.Proof)
			}
		})
	}
}

func TestEachShardIsSealedOnTheProofAcceptedForIt(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.made(4)
	for _, key := range []string{"orders:0", "orders:1", "orders:2"} { // an unknown lag
		b.do("XADD", key, "1-0", "f", "v")
		b.do("XGROUP", "SETID", key, "g", "1-0", "ENTRIESREAD", 9)
	}
	b.do("XADD", "orders:3", "1-0", "f", "v")
	b.mark(4, sealing())
	found, err := b.Seal(t.Context(), "orders", upTo(4), sealing(), []string{"g"}, RetainForever, func(index int) protocol.DrainProof {
		return []protocol.DrainProof{protocol.ProofLag, protocol.ProofTail, protocol.ProofConfirmed, protocol.ProofConfirmed}[index]
	})
	require.NoError(t, err)
	require.False(t, found[0].Sealed)
	require.Equal(t, protocol.DrainLagUnknown, found[0].Reason)
	require.True(t, found[1].Sealed)
	require.Equal(t, protocol.ProofTail, found[1].Proof)
	require.True(t, found[2].Sealed)
	require.Equal(t, protocol.ProofConfirmed, found[2].Proof)
	require.False(t, found[3].Sealed)
	require.Equal(t, protocol.DrainUnread, found[3].Reason)
}

func TestRetiredDataIsNeverOverwritten(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.sealed(RetainForever)
	retired := b.RetiredKey("orders", 0, "01J")
	b.do("DEL", "orders:0") // somebody removes the string, and a producer comes
	b.do("XGROUP", "CREATE", "orders:0", "g", "0", "MKSTREAM")
	b.handled("9-0")
	f := b.seal(0, RetainForever, protocol.ProofLag)
	require.False(t, f.Sealed)
	require.ErrorIs(t, f.Err, ErrRetired)
	require.ErrorContains(t, f.Err, retired)
	require.Equal(t, "1-0", b.rdb.XRange(t.Context(), retired, "-", "+").Val()[0].ID)
	require.Equal(t, "9-0", b.rdb.XRange(t.Context(), "orders:0", "-", "+").Val()[0].ID)

	b.mark(1, backing())
	require.NoError(t, b.Unseal(t.Context(), "orders", []int{0}, backing(), groups()))
	require.Equal(t, "9-0", b.rdb.XRange(t.Context(), "orders:0", "-", "+").Val()[0].ID, "what is there is in use")
}

func TestFullMemoryDoesNotLeaveAShardHalfSealed(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.made(2)
	b.handled("1-0")
	b.mark(2, sealing())
	b.do("CONFIG", "SET", "maxmemory", "1")
	for i, retention := range []Retention{RetainForever, RetainNothing} {
		found, err := b.Seal(t.Context(), "orders", []int{i}, sealing(), []string{"g"}, retention, nil)
		require.NoError(t, err)
		require.True(t, found[0].Sealed)
		require.Equal(t, "retired:01J", b.rdb.Get(t.Context(), b.keys.shard("orders", i).key).Val())
	}
}
