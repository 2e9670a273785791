package storetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func guardClaims() []claim {
	return []claim{
		{"a commit on liveness that has not moved is written (T3)", guardUnmoved},
		{"a commit on a deadline that has moved is refused (T3, T05)", guardDeadlineMoved},
		{"a commit on a sequence that has moved is refused (T3)", guardSequenceMoved},
		{"a member without liveness is observed as zero", guardAbsent},
		{"the identity of this store is accepted, none is no evidence", guardIdentity},
		{"the identity of another store is refused (MUT35)", guardOtherIdentity},
		{"the lease that is held is accepted", guardLease},
		{"a lease that is not held is refused", guardLostLease},
	}
}

func observe(state store.Liveness) store.Observed {
	return store.Observed{Deadline: state.Deadline, Sequence: state.Sequence}
}

func refused(t trial, change store.Commit) {
	t.Helper()
	change.Event = []byte("no")
	change.Beats = append(change.Beats, beat("m9", 1))
	unchanged(t, func() {
		_, err := t.Store.Commit(t.Context(), change)
		require.ErrorIs(t, err, store.ErrConflict)
	})
}

func guardUnmoved(t trial) {
	change := commit(heard(t, "m1", "m2"))
	state := loaded(t).Liveness
	change.Unmoved = map[string]store.Observed{"m1": observe(state["m1"]), "m2": observe(state["m2"])}
	change.Beats = []store.Beat{beat("m1", 2)}
	committed(t, change)
}

func guardDeadlineMoved(t trial) {
	version := heard(t, "m1", "m2")
	state := loaded(t).Liveness
	t.Pass(t.T, 5*time.Millisecond)
	one := beat("m1", 1)
	one.Forced = true
	require.Equal(t, []bool{true}, touched(t, store.Touch{Key: orders(), Version: version, Beats: []store.Beat{one}}).Applied)
	change := commit(version)
	change.Unmoved = map[string]store.Observed{"m1": observe(state["m1"]), "m2": observe(state["m2"])}
	refused(t, change)
}

func guardSequenceMoved(t trial) {
	version := created(t)
	for _, sequence := range []int64{4, 1<<53 + 1, 1<<62 + 3} {
		touched(t, store.Touch{Key: orders(), Version: version, Beats: []store.Beat{beat("m1", sequence)}})
		change := commit(version)
		seen := observe(loaded(t).Liveness["m1"])
		seen.Sequence--
		change.Unmoved = map[string]store.Observed{"m1": seen}
		refused(t, change)
	}
}

func guardAbsent(t trial) {
	version := heard(t, "m1")
	change := commit(version)
	change.Unmoved = map[string]store.Observed{"m1": {}}
	refused(t, change)
	change.Unmoved = map[string]store.Observed{"m2": observe(loaded(t).Liveness["m1"])}
	refused(t, change)
	touched(t, store.Touch{Key: orders(), Version: version, Newcomers: []store.Newcomer{{Member: "m2", Incarnation: "x"}}})
	change.Unmoved = map[string]store.Observed{"m2": {}, "m3": {}}
	committed(t, change)
}

func guardIdentity(t trial) {
	version := created(t)
	for _, identity := range []string{"", store.IdentityUnknown, loaded(t).Identity} {
		change := commit(version)
		change.Identity = identity
		version = committed(t, change).Version
	}
}

func guardOtherIdentity(t trial) {
	change := commit(created(t))
	for _, identity := range []string{"another", loaded(t).Identity + "x"} {
		change.Identity = identity
		refused(t, change)
	}
}

func guardLease(t trial) {
	change := commit(created(t))
	lease, err := t.Store.Lease(t.Context(), orders(), lifetime)
	require.NoError(t, err)
	change.Lease = lease.Token()
	done := committed(t, change)
	other := commit(done.Version)
	committed(t, other)
	require.NoError(t, lease.Release(t.Context()), "commits without the lease go on meanwhile")
}

func guardLostLease(t trial) {
	change := commit(created(t))
	change.Lease = "never-held"
	refused(t, change)

	lease, err := t.Store.Lease(t.Context(), orders(), lifetime)
	require.NoError(t, err)
	refused(t, change)
	change.Lease = lease.Token()
	require.NoError(t, lease.Release(t.Context()))
	refused(t, change)

	short, err := t.Store.Lease(t.Context(), orders(), 20*time.Millisecond)
	require.NoError(t, err)
	t.Pass(t.T, 30*time.Millisecond)
	change.Lease = short.Token()
	refused(t, change)
}
