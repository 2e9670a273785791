package storetest

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func touchClaims() []claim {
	return []claim{
		{"an absent record is not found", touchAbsent},
		{"another revision writes nothing", touchOtherRevision},
		{"the same revision with another token writes nothing (T07)", touchOtherToken},
		{"structure, version and history stay", touchKeepsStructure},
		{"without beats it only tells that the group is served", touchEmpty},
		{"served is written no more often than asked", touchServedEvery},
		{"a thousand beats fit in one call", touchMany},
		{"a lease that runs is renewed without an identity", touchRunning},
		{"a lease that has run out is renewed with an identity only (H3, M1)", touchLapsed},
		{"a lease that is not known is renewed with an identity only (M1)", touchUnknown},
		{"a lease that has run out is not renewed by a beat that repeats either", touchLapsedRepeat},
		{"a forced beat begins a lease in any case", touchForced},
		{"the identity of another store is refused (M1)", touchOtherIdentity},
	}
}

// cachedRefused carries out a touch that rests on a state of some time ago, and wants it refused.
func cachedRefused(t trial, version store.Version, beats ...store.Beat) {
	t.Helper()
	unchanged(t, func() {
		_, err := t.Store.Touch(t.Context(), store.Touch{
			Key: orders(), Version: version, Beats: beats, Newcomers: []store.Newcomer{{Member: "m1", Incarnation: "x"}},
		})
		require.ErrorIs(t, err, store.ErrConflict)
	})
}

// brief makes a record with a member whose lease has run out, and one whose lease runs.
func brief(t trial) store.Version {
	t.Helper()
	version := heard(t, "running")
	one := beat("m1", 1)
	one.Lease = 5 * time.Millisecond
	touched(t, store.Touch{Key: orders(), Version: version, Beats: []store.Beat{one}})
	t.Pass(t.T, one.Lease)
	return version
}

func touchRunning(t trial) {
	version := brief(t)
	done, err := t.Store.Touch(t.Context(), store.Touch{Key: orders(), Version: version, Beats: []store.Beat{beat("running", 2)}})
	require.NoError(t, err)
	require.Equal(t, []bool{true}, done.Applied)
	require.Equal(t, []store.Millis{done.Clock.Add(lifetime)}, done.Deadlines)
}

func touchLapsed(t trial) {
	version := brief(t)
	cachedRefused(t, version, beat("m1", 2))
	cachedRefused(t, version, beat("running", 2), beat("m1", 2), beat("running", 3))
	for i, identity := range []string{loaded(t).Identity, store.IdentityUnknown} {
		one := beat("m1", int64(i)+2)
		one.Lease = 5 * time.Millisecond
		done := touched(t, store.Touch{Key: orders(), Version: version, Identity: identity, Beats: []store.Beat{one, beat("running", int64(i)+2)}})
		require.Equal(t, []bool{true, true}, done.Applied)
		require.Equal(t, done.Clock.Add(one.Lease), done.Deadlines[0])
		t.Pass(t.T, one.Lease)
	}
}

func touchUnknown(t trial) {
	version := heard(t, "running")
	cachedRefused(t, version, beat("m1", 1))
	touched(t, store.Touch{Key: orders(), Version: version, Newcomers: []store.Newcomer{{Member: "m1", Incarnation: "x"}}})
	cachedRefused(t, version, beat("running", 2), beat("m1", 1))
	done := touched(t, store.Touch{Key: orders(), Version: version, Identity: loaded(t).Identity, Beats: []store.Beat{beat("m1", 1)}})
	require.Equal(t, []bool{true}, done.Applied)
}

func touchLapsedRepeat(t trial) {
	version := brief(t)
	cachedRefused(t, version, beat("m1", 1))
	old := beat("m1", 0)
	old.Incarnation = ""
	cachedRefused(t, version, old)
}

func touchForced(t trial) {
	version := brief(t)
	again, first := beat("m1", 1), beat("m2", 1)
	again.Forced, first.Forced = true, true
	done, err := t.Store.Touch(t.Context(), store.Touch{Key: orders(), Version: version, Beats: []store.Beat{again, first}})
	require.NoError(t, err)
	require.Equal(t, []bool{true, true}, done.Applied)
}

