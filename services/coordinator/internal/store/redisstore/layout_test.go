package redisstore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/redisstore"
)

const (
	metadata = "redis-stream:coord:{orders:workers}:metadata"
	events   = "redis-stream:coord:{orders:workers}:events"
)

func orders() store.Key { return store.Key{Stream: "orders", Group: "workers"} }

func beat(member string, sequence int64) store.Beat {
	return store.Beat{
		Member: member, Incarnation: "life-1", Sequence: sequence, RequestID: "r", Detail: []byte("d"), Lease: time.Hour,
	}
}

// start returns a store on a server of its own with the record of orders().
func start(t *testing.T, options ...redisproc.Option) (*redisproc.Server, *redis.Client, *redisstore.Store, store.Version) {
	t.Helper()
	server := redisproc.Start(t, options...)
	client := server.Client(t)
	kept := newStore(t, client, redisstore.Options{})
	return server, client, kept, create(t, kept)
}

func create(t *testing.T, kept *redisstore.Store) store.Version {
	t.Helper()
	done, err := kept.Create(t.Context(), store.Create{
		Key: orders(), Token: "first", Schema: 1, Aggregate: []byte("{}"), Event: []byte("created"),
	})
	require.NoError(t, err)
	return done.Version
}

func change(prev store.Version) store.Commit {
	return store.Commit{Key: orders(), Prev: prev, Token: "next-" + prev.Token, Schema: 1, Aggregate: []byte("{2}"), Event: []byte("e")}
}

func TestAllKeysAreKnownAndNoRecordHasATTL(t *testing.T) {
	t.Parallel()
	_, client, kept, version := start(t)
	_, err := kept.Touch(t.Context(), store.Touch{
		Key: orders(), Version: version, Identity: store.IdentityUnknown, Beats: []store.Beat{beat("m1", 1)},
		Newcomers: []store.Newcomer{{Member: "m1", Incarnation: "x"}},
	})
	require.NoError(t, err)
	_, err = kept.Create(t.Context(), store.Create{Key: store.Key{Stream: "orders"}, Token: "s", Aggregate: []byte("{}")})
	require.NoError(t, err)
	_, err = kept.Commit(t.Context(), change(version))
	require.NoError(t, err)
	lease, err := kept.Lease(t.Context(), orders(), time.Minute)
	require.NoError(t, err)

	names, err := client.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	require.ElementsMatch(t, []string{
		metadata, events, "redis-stream:coord:{orders:workers}:lease", "redis-stream:coord:{orders}:stream",
		"redis-stream:coord:groups",
	}, names)
	for _, name := range names {
		ttl, err := client.TTL(t.Context(), name).Result()
		require.NoError(t, err)
		require.Equal(t, strings.HasSuffix(name, ":lease"), ttl > 0, name)
	}
	require.NoError(t, lease.Release(t.Context()))

	fields, err := client.HKeys(t.Context(), metadata).Result()
	require.NoError(t, err)
	require.ElementsMatch(t, []string{
		"aggregate", "revision", "token", "schemaVersion", "layoutVersion", "updatedAt", "servedAt", "l:m1", "s:m1",
	}, fields)
}

func TestHistoryIsBoundedAndOutlivesItsRecordForItsRetention(t *testing.T) {
	t.Parallel()
	client := redisproc.Start(t).Client(t)
	kept := newStore(t, client, redisstore.Options{HistoryLength: 10, HistoryRetention: time.Hour})
	version := create(t, kept)
	for range 300 {
		done, err := kept.Commit(t.Context(), store.Commit{
			Key: orders(), Prev: version, Token: fmt.Sprint(version.Revision), Event: []byte("e"),
		})
		require.NoError(t, err)
		version = done.Version
	}
	length, err := client.XLen(t.Context(), events).Result()
	require.NoError(t, err)
	require.LessOrEqual(t, length, int64(10+100), "cut to whole nodes of the stream")

	_, err = kept.Delete(t.Context(), orders(), version, nil)
	require.NoError(t, err)
	ttl, err := client.TTL(t.Context(), events).Result()
	require.NoError(t, err)
	require.InDelta(t, time.Hour, ttl, float64(time.Minute))
	create(t, kept)
	ttl, err = client.TTL(t.Context(), events).Result()
	require.NoError(t, err)
	require.Negative(t, ttl, "the record is there again")
}

