package store_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func TestKeyTextSplitsAtTheLastColon(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]store.Key{
		"orders:workers": {Stream: "orders", Group: "workers"},
		"orders:":        {Stream: "orders"},
		"a:b:c":          {Stream: "a:b", Group: "c"},
		"a:b:":           {Stream: "a:b"},
		"a::b":           {}, // a stream may not end in ':'
		"orders":         {},
		"":               {},
		":":              {},
		"a b:c":          {},
	} {
		got, err := store.ParseKey(text, protocol.DefaultKeyPrefix)
		if want == (store.Key{}) {
			require.ErrorIs(t, err, store.ErrInvalid, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, got)
		require.Equal(t, text, got.String())
	}
}

func TestKeyRefusesTheCoordinatorsOwnPrefix(t *testing.T) {
	t.Parallel()
	key := store.Key{Stream: "mine:x"}
	require.NoError(t, key.Check(protocol.DefaultKeyPrefix))
	require.ErrorIs(t, key.Check("mine"), store.ErrInvalid)
}

func TestInvalidInputIsCutInErrors(t *testing.T) {
	t.Parallel()
	_, err := store.ParseKey(strings.Repeat("x", 1<<16), protocol.DefaultKeyPrefix)
	require.ErrorIs(t, err, store.ErrInvalid)
	require.Less(t, len(err.Error()), 200)
}

func FuzzParseKey(f *testing.F) {
	for _, seed := range []string{"orders:workers", "orders:", "a:b:c", ":", "", "a::", "{a}:b", "a:\x00", "a:b\n", "é:g"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		key, err := store.ParseKey(text, protocol.DefaultKeyPrefix)
		if err != nil {
			require.ErrorIs(t, err, store.ErrInvalid)
			return
		}
		require.Equal(t, text, key.String())
		require.NotContains(t, text, "{")
	})
}
