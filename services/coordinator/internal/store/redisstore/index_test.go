package redisstore_test

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/redisstore"
)

const index = "redis-stream:coord:groups"

func TestRepairIndexNamesExactlyTheRecordsOfAServer(t *testing.T) {
	t.Parallel()
	repairs(t, redisproc.Start(t).Client(t))
}

func TestRepairIndexNamesExactlyTheRecordsOfACluster(t *testing.T) {
	t.Parallel()
	repairs(t, redisproc.StartCluster(t, 3).Client(t))
}

func repairs(t *testing.T, client redis.UniversalClient) {
	t.Helper()
	kept := newStore(t, client, redisstore.Options{})
	other := newStore(t, client, redisstore.Options{KeyPrefix: "redis-stream:coord2"})
	want := []store.Key{
		{Stream: "a"}, {Stream: "a", Group: "b"}, {Stream: "a:b"}, {Stream: "c", Group: "d"}, {Stream: "e", Group: "f"},
	}
	for _, key := range want {
		_, err := kept.Create(t.Context(), store.Create{Key: key, Token: "t", Aggregate: []byte("{}"), Event: []byte("e")})
		require.NoError(t, err)
		_, err = other.Create(t.Context(), store.Create{Key: store.Key{Stream: "foreign"}, Token: key.String()})
		if err != nil {
			require.ErrorIs(t, err, store.ErrExists)
		}
	}
	done, err := kept.RepairIndex(t.Context())
	require.NoError(t, err)
	require.Equal(t, store.Repair{}, done, "there is nothing to do")

	require.NoError(t, client.Del(t.Context(), index).Err())
	require.NoError(t, client.SAdd(t.Context(), index, "gone:group", "a:b", "no valid name", "{x}:y").Err())
	keys, err := kept.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []store.Key{{Stream: "a", Group: "b"}, {Stream: "gone", Group: "group"}}, keys,
		"the index may name what is gone, but no invalid names")

	done, err = kept.RepairIndex(t.Context())
	require.NoError(t, err)
	require.Equal(t, []store.Key{want[0], want[2], want[3], want[4]}, done.Added)
	require.Equal(t, []string{"gone:group", "no valid name", "{x}:y"}, done.Removed)
	keys, err = kept.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, keys)
}

func TestARecordMadeWhileItsNameIsDeletedIsListed(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"srem", "exists"} {
		server, _, kept, version := start(t)
		meddled := server.Client(t)
		meddled.AddHook(before(command, 1, func() { create(t, kept) }))
		_, err := newStore(t, meddled, redisstore.Options{}).Delete(t.Context(), orders(), version, nil)
		require.NoError(t, err)
		keys, err := kept.List(t.Context())
		require.NoError(t, err)
		require.Equal(t, []store.Key{orders()}, keys, command)
	}
}

func TestARecordWhoseNameIsTakenOutWhileItIsMadeIsListed(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	client, meddled := server.Client(t), server.Client(t)
	meddled.AddHook(before("evalsha", 1, func() { client.SRem(t.Context(), index, orders().String()) }))
	kept := newStore(t, meddled, redisstore.Options{})
	create(t, kept)
	keys, err := kept.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []store.Key{orders()}, keys)
}

func TestACrashAfterTheRecordIsMadeLeavesItListed(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	meddled := server.Client(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	meddled.AddHook(before("sadd", 2, cancel))
	_, err := newStore(t, meddled, redisstore.Options{}).Create(ctx, store.Create{Key: orders(), Token: "t"})
	require.ErrorIs(t, err, store.ErrUnavailable)
	kept := newStore(t, server.Client(t), redisstore.Options{})
	_, err = kept.Load(t.Context(), orders(), store.Version{})
	require.NoError(t, err)
	keys, err := kept.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []store.Key{orders()}, keys)
}