func TestWhatCannotBeReadIsNamedAndOnlyTheZeroVersionRemovesIt(t *testing.T) {
	t.Parallel()
	_, client, kept, _ := start(t)
	for _, spoilt := range []struct{ field, value string }{
		{"revision", "x"},
		{"revision", "0"},
		{"revision", "-1"},
		{"revision", "1.0"},
		{"revision", "01"},
		{"revision", ""},
		{"revision", "9223372036854775808"},
		{"token", ""},
		{"schemaVersion", "x"},
		{"schemaVersion", "-1"},
		{"schemaVersion", "99999999999"},
		{"servedAt", "yesterday"},
		{"layoutVersion", "x"},
		{"l:m1", "1 2 3"},
		{"l:m1", ""},
		{"l:m1", "a b c d e f g"},
		{"l:bad name", "1 2 3 4 i r d"},
		{"s:m1", "x"},
		{"l:", "1 2 3 4 i r d"},
		{"s:{m}", "1 i"},
	} {
		require.NoError(t, client.HSet(t.Context(), metadata, spoilt.field, spoilt.value).Err())
		requireCorrupt(t, client, kept, spoilt.field)
	}
	for _, field := range []string{"revision", "token", "schemaVersion", "layoutVersion", "servedAt", "aggregate"} {
		require.NoError(t, client.HDel(t.Context(), metadata, field).Err())
		requireCorrupt(t, client, kept, field)
	}
	require.NoError(t, client.Set(t.Context(), metadata, "text", 0).Err())
	requireCorrupt(t, client, kept, "key")
	require.NoError(t, client.Del(t.Context(), metadata).Err())
	require.NoError(t, client.RPush(t.Context(), metadata, "list").Err())
	requireCorrupt(t, client, kept, "key")
}

// requireCorrupt requires that the record is corrupt at the field, and repairs it.
func requireCorrupt(t *testing.T, client *redis.Client, kept *redisstore.Store, field string) {
	t.Helper()
	version := store.Version{Revision: 1, Token: "first"}
	before, err := client.Dump(t.Context(), metadata).Result()
	require.NoError(t, err)
	_, err = kept.Load(t.Context(), orders(), store.Version{})
	var corrupt *store.CorruptError
	require.ErrorAs(t, err, &corrupt)
	require.Equal(t, field, corrupt.Field)
	require.Equal(t, orders(), corrupt.Key)
	_, err = kept.Create(t.Context(), store.Create{Key: orders(), Token: "t", Aggregate: []byte("x")})
	require.ErrorIs(t, err, store.ErrExists)

	if field == "key" || field == "revision" || field == "token" {
		_, err = kept.Touch(t.Context(), store.Touch{Key: orders(), Version: version})
		require.ErrorIs(t, err, store.ErrCorrupt)
		_, err = kept.Commit(t.Context(), change(version))
		require.ErrorIs(t, err, store.ErrCorrupt)
		_, err = kept.Delete(t.Context(), orders(), version, nil)
		require.ErrorIs(t, err, store.ErrCorrupt)
	}
	if field == "l:m1" {
		_, err = kept.Touch(t.Context(), store.Touch{Key: orders(), Version: version, Identity: store.IdentityUnknown, Beats: []store.Beat{beat("m0", 1), beat("m1", 1)}})
		require.ErrorAs(t, err, &corrupt)
		require.Equal(t, field, corrupt.Field)
		guarded := change(version)
		guarded.Unmoved = map[string]store.Observed{"m1": {}}
		_, err = kept.Commit(t.Context(), guarded)
		require.ErrorAs(t, err, &corrupt)
		require.Equal(t, field, corrupt.Field)
	}
	after, err := client.Dump(t.Context(), metadata).Result()
	require.NoError(t, err)
	require.Equal(t, before, after, "nothing was written")

	_, err = kept.Delete(t.Context(), orders(), store.Version{}, nil)
	require.NoError(t, err)
	require.Equal(t, version, create(t, kept), "making it again is the repair (M6)")
}

