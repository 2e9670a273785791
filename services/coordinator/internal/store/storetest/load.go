package storetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func loadClaims() []claim {
	return []claim{
		{"an absent record is not found", loadAbsent},
		{"a known version transfers no aggregate", loadKnown},
		{"another revision or token transfers it", loadUnknown},
		{"what is returned belongs to the caller", loadOwned},
		{"a spoiled guard field is corrupt and named", loadSpoiled},
		{"the clock never goes back", loadClock},
		{"the identity stays while the store does", loadIdentity},
	}
}

func loadAbsent(t trial) {
	_, err := t.Store.Load(t.Context(), orders(), store.Version{})
	require.ErrorIs(t, err, store.ErrNotFound)
	_, err = t.Store.Load(t.Context(), orders(), store.Version{Revision: 1, Token: "first"})
	require.ErrorIs(t, err, store.ErrNotFound)
}

func loadKnown(t trial) {
	version := heard(t, "m1", "m2")
	whole := loaded(t)
	part, err := t.Store.Load(t.Context(), orders(), version)
	require.NoError(t, err)
	require.Nil(t, part.Record)
	require.Equal(t, version, part.Version)
	require.Equal(t, whole.Liveness, part.Liveness)
	require.Equal(t, whole.ServedAt, part.ServedAt)
	require.Equal(t, whole.Identity, part.Identity)
	require.GreaterOrEqual(t, part.Clock, whole.Clock)
}

func loadUnknown(t trial) {
	version := created(t)
	for _, known := range []store.Version{
		{},
		{Revision: version.Revision + 1, Token: version.Token},
		{Revision: version.Revision, Token: "another"},
	} {
		snapshot, err := t.Store.Load(t.Context(), orders(), known)
		require.NoError(t, err)
		require.NotNil(t, snapshot.Record, known)
		require.Equal(t, version, snapshot.Version)
	}
}

func loadOwned(t trial) {
	heard(t, "m1")
	unchanged(t, func() {
		snapshot := loaded(t)
		clear(snapshot.Record.Aggregate)
		clear(snapshot.Liveness["m1"].Detail)
		delete(snapshot.Liveness, "m1")
	})
}

func loadSpoiled(t trial) {
	version := heard(t, "m1")
	for _, field := range []string{"revision", "token", "schemaVersion"} {
		key := store.Key{Stream: "spoiled", Group: field}
		createdAs(t, key)
		t.Spoil(t.T, key, field)
		_, err := t.Store.Load(t.Context(), key, store.Version{})
		require.ErrorIs(t, err, store.ErrCorrupt)
		require.NotErrorIs(t, err, store.ErrNotFound)
		var corrupt *store.CorruptError
		require.ErrorAs(t, err, &corrupt)
		require.Equal(t, field, corrupt.Field)
		require.Equal(t, key, corrupt.Key)
	}
	t.Spoil(t.T, orders(), "revision")
	_, err := t.Store.Touch(t.Context(), store.Touch{Key: orders(), Version: version})
	require.ErrorIs(t, err, store.ErrCorrupt)
	_, err = t.Store.Commit(t.Context(), commit(version))
	require.ErrorIs(t, err, store.ErrCorrupt)
	_, err = t.Store.Create(t.Context(), store.Create{Key: orders(), Token: "new", Aggregate: []byte("x")})
	require.ErrorIs(t, err, store.ErrExists)
}

func loadClock(t trial) {
	version := created(t)
	last, err := t.Store.Ping(t.Context())
	require.NoError(t, err)
	next := func(clock store.Millis) {
		require.GreaterOrEqual(t, clock, last)
		require.Positive(t, clock)
		last = clock
	}
	for range 5 {
		next(loaded(t).Clock)
		next(touched(t, store.Touch{Key: orders(), Version: version}).Clock)
		done := committed(t, commit(version))
		version = done.Version
		next(done.Clock)
		clock, err := t.Store.Ping(t.Context())
		require.NoError(t, err)
		next(clock)
	}
	t.Pass(t.T, 20*time.Millisecond)
	require.GreaterOrEqual(t, loaded(t).Clock, last)
}

func loadIdentity(t trial) {
	version := created(t)
	identity := loaded(t).Identity
	require.NotEmpty(t, identity)
	committed(t, commit(version))
	require.Equal(t, identity, loaded(t).Identity)
}
