package reshard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// unknownLag leaves a shard whose lag Redis does not know: its last entry was deleted
// unread.
func (b *bench) unknownLag(index int) {
	b.t.Helper()
	b.do("XADD", b.key(index), "1-1", "f", "v")
	b.do("XREADGROUP", "GROUP", "a", "c", "STREAMS", b.key(index), ">")
	b.do("XACK", b.key(index), "a", "1-1")
	b.do("XADD", b.key(index), "1-2", "f", "v")
	b.do("XDEL", b.key(index), "1-2")
}

// wrongLag leaves a shard whose lag is above 0 though nothing is unread: it was trimmed
// past the group.
func (b *bench) wrongLag(index int) {
	b.t.Helper()
	for _, id := range []string{"1-1", "1-2", "1-3", "1-4", "1-5"} {
		b.do("XADD", b.key(index), id, "f", "v")
	}
	b.do("XREADGROUP", "GROUP", "a", "c", "COUNT", 1, "STREAMS", b.key(index), ">")
	b.do("XTRIM", b.key(index), "MAXLEN", 1)
	b.do("XREADGROUP", "GROUP", "a", "c", "COUNT", 1, "STREAMS", b.key(index), ">")
	b.do("XACK", b.key(index), "a", "1-1", "1-5")
}

// L9, F02, F05: a lag that is no lag keeps the shard with its name, and an operator's word
// ends that.
func TestFieldF02ShardWithoutATrueLagEndsOnAnOperatorsWord(t *testing.T) {
	t.Parallel()
	tests := []struct {
		reason protocol.DrainReason
		spoil  func(b *bench, index int)
	}{
		{protocol.DrainLagUnknown, (*bench).unknownLag},
		{protocol.DrainLagContradicts, (*bench).wrongLag},
	}
	for _, test := range tests {
		t.Run(string(test.reason), func(t *testing.T) {
			t.Parallel()
			b := open(t, 2, "a")
			test.spoil(b, 1)
			m := b.join("a", "a-1")
			m.skips = []int{1}
			id := b.scaled(1)
			b.keptFor(id, 1, test.reason)
			require.EqualValues(t, 0, *b.drain(id, 1).Pending)
			require.Nil(t, b.drain(id, 1).TailID)
			requireCode(t, b.confirm(id, 0), protocol.CodeDrainNotConfirmable)
			requireCode(t, b.confirm(id, 7), protocol.CodeDrainNotConfirmable)
			requireCode(t, b.confirm("unknown", 1), protocol.CodeMigrationNotFound)
			b.publish(1, 1)
			b.keptFor(id, 1, protocol.DrainUnread)
			requireCode(t, b.confirm(id, 1), protocol.CodeDrainNotConfirmable)
			b.do("XREADGROUP", "GROUP", "a", "c", "STREAMS", b.key(1), ">")
			b.keptFor(id, 1, protocol.DrainPending)
			requireCode(t, b.confirm(id, 1), protocol.CodeDrainNotConfirmable)
			spoilAgain(b) // before the last pending record goes: at no moment is the shard proven empty
			b.do("XGROUP", "DELCONSUMER", b.key(1), "a", "c")
			b.keptFor(id, 1, protocol.DrainLagUnknown)
			require.NoError(t, b.confirm(id, 1))
			b.becomes(id, protocol.MigrationDeprecated)
			require.Equal(t, protocol.ProofConfirmed, *b.drain(id, 1).Proof)
			shard := b.stream().Past[0].Shards[0]
			require.Equal(t, "ops", shard.Confirmed.RequestedBy)
			require.Equal(t, "looked at it", shard.Confirmed.Reason)
			require.Contains(t, shard.Evidence, "group a")
			require.Contains(t, shard.Evidence, "lag unknown")
			requireCode(t, b.confirm(id, 1), protocol.CodeDrainNotConfirmable)
		})
	}
}

// spoilAgain deletes an entry that nobody has read.
func spoilAgain(b *bench) {
	b.t.Helper()
	id, isText := b.do("XADD", b.key(1), "*", "f", "v").(string)
	require.True(b.t, isText)
	b.do("XDEL", b.key(1), id)
}

// L9: coordination.drain.accept-tail-proof makes it automatic, and shows it.
func TestL9TailProofIsTakenWhereItIsAllowed(t *testing.T) {
	t.Parallel()
	b := newBench(t, redisproc.Start(t).Client(t))
	b.cfg.AcceptTailProof = true
	b.begin(4, "a")
	b.unknownLag(1)
	b.wrongLag(2)
	b.publish(3, 1) // the tail counts all the same
	id := b.scaled(1)
	b.keptFor(id, 3, protocol.DrainUnread)
	for _, index := range []int{1, 2} {
		b.await("sealed", func() bool { return b.drain(id, index).Phase == protocol.DrainSealed })
		require.Equal(t, protocol.ProofTail, *b.drain(id, index).Proof)
	}
	b.join("a", "a-1")
	b.becomes(id, protocol.MigrationDeprecated)
	require.Equal(t, protocol.ProofLag, *b.drain(id, 3).Proof)
}

// F03 (b): a lag of 0 in front of unread entries is no proof, whoever's group it is.
func TestFieldF03LagOfNothingInFrontOfEntriesIsNoProof(t *testing.T) {
	t.Parallel()
	b := open(t, 2, "a")
	b.join("a", "a-1")
	b.publish(1, 5)
	b.do("XGROUP", "CREATE", b.key(1), "foreign", "0", "ENTRIESREAD", 5)
	id := b.scaled(1)
	b.keptFor(id, 1, protocol.DrainUnread)
	require.Equal(t, "foreign", *b.drain(id, 1).BlockingGroup)
	require.Nil(t, b.drain(id, 1).Lag, "not a number that cannot be true")
	b.do("XGROUP", "DESTROY", b.key(1), "foreign")
	b.becomes(id, protocol.MigrationDeprecated)
}

// F01: entries deleted below and above the cursor.
func TestFieldF01DeletedEntriesNeverCountAsReadOrFail(t *testing.T) {
	t.Parallel()
	b := open(t, 2, "a")
	for _, id := range []string{"0-1", "0-2"} {
		b.do("XADD", b.key(1), id, "f", "v")
	}
	b.do("XREADGROUP", "GROUP", "a", "c", "STREAMS", b.key(1), ">")
	b.do("XACK", b.key(1), "a", "0-1", "0-2")
	for _, id := range []string{"0-3", "0-4"} {
		b.do("XADD", b.key(1), id, "f", "v")
	}
	b.do("XDEL", b.key(1), "0-1", "0-2")
	b.do("XDEL", b.key(1), "0-3")
	id := b.scaled(1)
	b.keptFor(id, 1, protocol.DrainUnread)
	shown := b.migration(id)
	require.Nil(t, shown.Progress.LastError)
	require.Equal(t, "0-4", *b.drain(id, 1).TailID)
	b.join("a", "a-1")
	b.await("an end, or a lag that is none", func() bool {
		shown := b.migration(id)
		reason := shown.Progress.Shards[0].Reason
		return shown.State == protocol.MigrationDeprecated ||
			reason != nil && (*reason == protocol.DrainLagUnknown || *reason == protocol.DrainLagContradicts)
	})
	n, _ := b.handledBy("a")
	require.Equal(t, 1, n)
}
