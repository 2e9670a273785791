package redisstore

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func space(t require.TestingT) keyspace {
	keys, err := newKeyspace(protocol.DefaultKeyPrefix)
	require.NoError(t, err)
	return keys
}

func TestKeysAreThoseOfTheStorageDesign(t *testing.T) {
	t.Parallel()
	keys := space(t)
	require.Equal(t, "redis-stream:coord:groups", keys.index())
	group := keys.of(store.Key{Stream: "orders", Group: "orders-consumer"})
	require.Equal(t, "redis-stream:coord:{orders:orders-consumer}:metadata", group.record)
	require.Equal(t, "redis-stream:coord:{orders:orders-consumer}:events", group.events)
	require.Equal(t, "redis-stream:coord:{orders:orders-consumer}:lease", group.lease)
	require.Equal(t, "redis-stream:coord:{orders}:stream", keys.of(store.Key{Stream: "orders"}).record)
}

func TestABadKeyPrefixIsRefused(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "a:", "{a}", "a b", "a*", strings.Repeat("a", 201)} {
		_, err := newKeyspace(prefix)
		require.ErrorIs(t, err, store.ErrInvalid, prefix)
	}
}

// names draws names that are likely to run into each other.
func names(t *rapid.T) store.Key {
	stream := rapid.OneOf(
		rapid.StringMatching(`[ab](:?[ab0]){0,4}`),
		rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._:@+-]{0,20}`),
		rapid.SampledFrom([]string{"metadata", "groups", "stream", "lease", "shard", "a:metadata", "a:stream"}),
	).Draw(t, "stream")
	group := rapid.OneOf(
		rapid.Just(""),
		rapid.StringMatching(`[ab0]{1,3}`),
		rapid.SampledFrom([]string{"metadata", "stream", "lease", "events", "0"}),
	).Draw(t, "group")
	return store.Key{Stream: stream, Group: group}
}

func TestTwoRecordsNeverShareAKeyAndNoShardKeyIsOurs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := space(t)
		a, b := names(t), names(t)
		if a.Check(keys.prefix) != nil || b.Check(keys.prefix) != nil {
			t.Skip("not a valid name")
		}
		ours := map[string]store.Key{keys.index(): {}}
		for _, key := range []store.Key{a, b} {
			made := keys.of(key)
			for _, name := range []string{made.record, made.events, made.lease} {
				owner, taken := ours[name]
				require.True(t, !taken || owner == key && a == b, "%q belongs to %q and %q", name, owner, key)
				ours[name] = key
				require.Equal(t, tag(made.record), tag(name), "one slot")
			}
			back, ok := keys.parse(made.record)
			require.True(t, ok)
			require.Equal(t, key, back)
			for _, name := range []string{made.events, made.lease, keys.index()} {
				_, ok := keys.parse(name)
				require.False(t, ok, name)
			}
		}
		shard := fmt.Sprintf("%s:%d", a.Stream, rapid.IntRange(0, 10000).Draw(t, "index"))
		require.NotContains(t, ours, shard)
		_, ok := keys.parse(shard)
		require.False(t, ok)
	})
}

// tag returns what is between the first braces, which decides the hash slot.
func tag(name string) string {
	_, rest, _ := strings.Cut(name, "{")
	inner, _, _ := strings.Cut(rest, "}")
	return inner
}

func TestScanPatternsTakeNamesLiterally(t *testing.T) {
	t.Parallel()
	require.Equal(t, `a\*b\?\[c\]\\\^\-d`, escapeGlob(`a*b?[c]\^-d`))
}

func FuzzParseRedisKey(f *testing.F) {
	keys := space(f)
	for _, seed := range []string{
		keys.of(store.Key{Stream: "a:b", Group: "c"}).record, keys.of(store.Key{Stream: "a:b"}).record,
		keys.index(), "orders:0", "", "redis-stream:coord:{}:metadata", "redis-stream:coord:{a}:metadata",
		"redis-stream:coord:{a:b}}:stream", "redis-stream:coord:{a:}:metadata", "redis-stream:coord:{a:b}:metadata:x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if key, ok := keys.parse(name); ok {
			require.NoError(t, key.Check(keys.prefix))
			require.Equal(t, name, keys.of(key).record)
		}
	})
}
