package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func listClaims() []claim {
	return []claim{
		{"an empty store lists nothing", listEmpty},
		{"every record is listed, unreadable ones too", listAll},
		{"deleted records are not listed", listDeleted},
	}
}

func listed(t trial) []store.Key {
	t.Helper()
	keys, err := t.Store.List(t.Context())
	require.NoError(t, err)
	return keys
}

func listEmpty(t trial) {
	require.Empty(t, listed(t))
}

func listAll(t trial) {
	want := []store.Key{
		{Stream: "a"}, {Stream: "a", Group: "b"}, {Stream: "a:b"}, {Stream: "a:b", Group: "c"}, orders(),
	}
	for _, key := range want {
		createdAs(t, key)
	}
	_, err := t.Store.Create(t.Context(), store.Create{Key: orders(), Token: "other", Aggregate: []byte("x")})
	require.ErrorIs(t, err, store.ErrExists)
	require.Equal(t, want, listed(t), "in order of stream and group, each once")
	t.Spoil(t.T, orders(), "revision")
	require.Equal(t, want, listed(t))
}

func listDeleted(t trial) {
	version := created(t)
	other := store.Key{Stream: "orders"}
	createdAs(t, other)
	_, err := t.Store.Delete(t.Context(), orders(), store.Version{Revision: 9, Token: "x"}, nil)
	require.ErrorIs(t, err, store.ErrConflict)
	require.Len(t, listed(t), 2)
	_, err = t.Store.Delete(t.Context(), orders(), version, nil)
	require.NoError(t, err)
	require.Equal(t, []store.Key{other}, listed(t))
	created(t)
	require.Len(t, listed(t), 2)
}
