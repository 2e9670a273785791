package pgstore_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/pgstore"
)

func orders() store.Key { return store.Key{Stream: "orders", Group: "workers"} }

// created makes the record of orders() and returns its version.
func created(t *testing.T, kept *pgstore.Store) store.Version {
	t.Helper()
	done, err := kept.Create(t.Context(), store.Create{
		Key: orders(), Token: "first", Schema: 1, Aggregate: []byte(`{"n":1}`), Event: []byte("created"),
	})
	require.NoError(t, err)
	return done.Version
}

// next returns a commit on prev.
func next(prev store.Version) store.Commit {
	return store.Commit{
		Key: orders(), Prev: prev, Token: "after-" + prev.Token, Schema: 1, Aggregate: []byte(`{"n":2}`), Event: []byte("changed"),
	}
}

// heard returns a touch that records one beat of a member at the version.
func heard(version store.Version, member string, sequence int64) store.Touch {
	return store.Touch{Key: orders(), Version: version, Identity: store.IdentityUnknown, Beats: []store.Beat{{
		Member: member, Incarnation: "life", Sequence: sequence, Lease: time.Hour,
	}}}
}

func loaded(t *testing.T, kept *pgstore.Store) store.Snapshot {
	t.Helper()
	snapshot, err := kept.Load(t.Context(), orders(), store.Version{})
	require.NoError(t, err)
	return snapshot
}

// unavailable requires that the store could not work, for the reason that state names.
func unavailable(t *testing.T, err error, state string) {
	t.Helper()
	_ = mayHaveWritten(t, err, state)
}

// mayHaveWritten requires that the store could not work, for the reason that state names, and
// returns whether the request may have had its effect.
func mayHaveWritten(t *testing.T, err error, state string) bool {
	t.Helper()
	var fault *store.UnavailableError
	require.ErrorAs(t, err, &fault)
	require.ErrorIs(t, err, store.ErrUnavailable)
	require.Equal(t, state, fault.State, "%v", err)
	return fault.Written
}

// together runs act n times at once and returns the errors.
func together(n int, act func(i int) error) []error {
	var group sync.WaitGroup
	results := make([]error, n)
	for i := range n {
		group.Go(func() {
			if err := act(i); err != nil {
				results[i] = fmt.Errorf("number %d: %w", i, err)
			}
		})
	}
	group.Wait()
	return results
}
