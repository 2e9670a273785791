package memstore_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/memstore"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type hand struct{ millis atomic.Int64 }

func (h *hand) now() store.Millis { return store.Millis(h.millis.Load()) }

func (h *hand) pass(d time.Duration) { h.millis.Add(d.Milliseconds()) }

func open() (*memstore.Store, *hand) {
	clock := &hand{}
	clock.pass(time.Hour)
	return memstore.New(clock.now), clock
}

func TestContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) storetest.Harness {
		kept, clock := open()
		return storetest.Harness{
			Store:   kept,
			History: func(t *testing.T, key store.Key) [][]byte { t.Helper(); return history(t, kept, key) },
			Pass:    func(_ *testing.T, d time.Duration) { clock.pass(d) },
			Spoil:   func(_ *testing.T, key store.Key, field string) { kept.Spoil(key, field) },
		}
	})
}

// history returns what the events of the record say, oldest first.
func history(t *testing.T, kept *memstore.Store, key store.Key) [][]byte {
	t.Helper()
	found, err := kept.History(t.Context(), key, "", memstore.HistoryLength)
	require.NoError(t, err)
	events := make([][]byte, len(found))
	for i, e := range found {
		events[i] = e.Data
	}
	return events
}

func create(t *testing.T, kept *memstore.Store, key store.Key) store.Version {
	t.Helper()
	done, err := kept.Create(t.Context(), store.Create{Key: key, Token: "a", Aggregate: []byte("1"), Event: []byte("e")})
	require.NoError(t, err)
	return done.Version
}

func TestRestoreGoesBackInTimeAsOftenAsWanted(t *testing.T) {
	t.Parallel()
	kept, clock := open()
	key := store.Key{Stream: "orders", Group: "workers"}
	version := create(t, kept, key)
	image := kept.Dump()
	want, err := kept.Load(t.Context(), key, store.Version{})
	require.NoError(t, err)

	for range 3 {
		clock.pass(time.Second)
		_, err = kept.Commit(t.Context(), store.Commit{
			Key: key, Prev: version, Token: "b", Aggregate: []byte("2"), Event: []byte("f"),
			Beats: []store.Beat{{Member: "m", Sequence: 1, Lease: time.Minute}},
		})
		require.NoError(t, err)
		create(t, kept, store.Key{Stream: "other"})
		_, err = kept.Lease(t.Context(), key, time.Minute)
		require.NoError(t, err)

		kept.Restore(image)
		got, err := kept.Load(t.Context(), key, store.Version{})
		require.NoError(t, err)
		require.Greater(t, got.Clock, want.Clock, "the clock does not go back")
		got.Clock = want.Clock
		require.Equal(t, want, got)
		require.Len(t, history(t, kept, key), 1)
		keys, err := kept.List(t.Context())
		require.NoError(t, err)
		require.Equal(t, []store.Key{key}, keys)
	}
}

func TestAnotherIdentityRefusesCommitsOfTheFormerOne(t *testing.T) {
	t.Parallel()
	kept, _ := open()
	key := store.Key{Stream: "orders"}
	version := create(t, kept, key)
	kept.SetIdentity("after")
	change := store.Commit{Key: key, Prev: version, Token: "b", Identity: memstore.Identity}
	_, err := kept.Commit(t.Context(), change)
	require.ErrorIs(t, err, store.ErrConflict)
	change.Identity = "after"
	_, err = kept.Commit(t.Context(), change)
	require.NoError(t, err)
}

func TestServedAtOfAFutureClockIsReplaced(t *testing.T) {
	t.Parallel()
	kept, clock := open()
	key := store.Key{Stream: "orders"}
	touch := store.Touch{Key: key, Version: create(t, kept, key), ServedEvery: time.Hour}
	_, err := kept.Touch(t.Context(), touch)
	require.NoError(t, err)
	clock.pass(-time.Minute)
	done, err := kept.Touch(t.Context(), touch)
	require.NoError(t, err)
	snapshot, err := kept.Load(t.Context(), key, store.Version{})
	require.NoError(t, err)
	require.Equal(t, done.Clock, snapshot.ServedAt)
}

func TestHistoryKeepsTheNewestEvents(t *testing.T) {
	t.Parallel()
	kept, _ := open()
	key := store.Key{Stream: "orders"}
	version := create(t, kept, key)
	for i := range memstore.HistoryLength + 10 {
		done, err := kept.Commit(t.Context(), store.Commit{
			Key: key, Prev: version, Token: string(rune('b' + i%2)), Event: []byte{byte(i)},
		})
		require.NoError(t, err)
		version = done.Version
	}
	events := history(t, kept, key)
	require.Len(t, events, memstore.HistoryLength)
	require.Equal(t, []byte{byte((memstore.HistoryLength + 9) % 256)}, events[len(events)-1])
}
