package storetest

import (
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func deleteClaims() []claim {
	return []claim{
		{"a record goes with its liveness, its history stays", deleteGoes},
		{"an absent record is not found", deleteAbsent},
		{"another version is refused", deleteOtherVersion},
		{"the zero version never removes a readable record (M6)", deleteZeroReadable},
		{"the zero version removes an unreadable one (M6)", deleteZeroSpoiled},
		{"only the zero version removes an unreadable one", deleteVersionSpoiled},
	}
}

func deleteGoes(t trial) {
	version := heard(t, "m1")
	done, err := t.Store.Delete(t.Context(), orders(), version, nil)
	require.NoError(t, err)
	require.Positive(t, done.Clock)
	_, err = t.Store.Load(t.Context(), orders(), store.Version{})
	require.ErrorIs(t, err, store.ErrNotFound)
	require.Len(t, t.History(t.T, orders()), 1)

	created(t)
	require.Empty(t, loaded(t).Liveness, "made anew, nothing of the old liveness is left")
	require.Len(t, t.History(t.T, orders()), 2)
}

func deleteAbsent(t trial) {
	for _, version := range []store.Version{{}, {Revision: 1, Token: "first"}} {
		_, err := t.Store.Delete(t.Context(), orders(), version, nil)
		require.ErrorIs(t, err, store.ErrNotFound)
	}
}

func deleteOtherVersion(t trial) {
	version := heard(t, "m1")
	for _, other := range []store.Version{
		{Revision: version.Revision + 1, Token: version.Token},
		{Revision: version.Revision, Token: "other"},
		{Revision: version.Revision},
		{Token: version.Token},
	} {
		unchanged(t, func() {
			_, err := t.Store.Delete(t.Context(), orders(), other, nil)
			require.ErrorIs(t, err, store.ErrConflict)
		})
	}
}

func deleteZeroReadable(t trial) {
	heard(t, "m1")
	unchanged(t, func() {
		_, err := t.Store.Delete(t.Context(), orders(), store.Version{}, nil)
		require.ErrorIs(t, err, store.ErrConflict)
	})
}

func deleteZeroSpoiled(t trial) {
	for _, field := range []string{"revision", "token", "schemaVersion"} {
		key := store.Key{Stream: "spoiled", Group: field}
		createdAs(t, key)
		t.Spoil(t.T, key, field)
		_, err := t.Store.Delete(t.Context(), key, store.Version{}, nil)
		require.NoError(t, err)
		_, err = t.Store.Load(t.Context(), key, store.Version{})
		require.ErrorIs(t, err, store.ErrNotFound)
		createdAs(t, key)
	}
}

func deleteVersionSpoiled(t trial) {
	version := created(t)
	t.Spoil(t.T, orders(), "revision")
	_, err := t.Store.Delete(t.Context(), orders(), version, nil)
	require.ErrorIs(t, err, store.ErrCorrupt)
	_, err = t.Store.Load(t.Context(), orders(), store.Version{})
	require.ErrorIs(t, err, store.ErrCorrupt)
}
