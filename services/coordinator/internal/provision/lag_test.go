package provision

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// sealsOnly checks which accepted proofs seal the shard 0 as it is, sealing it at the end
// with the last of them that does.
func (b *bench) sealsOnly(reason protocol.DrainReason, proofs ...protocol.DrainProof) {
	b.t.Helper()
	b.mark(1, sealing())
	for _, proof := range []protocol.DrainProof{"", protocol.ProofLag} {
		f := b.seal(0, RetainForever, proof)
		require.Equal(b.t, reason, f.Reason, "%s", proof)
		require.False(b.t, f.Sealed)
	}
	for _, proof := range proofs {
		f := b.seal(0, RetainForever, proof)
		require.True(b.t, f.Sealed)
		require.Empty(b.t, f.Reason)
		require.Equal(b.t, proof, f.Proof)
		require.NoError(b.t, b.Unseal(b.t.Context(), "orders", []int{0}, sealing(), groups()))
	}
	if len(proofs) > 0 {
		return
	}
	for _, proof := range []protocol.DrainProof{protocol.ProofTail, protocol.ProofConfirmed} {
		f := b.seal(0, RetainForever, proof)
		require.Equal(b.t, reason, f.Reason, "%s does not help", proof)
		require.False(b.t, f.Sealed)
		require.Empty(b.t, f.Proof)
	}
}

// TestFieldF01LagTooHighAfterXDEL: the entry that is there decides, and the lag that
// Redis gives is not shown, as it is above what the stream holds.
func TestFieldF01LagTooHighAfterXDEL(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.mark(1, preparing())
	b.do("XGROUP", "CREATE", "orders:0", "g", "$", "MKSTREAM")
	b.do("XADD", "orders:0", "0-1", "f", "v")
	b.do("XADD", "orders:0", "0-2", "f", "v")
	b.read("g", 2)
	b.do("XADD", "orders:0", "0-3", "f", "v")
	b.do("XADD", "orders:0", "0-4", "f", "v")
	b.do("XDEL", "orders:0", "0-1", "0-2")
	b.do("XDEL", "orders:0", "0-3")
	f := b.prove(0, "g")
	require.Equal(t, judged{reason: protocol.DrainUnread, group: "g", tail: "0-4", pending: "2", lag: "?"}, judgedOf(f))
	b.sealsOnly(protocol.DrainUnread)

	b.read("g", 1)
	require.Equal(t, protocol.DrainPending, b.prove(0, "g").Reason)
	b.sealsOnly(protocol.DrainPending)
	b.do("XACK", "orders:0", "g", "0-1", "0-2", "0-4")
	require.Equal(t, judged{reason: protocol.DrainLagContradicts, group: "g", pending: "0", lag: "1"}, judgedOf(b.prove(0, "g")))
	b.sealsOnly(protocol.DrainLagContradicts, protocol.ProofTail, protocol.ProofConfirmed)
}

// TestFieldF02LagStaysAfterXTRIM: nothing is unread and the lag says three for ever. It is
// told with both facts, and an empty tail is enough only for who accepts it (L9).
func TestFieldF02LagStaysAfterXTRIM(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.mark(1, preparing())
	for _, id := range []string{"1-0", "2-0", "3-0", "4-0", "5-0"} {
		b.do("XADD", "orders:0", id, "f", "v")
	}
	b.make(1)
	b.read("g", 1)
	b.do("XTRIM", "orders:0", "MAXLEN", 1)
	b.read("g", 1)
	b.do("XACK", "orders:0", "g", "1-0", "5-0")
	f := b.prove(0, "g")
	require.Equal(t, judged{reason: protocol.DrainLagContradicts, group: "g", pending: "0", lag: "3"}, judgedOf(f))
	require.Equal(t, "5-0", f.LastID)
	require.Equal(t, "5-0", f.Groups[0].LastDelivered)
	b.sealsOnly(protocol.DrainLagContradicts, protocol.ProofTail, protocol.ProofConfirmed)

	b.do("XADD", "orders:0", "6-0", "f", "v")
	require.Equal(t, protocol.DrainUnread, b.prove(0, "g").Reason)
	b.sealsOnly(protocol.DrainUnread)
}

// TestFieldF03EntriesReadByHand: a lag below 0 is unknown, and a lag of 0 in front of
// unread entries is no proof.
func TestFieldF03EntriesReadByHand(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		entries int
		place   []any // behind XGROUP
		want    judged
		proofs  []protocol.DrainProof
	}{
		"a negative lag": {
			entries: 1, place: []any{"CREATE", "orders:0", "g", "$", "ENTRIESREAD", 100},
			want:   judged{reason: protocol.DrainLagUnknown, group: "g", pending: "0", lag: "?"},
			proofs: []protocol.DrainProof{protocol.ProofTail, protocol.ProofConfirmed},
		},
		"a lag of 0 with five unread": {
			entries: 5, place: []any{"CREATE", "orders:0", "g", "0", "ENTRIESREAD", 5},
			want: judged{reason: protocol.DrainUnread, group: "g", tail: "1-0", pending: "0", lag: "?"},
		},
		"a negative lag with five unread": {
			entries: 5, place: []any{"CREATE", "orders:0", "g", "0", "ENTRIESREAD", 9},
			want: judged{reason: protocol.DrainUnread, group: "g", tail: "1-0", pending: "0", lag: "?"},
		},
		"a lag of 0 with two unread, by SETID": {
			entries: 5, place: []any{"SETID", "orders:0", "g", "3-0", "ENTRIESREAD", 5},
			want: judged{reason: protocol.DrainUnread, group: "g", tail: "4-0", pending: "0", lag: "?"},
		},
		"a lag above 0 with nothing unread, by SETID": {
			entries: 5, place: []any{"SETID", "orders:0", "g", "9-0", "ENTRIESREAD", 2},
			want:   judged{reason: protocol.DrainLagContradicts, group: "g", pending: "0", lag: "3"},
			proofs: []protocol.DrainProof{protocol.ProofTail, protocol.ProofConfirmed},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := onRedis(t)
			b.mark(1, preparing())
			for i := range test.entries {
				b.do("XADD", "orders:0", i+1, "f", "v")
			}
			if test.place[0] == "SETID" {
				b.make(1)
			}
			b.do(append([]any{"XGROUP"}, test.place...)...)
			require.Equal(t, test.want, judgedOf(b.prove(0, "g")))
			b.sealsOnly(test.want.reason, test.proofs...)
		})
	}
}