func touchOtherIdentity(t trial) {
	version := heard(t, "m1")
	for _, identity := range []string{"another", loaded(t).Identity + "x"} {
		unchanged(t, func() {
			_, err := t.Store.Touch(t.Context(), store.Touch{
				Key: orders(), Version: version, Identity: identity, Beats: []store.Beat{beat("m1", 2)},
			})
			require.ErrorIs(t, err, store.ErrConflict)
		})
	}
}

func touchAbsent(t trial) {
	_, err := t.Store.Touch(t.Context(), store.Touch{Key: orders(), Version: store.Version{Revision: 1, Token: "first"}})
	require.ErrorIs(t, err, store.ErrNotFound)
	_, err = t.Store.Load(t.Context(), orders(), store.Version{})
	require.ErrorIs(t, err, store.ErrNotFound)
}

func conflicting(t trial, version store.Version) {
	t.Helper()
	unchanged(t, func() {
		_, err := t.Store.Touch(t.Context(), store.Touch{
			Key: orders(), Version: version, Beats: []store.Beat{beat("m1", 2), beat("m2", 1)},
			Newcomers: []store.Newcomer{{Member: "m1", Incarnation: "x"}},
		})
		require.ErrorIs(t, err, store.ErrConflict)
	})
}

func touchOtherRevision(t trial) {
	version := heard(t, "m1")
	for _, revision := range []int64{-1, 0, 2, 1<<62 + 1} {
		conflicting(t, store.Version{Revision: revision, Token: version.Token})
	}
	committed(t, commit(version))
	conflicting(t, version)
}

func touchOtherToken(t trial) {
	version := heard(t, "m1")
	for _, token := range []string{"", "other", version.Token + " "} {
		conflicting(t, store.Version{Revision: version.Revision, Token: token})
	}
}

func touchKeepsStructure(t trial) {
	version := created(t)
	before := loaded(t)
	for sequence := range int64(5) {
		require.True(t, send(t, version, beat("m1", sequence+1)))
	}
	after := loaded(t)
	require.Equal(t, before.Record, after.Record)
	require.Len(t, t.History(t.T, orders()), 1)
}

func touchEmpty(t trial) {
	version := heard(t, "m1")
	before := loaded(t)
	t.Pass(t.T, 5*time.Millisecond)
	done := touched(t, store.Touch{Key: orders(), Version: version})
	require.Empty(t, done.Deadlines)
	require.Empty(t, done.Applied)
	after := loaded(t)
	require.Equal(t, done.Clock, after.ServedAt)
	require.Greater(t, after.ServedAt, before.ServedAt)
	require.Equal(t, before.Record, after.Record)
	require.Equal(t, before.Liveness, after.Liveness)
}

func touchServedEvery(t trial) {
	version := created(t)
	first := touched(t, store.Touch{Key: orders(), Version: version, ServedEvery: time.Hour})
	require.Equal(t, first.Clock, loaded(t).ServedAt, "the first time is always written")
	t.Pass(t.T, 5*time.Millisecond)
	touched(t, store.Touch{Key: orders(), Version: version, ServedEvery: time.Hour, Beats: []store.Beat{beat("m1", 1)}})
	require.Equal(t, first.Clock, loaded(t).ServedAt)
	third := touched(t, store.Touch{Key: orders(), Version: version, ServedEvery: 4 * time.Millisecond})
	require.Equal(t, third.Clock, loaded(t).ServedAt)
}

func touchMany(t trial) {
	const members = 1500
	version := created(t)
	touch := store.Touch{Key: orders(), Version: version}
	change := commit(version)
	change.Unmoved = make(map[string]store.Observed, members)
	for i := range members {
		touch.Beats = append(touch.Beats, beat(fmt.Sprintf("m%d", i), 1))
		touch.Newcomers = append(touch.Newcomers, store.Newcomer{Member: fmt.Sprintf("m%d", i), Incarnation: "x"})
	}
	touched(t, touch)
	snapshot := loaded(t)
	require.Len(t, snapshot.Liveness, members)
	part, err := t.Store.Load(t.Context(), orders(), version)
	require.NoError(t, err)
	require.Equal(t, snapshot.Liveness, part.Liveness)

	for member, state := range snapshot.Liveness {
		change.Unmoved[member] = observe(state)
		change.Forget = append(change.Forget, member)
	}
	change.Beats = []store.Beat{beat("last", 1)}
	committed(t, change)
	require.Len(t, loaded(t).Liveness, 1)
}
