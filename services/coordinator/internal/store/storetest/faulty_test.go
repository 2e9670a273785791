package storetest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/memstore"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/storetest"
)

func TestFaultBeforeKeepsACallFromTheStoreAndAfterLosesItsAnswer(t *testing.T) {
	t.Parallel()
	faulty := storetest.NewFaulty(memstore.New(func() store.Millis { return 1 }))
	lost := &store.UnavailableError{State: "TIMEOUT", Written: true, Cause: context.DeadlineExceeded}
	key := store.Key{Stream: "orders"}
	fault := func(_ context.Context, call storetest.Call) error {
		if call == (storetest.Call{Op: "Create", Key: key}) {
			return lost
		}
		return nil
	}

	faulty.Before(fault)
	_, err := faulty.Create(t.Context(), store.Create{Key: key, Token: "a"})
	require.ErrorIs(t, err, store.ErrUnavailable)
	_, err = faulty.Load(t.Context(), key, store.Version{})
	require.ErrorIs(t, err, store.ErrNotFound)
	_, err = faulty.History(t.Context(), key, "", 1)
	require.ErrorIs(t, err, store.ErrNotFound)

	faulty.Before(nil)
	faulty.After(fault)
	_, err = faulty.Create(t.Context(), store.Create{Key: key, Token: "a"})
	require.ErrorIs(t, err, lost)
	snapshot, err := faulty.Load(t.Context(), key, store.Version{})
	require.NoError(t, err)
	require.Equal(t, "a", snapshot.Version.Token)

	faulty.After(func(_ context.Context, call storetest.Call) error {
		if call == (storetest.Call{Op: "History", Key: key}) {
			return lost
		}
		return nil
	})
	_, err = faulty.History(t.Context(), key, "", 1)
	require.ErrorIs(t, err, lost)
	faulty.After(nil)
	_, err = faulty.Create(t.Context(), store.Create{Key: key, Token: "b"})
	require.ErrorIs(t, err, store.ErrExists)
}
