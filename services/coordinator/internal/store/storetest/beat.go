package storetest

import (
	"math"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

func beatClaims() []claim {
	return []claim{
		{"a beat is stored with the clock and deadline of the store", beatStored},
		{"a sequence not above the last is a repeat and writes nothing (E5)", beatSequence},
		{"sequences are compared as whole numbers of 64 bits", beatLargeSequence},
		{"without a sequence the request id tells a repeat (E5)", beatRequestID},
		{"without sequence and request id nothing is a repeat", beatUnnamed},
		{"another incarnation is no repeat", beatIncarnation},
		{"a forced beat is applied in any case", beatForced},
		{"a repeat never stretches the lease (E5)", beatRepeatKeepsLease},
		{"beats of one call are applied in order", beatOrder},
		{"a beat never moves the successor (J4)", beatKeepsSuccessor},
		{"a newcomer moves nothing else of the member (J4)", newcomerAlone},
		{"a newcomer alone is no liveness", newcomerFirst},
	}
}

// send touches orders() with one beat and tells whether it was applied.
func send(t trial, version store.Version, one store.Beat) bool {
	t.Helper()
	done := touched(t, store.Touch{Key: orders(), Version: version, Beats: []store.Beat{one}, ServedEvery: time.Hour})
	require.Len(t, done.Applied, 1)
	require.Len(t, done.Deadlines, 1)
	require.Equal(t, loaded(t).Liveness[one.Member].Deadline, done.Deadlines[0])
	return done.Applied[0]
}

func beatStored(t trial) {
	version := created(t)
	one := beat("10.0.0.1:9-m0", 5)
	done := touched(t, store.Touch{Key: orders(), Version: version, Beats: []store.Beat{one}})
	require.Equal(t, []bool{true}, done.Applied)
	require.Equal(t, []store.Millis{done.Clock.Add(lifetime)}, done.Deadlines)
	require.Equal(t, map[string]store.Liveness{"10.0.0.1:9-m0": {
		Deadline: done.Deadlines[0], HeardAt: done.Clock, Incarnation: "life-1", Sequence: 5,
		RequestID: "request", SyncVersion: 7, Detail: []byte("detail"),
	}}, loaded(t).Liveness)
}

func beatSequence(t trial) {
	version := created(t)
	require.True(t, send(t, version, beat("m1", 10)))
	for _, sequence := range []int64{10, 9, 1} {
		unchanged(t, func() {
			one := beat("m1", sequence)
			one.RequestID, one.SyncVersion, one.Detail = "other", 99, []byte("other")
			require.False(t, send(t, version, one), sequence)
		})
	}
	require.True(t, send(t, version, beat("m1", 11)))
	require.True(t, send(t, version, beat("m1", 100)))
	require.False(t, send(t, version, beat("m1", 99)))
}

func beatLargeSequence(t trial) {
	version := created(t)
	for _, sequence := range []int64{1 << 53, 1<<53 + 1, 1 << 62, 1<<62 + 1, math.MaxInt64 - 1, math.MaxInt64} {
		require.True(t, send(t, version, beat("m1", sequence)), sequence)
		require.False(t, send(t, version, beat("m1", sequence)), sequence)
		require.Equal(t, sequence, loaded(t).Liveness["m1"].Sequence)
	}
}

func beatRequestID(t trial) {
	version := created(t)
	one := beat("m1", 0)
	require.True(t, send(t, version, one))
	unchanged(t, func() { require.False(t, send(t, version, one)) })
	one.Sequence = -4
	unchanged(t, func() { require.False(t, send(t, version, one), "no sequence either") })
	one.RequestID = "request-2"
	require.True(t, send(t, version, one))
	require.Zero(t, loaded(t).Liveness["m1"].Sequence)
	one.RequestID = "request"
	require.True(t, send(t, version, one), "only the last request is remembered")
	one.Sequence = 1
	require.True(t, send(t, version, one), "with a sequence the request id does not count")
}

func beatUnnamed(t trial) {
	version := created(t)
	one := beat("m1", 0)
	one.RequestID, one.Incarnation, one.Detail = "", "", nil
	require.True(t, send(t, version, one))
	require.True(t, send(t, version, one))
	require.Empty(t, loaded(t).Liveness["m1"].Detail)
}

func beatIncarnation(t trial) {
	version := created(t)
	require.True(t, send(t, version, beat("m1", 10)))
	one := beat("m1", 3)
	one.Incarnation = "life-2"
	require.True(t, send(t, version, one))
	require.Equal(t, "life-2", loaded(t).Liveness["m1"].Incarnation)
	require.False(t, send(t, version, one))
	one.Incarnation, one.Sequence = "", 0
	require.True(t, send(t, version, one), "an old client's request id is compared with an old client's only")
}

func beatForced(t trial) {
	version := created(t)
	require.True(t, send(t, version, beat("m1", 10)))
	one := beat("m1", 4)
	one.Forced = true
	require.True(t, send(t, version, one))
	require.Equal(t, int64(4), loaded(t).Liveness["m1"].Sequence)
	require.True(t, send(t, version, one))
}

func beatRepeatKeepsLease(t trial) {
	version := created(t)
	one := beat("m1", 1)
	first := touched(t, store.Touch{Key: orders(), Version: version, Beats: []store.Beat{one}})
	t.Pass(t.T, 5*time.Millisecond)
	one.Lease = 2 * lifetime
	second := touched(t, store.Touch{Key: orders(), Version: version, Beats: []store.Beat{one}})
	require.Greater(t, second.Clock, first.Clock)
	require.Equal(t, first.Deadlines, second.Deadlines)
	one.Sequence, one.Lease = 2, 3*time.Second
	third := touched(t, store.Touch{Key: orders(), Version: version, Beats: []store.Beat{one}})
	require.Equal(t, third.Clock.Add(3*time.Second), third.Deadlines[0], "a shorter lease counts at once")
}

func beatOrder(t trial) {
	version := created(t)
	done := touched(t, store.Touch{Key: orders(), Version: version, Beats: []store.Beat{
		beat("m1", 2), beat("m2", 1), beat("m1", 1), beat("m1", 3), beat("m1", 3),
	}})
	require.Equal(t, []bool{true, true, false, true, false}, done.Applied)
	require.Equal(t, int64(3), loaded(t).Liveness["m1"].Sequence)
}

func beatKeepsSuccessor(t trial) {
	version := heard(t, "m1")
	asked := touched(t, store.Touch{Key: orders(), Version: version, Newcomers: []store.Newcomer{{Member: "m1", Incarnation: "twin"}}})
	t.Pass(t.T, 5*time.Millisecond)
	require.True(t, send(t, version, beat("m1", 2)))
	change := commit(version)
	change.Beats = []store.Beat{beat("m1", 3)}
	committed(t, change)
	state := loaded(t).Liveness["m1"]
	require.Equal(t, "twin", state.Successor)
	require.Equal(t, asked.Clock, state.SuccessorAt)
}

func newcomerAlone(t trial) {
	version := heard(t, "m1", "m2")
	before := loaded(t).Liveness
	t.Pass(t.T, 5*time.Millisecond)
	done := touched(t, store.Touch{
		Key: orders(), Version: version, ServedEvery: time.Hour,
		Newcomers: []store.Newcomer{{Member: "m1", Incarnation: "a"}, {Member: "m1", Incarnation: "b"}},
	})
	require.Empty(t, done.Deadlines)
	want := before["m1"]
	want.Successor, want.SuccessorAt = "b", done.Clock
	after := loaded(t).Liveness
	require.Equal(t, want, after["m1"])
	require.Equal(t, before["m2"], after["m2"])
}

func newcomerFirst(t trial) {
	version := created(t)
	done := touched(t, store.Touch{Key: orders(), Version: version, Newcomers: []store.Newcomer{{Member: "m1"}}})
	require.Equal(t, map[string]store.Liveness{"m1": {SuccessorAt: done.Clock}}, loaded(t).Liveness)
	one := beat("m1", 0)
	one.Incarnation, one.RequestID = "", ""
	require.True(t, send(t, version, one))
}
