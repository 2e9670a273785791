// Package storetest is the one conformance suite of the coordinator's stores: each
// sentence of the contract in package store is a test here. A store's own test file
// calls Run and adds what only that store has.
//
// Faulty wraps any store and makes it fail on command, for tests of what uses a store.
package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Harness is an empty store under test with what the contract does not show.
type Harness struct {
	Store store.Archive
	// History returns the events of the record's history, oldest first, read by other
	// means than the store's own.
	History func(t *testing.T, key store.Key) [][]byte
	// Pass returns when the store's clock has moved by at least d.
	Pass func(t *testing.T, d time.Duration)
	// Spoil makes the record's guard field, "revision", "token" or "schemaVersion",
	// unreadable.
	Spoil func(t *testing.T, key store.Key, field string)
}

// claim is one sentence of the contract.
type claim struct {
	name  string
	check func(t trial)
}

// trial is one claim on trial: its test and its store.
type trial struct {
	*testing.T
	Harness
}

// Run checks the whole contract. Each claim gets a Harness of its own from open, and
// they run in parallel.
func Run(t *testing.T, open func(t *testing.T) Harness) {
	t.Helper()
	parts := map[string][]claim{
		"create":    createClaims(),
		"load":      loadClaims(),
		"commit":    commitClaims(),
		"guard":     guardClaims(),
		"beat":      beatClaims(),
		"touch":     touchClaims(),
		"delete":    deleteClaims(),
		"list":      listClaims(),
		"history":   historyClaims(),
		"lease":     leaseClaims(),
		"race":      raceClaims(),
		"malformed": malformedClaims(),
		"peers":     peerClaims(),
	}
	for part, claims := range parts {
		for _, c := range claims {
			t.Run(part+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				c.check(trial{t, open(t)})
			})
		}
	}
}

// lifetime is a member lease that does not run out during a test, however slow the machine.
const lifetime = time.Hour

func orders() store.Key { return store.Key{Stream: "orders", Group: "workers"} }

// created makes the record of orders() and returns its version.
func created(t trial) store.Version {
	t.Helper()
	return createdAs(t, orders())
}

func createdAs(t trial, key store.Key) store.Version {
	t.Helper()
	done, err := t.Store.Create(t.Context(), store.Create{
		Key: key, Token: "first", Schema: 3, Aggregate: []byte(`{"n":1}`), Event: []byte("created"),
	})
	require.NoError(t, err)
	return done.Version
}

// commit returns a commit on prev that changes the aggregate and nothing else.
func commit(prev store.Version) store.Commit {
	return store.Commit{
		Key: orders(), Prev: prev, Token: "next-" + prev.Token, Schema: 3, Aggregate: []byte(`{"n":2}`),
	}
}

func committed(t trial, c store.Commit) store.Committed {
	t.Helper()
	done, err := t.Store.Commit(t.Context(), c)
	require.NoError(t, err)
	return done
}

// touched carries out a touch as one that rests on a state just loaded, if it does not say so.
func touched(t trial, touch store.Touch) store.Touched {
	t.Helper()
	if touch.Identity == "" {
		touch.Identity = store.IdentityUnknown
	}
	done, err := t.Store.Touch(t.Context(), touch)
	require.NoError(t, err)
	return done
}

func loaded(t trial) store.Snapshot {
	t.Helper()
	return loadedAs(t, orders())
}

func loadedAs(t trial, key store.Key) store.Snapshot {
	t.Helper()
	snapshot, err := t.Store.Load(t.Context(), key, store.Version{})
	require.NoError(t, err)
	require.NotNil(t, snapshot.Record)
	return snapshot
}

func beat(member string, sequence int64) store.Beat {
	return store.Beat{
		Member: member, Incarnation: "life-1", Sequence: sequence, RequestID: "request",
		SyncVersion: 7, Detail: []byte("detail"), Lease: lifetime,
	}
}

// heard makes a record of orders() with one beat of each member at sequence 1.
func heard(t trial, members ...string) store.Version {
	t.Helper()
	version := created(t)
	touch := store.Touch{Key: orders(), Version: version}
	for _, member := range members {
		touch.Beats = append(touch.Beats, beat(member, 1))
	}
	touched(t, touch)
	return version
}

// unchanged runs act and requires that nothing stored has changed by it.
func unchanged(t trial, act func()) {
	t.Helper()
	before, history := loaded(t), t.History(t.T, orders())
	act()
	after := loaded(t)
	before.Clock, after.Clock = 0, 0
	require.Equal(t, before, after)
	require.Equal(t, history, t.History(t.T, orders()))
}
