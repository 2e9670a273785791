package storetest

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func commitClaims() []claim {
	return []claim{
		{"the structure is replaced and the revision rises by one", commitReplaces},
		{"an absent record is not found", commitAbsent},
		{"another revision is refused", commitOtherRevision},
		{"the same revision with another token is refused (T07)", commitOtherToken},
		{"the same commit again succeeds and writes nothing", commitAgain},
		{"liveness of members not heard stays (T3)", commitLeavesOthers},
		{"members heard are written with the structure", commitHears},
		{"forgotten members go with their successor (J6)", commitForgets},
		{"a member forgotten and heard in one commit begins anew", commitForgetsThenHears},
		{"every commit appends its event exactly once", commitHistory},
		{"a commit tells that the group is served", commitServes},
	}
}

func commitReplaces(t trial) {
	version := created(t)
	change := commit(version)
	change.Schema, change.Aggregate = 4, []byte(`{"n":22222}`)
	done := committed(t, change)
	require.Equal(t, store.Version{Revision: 2, Token: change.Token}, done.Version)
	require.Empty(t, done.Deadlines)
	require.Empty(t, done.Applied)

	snapshot := loaded(t)
	require.Equal(t, done.Version, snapshot.Version)
	require.Equal(t, 4, snapshot.Record.Schema)
	require.Equal(t, change.Aggregate, snapshot.Record.Aggregate)
	require.Equal(t, done.Version, snapshot.Record.Version)
}

func commitAbsent(t trial) {
	_, err := t.Store.Commit(t.Context(), commit(store.Version{Revision: 1, Token: "first"}))
	require.ErrorIs(t, err, store.ErrNotFound)
	_, err = t.Store.Load(t.Context(), orders(), store.Version{})
	require.ErrorIs(t, err, store.ErrNotFound, "a deleted key is never rebuilt (J1)")
}

func commitOtherRevision(t trial) {
	version := heard(t, "m1")
	for _, revision := range []int64{-1, 0, 2, 1 << 53, 1<<62 + 1} {
		unchanged(t, func() {
			change := commit(store.Version{Revision: revision, Token: version.Token})
			change.Beats, change.Event = []store.Beat{beat("m1", 2)}, []byte("no")
			_, err := t.Store.Commit(t.Context(), change)
			require.ErrorIs(t, err, store.ErrConflict)
		})
	}
}

func commitOtherToken(t trial) {
	version := heard(t, "m1")
	for _, token := range []string{"", "other", version.Token + " ", version.Token[1:]} {
		unchanged(t, func() {
			change := commit(store.Version{Revision: version.Revision, Token: token})
			change.Beats, change.Event = []store.Beat{beat("m1", 2)}, []byte("no")
			change.Newcomers = []store.Newcomer{{Member: "m1", Incarnation: "x"}}
			change.Forget = []string{"m1"}
			_, err := t.Store.Commit(t.Context(), change)
			require.ErrorIs(t, err, store.ErrConflict)
		})
	}
}

func commitAgain(t trial) {
	version := heard(t, "m1", "m2")
	change := commit(version)
	change.Event = []byte("joined")
	change.Beats = []store.Beat{beat("m1", 2), beat("m2", 1)}
	first := committed(t, change)
	require.Equal(t, []bool{true, false}, first.Applied)
	unchanged(t, func() {
		second := committed(t, change)
		require.Equal(t, first.Version, second.Version)
		require.Equal(t, first.Deadlines, second.Deadlines, "the lease is the one of the first time")
		require.True(t, second.Applied[0])
	})
	committed(t, commit(first.Version))
	unchanged(t, func() {
		_, err := t.Store.Commit(t.Context(), change)
		require.ErrorIs(t, err, store.ErrConflict, "another commit came after it")
	})
}

func commitLeavesOthers(t trial) {
	version := heard(t, "m1", "m2")
	touched(t, store.Touch{Key: orders(), Version: version, Newcomers: []store.Newcomer{{Member: "m2", Incarnation: "x"}}})
	before := loaded(t).Liveness
	t.Pass(t.T, 5*time.Millisecond)
	change := commit(version)
	change.Beats = []store.Beat{beat("m1", 2)}
	committed(t, change)
	after := loaded(t).Liveness
	require.Equal(t, before["m2"], after["m2"])
	require.NotEqual(t, before["m1"], after["m1"])
}

func commitHears(t trial) {
	version := heard(t, "m1")
	change := commit(version)
	change.Beats = []store.Beat{beat("m1", 2), beat("m3", 1), beat("m1", 2)}
	change.Newcomers = []store.Newcomer{{Member: "m1", Incarnation: "twin"}}
	done := committed(t, change)
	end := done.Clock.Add(lifetime)
	require.Equal(t, []store.Millis{end, end, end}, done.Deadlines)
	require.Equal(t, []bool{true, true, false}, done.Applied)
	state := loaded(t).Liveness
	require.Equal(t, end, state["m1"].Deadline)
	require.Equal(t, int64(2), state["m1"].Sequence)
	require.Equal(t, "twin", state["m1"].Successor)
	require.Equal(t, done.Clock, state["m1"].SuccessorAt)
	require.Equal(t, end, state["m3"].Deadline)
}

func commitForgets(t trial) {
	version := heard(t, "m1", "m2", "m3")
	touched(t, store.Touch{Key: orders(), Version: version, Newcomers: []store.Newcomer{{Member: "m1", Incarnation: "x"}}})
	change := commit(version)
	change.Forget = []string{"m1", "m3", "never-seen"}
	committed(t, change)
	state := loaded(t).Liveness
	require.Len(t, state, 1)
	require.Contains(t, state, "m2")
}

func commitForgetsThenHears(t trial) {
	version := created(t)
	touched(t, store.Touch{
		Key: orders(), Version: version,
		Beats: []store.Beat{beat("m1", 9)}, Newcomers: []store.Newcomer{{Member: "m1", Incarnation: "x"}},
	})
	change := commit(version)
	change.Forget = []string{"m1"}
	change.Beats = []store.Beat{beat("m1", 1)}
	require.Equal(t, []bool{true}, committed(t, change).Applied)
	state := loaded(t).Liveness["m1"]
	require.Equal(t, int64(1), state.Sequence)
	require.Empty(t, state.Successor)
}

func commitHistory(t trial) {
	version := created(t)
	want := [][]byte{[]byte("created")}
	for i := range 5 {
		change := commit(version)
		if i != 2 {
			change.Event = fmt.Appendf(nil, "event %d", i)
			want = append(want, change.Event)
		}
		stale := change
		version = committed(t, change).Version
		stale.Prev, stale.Token = store.Version{Revision: 99, Token: "x"}, "y"
		_, err := t.Store.Commit(t.Context(), stale)
		require.ErrorIs(t, err, store.ErrConflict)
	}
	require.Equal(t, want, t.History(t.T, orders()))
}

func commitServes(t trial) {
	done := committed(t, commit(created(t)))
	require.Equal(t, done.Clock, loaded(t).ServedAt)
}