// TestFieldF04NullLagIsNotZero: the last unread entry is deleted, and Redis does not know.
func TestFieldF04NullLagIsNotZero(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.made(1)
	for _, id := range []string{"1-0", "2-0", "3-0"} {
		b.do("XADD", "orders:0", id, "f", "v")
	}
	b.read("g", 1)
	b.do("XDEL", "orders:0", "3-0")
	require.Equal(t, judged{reason: protocol.DrainUnread, group: "g", tail: "2-0", pending: "1", lag: "?"}, judgedOf(b.prove(0, "g")))
	b.do("XDEL", "orders:0", "2-0")
	b.do("XACK", "orders:0", "g", "1-0")
	f := b.prove(0, "g")
	require.Equal(t, judged{reason: protocol.DrainLagUnknown, group: "g", pending: "0", lag: "?"}, judgedOf(f))
	require.Nil(t, f.Groups[0].Lag)
	require.Equal(t, int64(1), *f.Groups[0].EntriesRead)
	b.sealsOnly(protocol.DrainLagUnknown, protocol.ProofTail, protocol.ProofConfirmed)
}

// TestFieldF05LagIsUnknownAfterAFailover until the group reads to the tail.
func TestFieldF05LagIsUnknownAfterAFailover(t *testing.T) {
	t.Parallel()
	primary, replica := redisproc.Start(t), redisproc.Start(t)
	client := primary.Client(t)
	b := newBench(t, client)
	b.made(1)
	replica.Follow(t, primary)
	for _, id := range []string{"1-0", "2-0", "3-0", "4-0"} {
		b.do("XADD", "orders:0", id, "f", "v")
	}
	b.read("g", 2)
	b.do("XACK", "orders:0", "g", "1-0", "2-0")
	require.Equal(t, judged{reason: protocol.DrainUnread, group: "g", tail: "3-0", pending: "0", lag: "2"}, judgedOf(b.prove(0, "g")))
	replicated, err := client.Wait(t.Context(), 1, patience).Result()
	require.NoError(t, err)
	require.EqualValues(t, 1, replicated)

	replica.Promote(t)
	b = newBench(t, replica.Client(t))
	require.Equal(t, judged{reason: protocol.DrainUnread, group: "g", tail: "3-0", pending: "0", lag: "?"}, judgedOf(b.prove(0, "g")))
	b.do("XDEL", "orders:0", "3-0", "4-0")
	require.Equal(t, protocol.DrainLagUnknown, b.prove(0, "g").Reason)
	b.sealsOnly(protocol.DrainLagUnknown, protocol.ProofTail)
	b.handled("5-0")
	require.Empty(t, b.prove(0, "g").Reason, "the group has reached the tail")
}

// TestFieldF24TrimmedEntriesStayPending until the recovery of the readers clears them.
func TestFieldF24TrimmedEntriesStayPending(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.made(1)
	for _, id := range []string{"1-0", "2-0", "3-0", "4-0", "5-0"} {
		b.do("XADD", "orders:0", id, "f", "v")
	}
	b.read("g", 5)
	b.do("XTRIM", "orders:0", "MAXLEN", 0)
	require.Equal(t, judged{reason: protocol.DrainPending, group: "g", consumer: "c", pending: "5", lag: "0"}, judgedOf(b.prove(0, "g")))
	b.sealsOnly(protocol.DrainPending)
	b.do("XAUTOCLAIM", "orders:0", "g", "c", 0, "0")
	require.Empty(t, b.prove(0, "g").Reason)
}

// TestFieldF13FlushedShardIsMissingAndMadeAgain: nothing is read into a lost shard, and
// the marker, which is lost too, has to be set again before anything is made.
func TestFieldF13FlushedShardIsMissingAndMadeAgain(t *testing.T) {
	t.Parallel()
	b := onRedis(t)
	b.made(1)
	b.do("FLUSHALL")
	require.Equal(t, protocol.DrainStreamMissing, b.prove(0, "g").Reason)
	_, err := b.Remake(t.Context(), "orders", 0, preparing(), map[string]string{"g": "0"})
	require.ErrorIs(t, err, ErrStale)
	require.Zero(t, b.rdb.DBSize(t.Context()).Val())

	b.mark(1, preparing())
	made, err := b.Remake(t.Context(), "orders", 0, preparing(), map[string]string{"g": "0"})
	require.NoError(t, err)
	require.Equal(t, []string{"g"}, made)
	require.Empty(t, b.prove(0, "g").Reason)

	b.do("XGROUP", "DESTROY", "orders:0", "g")
	f := b.prove(0, "g")
	require.Equal(t, protocol.DrainGroupMissing, f.Reason)
	require.Equal(t, []string{"g"}, f.Missing)
}
