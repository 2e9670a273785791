package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func TestSnapshotsShowWhatTheSingleViewsShow(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createStream(new(2), "b", "a"))
	b.join("a")
	all, err := b.catalog.Snapshots(t.Context())
	require.NoError(t, err)
	require.Len(t, all.Groups, 2)
	for i, name := range []string{"a", "b"} {
		shown := all.Groups[i]
		group, err := b.catalog.Group(t.Context(), "orders", name)
		require.NoError(t, err)
		members, err := b.catalog.Members(t.Context(), "orders", name)
		require.NoError(t, err)
		assignments, err := b.catalog.Assignments(t.Context(), "orders", name)
		require.NoError(t, err)
		require.Equal(t, group, shown.Group)
		require.Equal(t, members.Members, shown.Members)
		require.Equal(t, assignments, shown.Assignments)
		require.Equal(t, 2, shown.ReadCount)
		require.Nil(t, shown.Problem)
		require.Empty(t, shown.Migrations)
	}
	require.Len(t, all.Groups[0].Members, 1)
}

func TestSnapshotsNameGroupsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createStream(new(2), "bad", "gone", "well"))
	b.kept.Spoil(store.Key{Stream: "orders", Group: "bad"}, "revision")
	loaded, err := b.kept.Load(t.Context(), store.Key{Stream: "orders", Group: "gone"}, store.Version{})
	require.NoError(t, err)
	_, err = b.kept.Delete(t.Context(), store.Key{Stream: "orders", Group: "gone"}, loaded.Version, nil)
	require.NoError(t, err)

	all, err := b.catalog.Snapshots(t.Context())
	require.NoError(t, err)
	require.Len(t, all.Groups, 3)
	for i, code := range []protocol.Code{protocol.CodeMetadataCorrupt, protocol.CodeMetadataMissing} {
		require.Equal(t, &code, all.Groups[i].Problem)
		require.Equal(t, "orders", all.Groups[i].Group.StreamPrefix)
		require.Equal(t, 2, all.Groups[i].ReadCount, "its shards are watched all the same")
	}
	require.Nil(t, all.Groups[2].Problem)
}

func TestSnapshotsOfAGroupWhoseStreamRecordIsLost(t *testing.T) {
	t.Parallel()
	b := open(t)
	require.NoError(t, b.createGroup("a", new(3)))
	loaded, err := b.kept.Load(t.Context(), store.Key{Stream: "orders"}, store.Version{})
	require.NoError(t, err)
	_, err = b.kept.Delete(t.Context(), store.Key{Stream: "orders"}, loaded.Version, nil)
	require.NoError(t, err)
	all, err := b.catalog.Snapshots(t.Context())
	require.NoError(t, err)
	require.Len(t, all.Groups, 1)
	require.Equal(t, 3, all.Groups[0].ReadCount, "the group remembers")
}
