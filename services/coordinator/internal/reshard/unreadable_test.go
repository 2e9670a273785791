package reshard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// A group whose record cannot be read keeps no other group of its stream from a layout that
// producers go by already (M6, I13, L1).
func TestM6UnreadableGroupKeepsNoOtherFromTheLayout(t *testing.T) {
	t.Parallel()
	b := newBench(t, redisproc.Start(t).Client(t))
	b.lead = b.still()
	b.create(2, "a", "b")
	id := b.scaled(3)
	b.do("HSET", b.groupKey("a"), "revision", "x")
	b.start()
	b.await("a problem", func() bool { return b.migration(id).Progress.LastError != nil })
	require.Contains(t, *b.migration(id).Progress.LastError, `"a"`)
	require.Equal(t, b.stream().LayoutVersion, b.group("b").LayoutVersion)
}

// Nor does it keep a lost shard from being made again for those that can be read (L12).
func TestM6UnreadableGroupKeepsNoLostShardAway(t *testing.T) {
	t.Parallel()
	b := quick(t, 2, "a", "b")
	b.join("b", "b-1")
	b.settled()
	b.do("HSET", b.groupKey("a"), "revision", "x")
	b.do("DEL", b.key(1))
	b.await("the loss is noticed", func() bool { return b.causes("b", "REPROVISION") > 0 })
	b.await("b may grant it", func() bool { return len(b.stream().Lost) == 0 && len(b.group("b").Lost) == 0 })
	groups, err := b.rdb.XInfoGroups(t.Context(), b.key(1)).Result()
	require.NoError(t, err)
	require.Len(t, groups, 2, "the one that cannot be read finds its Redis group when it is repaired")
}
