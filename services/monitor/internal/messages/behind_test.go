package messages

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// TestWhatIsBehindIsReadAsItWasWritten, in texts of bounded length.
func TestWhatIsBehindIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := position{id: redisx.EntryID{Ms: rapid.Uint64().Draw(t, "ms"), Seq: rapid.Uint64().Draw(t, "seq")}}
		known := rapid.IntRange(1, 5000).Draw(t, "known")
		some := rapid.SliceOfN(rapid.Uint64Range(0, at.id.Ms), 1, 4).Draw(t, "bounds")
		want := map[int]redisx.EntryID{}
		var list []reach
		for index := range known {
			if rapid.IntRange(0, 3).Draw(t, "behind") > 0 {
				continue
			}
			bound := redisx.EntryID{Ms: some[index%len(some)], Seq: rapid.Uint64Range(0, 1).Draw(t, "seq")}
			if bound.Compare(at.id) <= 0 {
				list, want[index] = append(list, reach{index: index, bound: bound}), bound
			}
		}
		text, whole := encodeBehind(at, known, list)
		require.LessOrEqual(t, len(text), maxBehind)
		got := map[int]redisx.EntryID{}
		count, ok := decodeBehind(text, at.id, func(index int, bound redisx.EntryID) bool {
			got[index] = bound
			return true
		})
		require.True(t, ok)
		require.Equal(t, known, count)
		if whole {
			require.Equal(t, want, got)
		}
	})
}

// TestAFewShardsAreAlwaysNamed, whatever their ids.
func TestAFewShardsAreAlwaysNamed(t *testing.T) {
	t.Parallel()
	var list []reach
	for i := range alwaysFit {
		list = append(list, reach{index: maxKnown - alwaysFit + i, bound: redisx.EntryID{Ms: uint64(i), Seq: ^uint64(i)}})
	}
	_, whole := encodeBehind(position{id: highestID()}, maxKnown, list)
	require.True(t, whole)
}

// TestWhatWouldBeMissedForSureIsNamedFirst: shards with an unread record come before those
// that may get one.
func TestWhatWouldBeMissedForSureIsNamedFirst(t *testing.T) {
	t.Parallel()
	at, next := position{id: redisx.EntryID{Ms: 1 << 40}}, redisx.EntryID{Ms: 9}
	var list []reach
	for i := range 4096 {
		list = append(list, reach{index: i, bound: redisx.EntryID{Ms: uint64(i)}})
	}
	list[1].next, list[2].next = &next, &next
	text, whole := encodeBehind(at, 4096, list)
	require.False(t, whole)
	var named []int
	_, ok := decodeBehind(text, at.id, func(index int, _ redisx.EntryID) bool {
		named = append(named, index)
		return true
	})
	require.True(t, ok)
	require.Equal(t, []int{2, 1, 4095, 4094}, named[:4])
	require.Greater(t, len(named), 400)
}

// TestTextsThatNobodyWroteAreRefusedOrHarmless: any bytes, and every cut of a true text.
func TestTextsThatNobodyWroteAreRefusedOrHarmless(t *testing.T) {
	t.Parallel()
	at := redisx.EntryID{Ms: 1000}
	nothing := func(index int, bound redisx.EntryID) bool {
		require.True(t, index >= 0 && index < maxKnown && bound.Compare(at) <= 0)
		return true
	}
	rapid.Check(t, func(t *rapid.T) {
		decodeBehind(rapid.SliceOf(rapid.Byte()).Draw(t, "text"), at, nothing)
	})
	text, _ := encodeBehind(position{id: at}, 4096, []reach{{index: 4000, bound: redisx.EntryID{Ms: 900, Seq: 500}}, {index: 4001}})
	for cut := range len(text) {
		decodeBehind(text[:cut], at, nothing)
	}
	for _, text := range [][]byte{{}, {1}, {1, 0xe9, 7, 0, 1, 0}, {0xff, 0xff, 0xff, 0xff, 0x0f}, slices.Repeat([]byte{0xff}, 12)} {
		known, ok := decodeBehind(text, at, nothing)
		require.LessOrEqual(t, known, maxKnown)
		require.Equal(t, len(text) == 1, ok, text)
	}
}
