package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func createClaims() []claim {
	return []claim{
		{"a record begins at revision 1 with its token", createBegins},
		{"an existing record is kept", createExists},
		{"the same create again succeeds and writes nothing", createAgain},
		{"a stream's record and its groups are records of their own", createStream},
		{"names with a colon do not share a record", createColons},
		{"bytes come back as they were", createBinary},
	}
}

func createBegins(t trial) {
	before, err := t.Store.Ping(t.Context())
	require.NoError(t, err)
	done, err := t.Store.Create(t.Context(), store.Create{
		Key: orders(), Token: "first", Schema: 3, Aggregate: []byte(`{"n":1}`), Event: []byte("created"),
	})
	require.NoError(t, err)
	require.Equal(t, store.Version{Revision: 1, Token: "first"}, done.Version)
	require.GreaterOrEqual(t, done.Clock, before)

	snapshot := loaded(t)
	require.Equal(t, done.Version, snapshot.Version)
	require.Equal(t, store.Record{
		Key: orders(), Version: done.Version, Schema: 3, Aggregate: []byte(`{"n":1}`),
	}, *snapshot.Record)
	require.Empty(t, snapshot.Liveness)
	require.Zero(t, snapshot.ServedAt, "nobody has served the group yet (T1)")
	require.GreaterOrEqual(t, snapshot.Clock, done.Clock)
	require.Equal(t, [][]byte{[]byte("created")}, t.History(t.T, orders()))
}

func createExists(t trial) {
	created(t)
	unchanged(t, func() {
		_, err := t.Store.Create(t.Context(), store.Create{
			Key: orders(), Token: "other", Schema: 4, Aggregate: []byte("x"), Event: []byte("no"),
		})
		require.ErrorIs(t, err, store.ErrExists)
	})
}

func createAgain(t trial) {
	version := created(t)
	unchanged(t, func() {
		require.Equal(t, version, created(t), "an answer was lost, the request is repeated")
	})
	next := committed(t, commit(version)).Version
	back := commit(next)
	back.Token = version.Token
	committed(t, back)
	_, err := t.Store.Create(t.Context(), store.Create{Key: orders(), Token: "first", Aggregate: []byte("x")})
	require.ErrorIs(t, err, store.ErrExists, "the record has gone on")
}

func createStream(t trial) {
	stream := store.Key{Stream: "orders"}
	createdAs(t, stream)
	_, err := t.Store.Load(t.Context(), orders(), store.Version{})
	require.ErrorIs(t, err, store.ErrNotFound)
	created(t)
	committed(t, commit(store.Version{Revision: 1, Token: "first"}))
	require.Equal(t, int64(1), loadedAs(t, stream).Version.Revision)
	require.Len(t, t.History(t.T, stream), 1)
}

func createColons(t trial) {
	group := store.Key{Stream: "a", Group: "b"}
	stream := store.Key{Stream: "a:b"}
	deeper := store.Key{Stream: "a:b", Group: "b"}
	for _, key := range []store.Key{group, stream, deeper} {
		createdAs(t, key)
	}
	lease, err := t.Store.Lease(t.Context(), group, lifetime)
	require.NoError(t, err)
	other, err := t.Store.Lease(t.Context(), stream, lifetime)
	require.NoError(t, err, "a group's lease is not the lease of the stream whose name reads like it")
	require.NoError(t, lease.Release(t.Context()))
	require.NoError(t, other.Release(t.Context()))
	for _, key := range []store.Key{group, stream, deeper} {
		require.Equal(t, key, loadedAs(t, key).Record.Key)
		require.Len(t, t.History(t.T, key), 1)
	}
}

func createBinary(t trial) {
	raw := []byte{0, 1, '\r', '\n', ' ', 0xff, 0xfe, '"', '}'}
	done, err := t.Store.Create(t.Context(), store.Create{
		Key: orders(), Token: "t\x00 \r\n\xff", Schema: 1, Aggregate: raw, Event: raw,
	})
	require.NoError(t, err)
	one := beat("m", 1)
	one.Incarnation, one.RequestID, one.Detail = "a b%20\x00é", "-  \r\n%\xff", raw
	touched(t, store.Touch{
		Key: orders(), Version: done.Version, Beats: []store.Beat{one},
		Newcomers: []store.Newcomer{{Member: "m", Incarnation: "n\x00 %"}},
	})

	snapshot := loaded(t)
	require.Equal(t, raw, snapshot.Record.Aggregate)
	require.Equal(t, "t\x00 \r\n\xff", snapshot.Version.Token)
	state := snapshot.Liveness["m"]
	require.Equal(t, one.Incarnation, state.Incarnation)
	require.Equal(t, one.RequestID, state.RequestID)
	require.Equal(t, raw, state.Detail)
	require.Equal(t, "n\x00 %", state.Successor)
	require.Equal(t, [][]byte{raw}, t.History(t.T, orders()))

	one.Sequence = 0
	again := store.Touch{Key: orders(), Version: done.Version, Beats: []store.Beat{one}}
	require.Equal(t, []bool{false}, touched(t, again).Applied, "the request id is compared as it was sent")
}
