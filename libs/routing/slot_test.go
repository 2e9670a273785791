package routing

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestStreamKeyIsPrefixColonIndex(t *testing.T) {
	t.Parallel()
	require.Equal(t, "orders:0", StreamKey("orders", 0))
	require.Equal(t, "app:orders:1023", StreamKey("app:orders", 1023))
}

func TestOnlyTheFirstTagThatIsNotEmptyDecidesTheSlot(t *testing.T) {
	t.Parallel()
	require.Equal(t, Slot("user"), Slot("a{user}b{other}c"))
	require.Equal(t, Slot("{user"), Slot("{{user}}"))
	require.NotEqual(t, Slot("{}user"), Slot("user"))
	require.NotEqual(t, Slot("{user"), Slot("user"))
	require.Equal(t, 12_739, Slot("123456789"), "the check value of CRC16/XMODEM is 0x31C3")
}

func TestKeysWithOneTagShareASlot(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tag := rapid.StringMatching(`[^{}]+`).Draw(t, "tag")
		before := strings.ReplaceAll(rapid.String().Draw(t, "before"), "{", "")
		key := before + "{" + tag + "}" + rapid.String().Draw(t, "after")
		require.Equal(t, Slot(tag), Slot(key))
		require.Less(t, Slot(key), SlotCount)
	})
}

func BenchmarkSlot(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = Slot("redis-stream:coord:{orders:orders-consumer}:metadata")
	}
}

func BenchmarkStreamKey(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = StreamKey("orders", 123)
	}
}