func TestARecordRepairedMeanwhileIsNotRemovedAsUnreadable(t *testing.T) {
	t.Parallel()
	server, client, _, _ := start(t)
	for _, spoil := range []func() error{
		func() error { return client.HSet(t.Context(), metadata, "revision", "x").Err() },
		func() error { return client.HDel(t.Context(), metadata, "revision").Err() },
		func() error { return client.Set(t.Context(), metadata, "text", 0).Err() },
	} {
		whole := client.Dump(t.Context(), metadata).Val()
		require.NoError(t, spoil())
		meddled := server.Client(t)
		// The first call finds what cannot be read, the second one removes it.
		meddled.AddHook(before("evalsha", 2, func() { client.RestoreReplace(t.Context(), metadata, 0, whole) }))
		_, err := newStore(t, meddled, redisstore.Options{}).Delete(t.Context(), orders(), store.Version{}, nil)
		require.ErrorIs(t, err, store.ErrConflict)
		require.Equal(t, "1", client.HGet(t.Context(), metadata, "revision").Val())
	}
}

func TestAHashWithoutGuardsIsCorruptAndNotMissing(t *testing.T) {
	t.Parallel()
	_, client, kept, _ := start(t)
	require.NoError(t, client.HDel(t.Context(), metadata, "revision", "token").Err())
	requireCorrupt(t, client, kept, "revision")
}

func TestANewerLayoutIsNeitherReadNorRemoved(t *testing.T) {
	t.Parallel()
	_, client, kept, _ := start(t)
	require.NoError(t, client.HSet(t.Context(), metadata, "layoutVersion", "2", "l:m1", "another form").Err())
	_, err := kept.Load(t.Context(), orders(), store.Version{})
	require.ErrorIs(t, err, store.ErrUnsupportedSchema)
	require.NotErrorIs(t, err, store.ErrCorrupt)
	_, err = kept.Delete(t.Context(), orders(), store.Version{}, nil)
	require.ErrorIs(t, err, store.ErrUnsupportedSchema)
	require.Equal(t, int64(1), client.Exists(t.Context(), metadata).Val())
}

func TestAHistoryOfAnotherTypeRefusesTheCommitWhole(t *testing.T) {
	t.Parallel()
	_, client, kept, version := start(t)
	require.NoError(t, client.Set(t.Context(), events, "text", 0).Err())
	before := client.HGetAll(t.Context(), metadata).Val()
	_, err := kept.Commit(t.Context(), change(version))
	var corrupt *store.CorruptError
	require.ErrorAs(t, err, &corrupt)
	require.Equal(t, "events", corrupt.Field)
	require.Equal(t, before, client.HGetAll(t.Context(), metadata).Val())
	_, err = kept.History(t.Context(), orders(), "", 1)
	require.ErrorAs(t, err, &corrupt)
	require.Equal(t, "events", corrupt.Field)
	_, err = kept.Delete(t.Context(), orders(), version, []byte("deleted"))
	require.NoError(t, err, "what is to go does not need a history")
	require.Zero(t, client.Exists(t.Context(), metadata).Val())
}

func TestEntriesOfOthersInAHistoryHaveNoData(t *testing.T) {
	t.Parallel()
	_, client, kept, _ := start(t)
	require.NoError(t, client.XAdd(t.Context(), &redis.XAddArgs{Stream: events, Values: []string{"note", "by hand"}}).Err())
	found, err := kept.History(t.Context(), orders(), "", 10)
	require.NoError(t, err)
	require.Empty(t, found[len(found)-1].Data)
}

func TestTheStoreSurvivesScriptFlush(t *testing.T) {
	t.Parallel()
	_, client, kept, version := start(t)
	steps := []func() error{
		func() error { _, err := kept.Load(t.Context(), orders(), store.Version{}); return err },
		func() error {
			_, err := kept.Touch(t.Context(), store.Touch{Key: orders(), Version: version})
			return err
		},
		func() error { _, err := kept.Ping(t.Context()); return err },
		func() error { _, err := kept.History(t.Context(), orders(), "", 1); return err },
		func() error {
			lease, err := kept.Lease(t.Context(), orders(), time.Minute)
			if err != nil {
				return err
			}
			require.NoError(t, client.ScriptFlush(t.Context()).Err())
			require.NoError(t, lease.Extend(t.Context(), time.Minute))
			require.NoError(t, client.ScriptFlush(t.Context()).Err())
			return lease.Release(t.Context())
		},
		func() error {
			done, err := kept.Commit(t.Context(), change(version))
			version = done.Version
			return err
		},
		func() error { _, err := kept.Delete(t.Context(), orders(), version, nil); return err },
	}
	for _, step := range steps {
		require.NoError(t, client.ScriptFlush(t.Context()).Err())
		require.NoError(t, step())
	}
}
