package e2e_test

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// Protocol L9: where the coordinator is set up to take it, an empty tail with nothing pending
// is proof enough, and is told apart from one by lag. Unread and pending entries stand
// against it all the same.
func TestAnEmptyTailIsProofWhereItIsSetUpToBe(t *testing.T) {
	t.Parallel()
	s := startSuite(t, drainTiming("--coordination-drain-accept-tail-proof")...)
	d := &drainage{suite: s, rdb: s.connect()}
	d.create(stream, 5)
	const plain, unknown, trimmed, unread = 1, 2, 3, 4
	ctx := t.Context()
	reader := d.read("r", trimmed, unread)
	d.stable(1)
	ids := map[int][]string{plain: d.add(plain, 3), unknown: d.add(unknown, 3), trimmed: d.add(trimmed, 5), unread: d.add(unread, 2)}
	d.eventually(func() bool { return reader.did(plain, ids[plain]...) && reader.did(unknown, ids[unknown]...) }, "two shards are read")
	_, err := d.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error { // nobody sees the entry
		p.XAdd(ctx, &redis.XAddArgs{Stream: routing.StreamKey(stream, unknown), ID: "99999999999999-1", Values: []any{"n", 1}})
		p.XDel(ctx, routing.StreamKey(stream, unknown), "99999999999999-1")
		return nil
	})
	require.NoError(t, err)
	d.eventually(func() bool { return reader.has(trimmed, ids[trimmed][0]) }, "its first record is in hand")
	require.EqualValues(t, 4, d.rdb.XTrimMaxLen(ctx, routing.StreamKey(stream, trimmed), 1).Val())
	reader.letGo(trimmed)
	reader.letGo(trimmed)

	id := d.scale(1)
	last := d.until(id, func(l looked) bool {
		kept := l.kept()
		return kept[plain] == "SEALED" && kept[unknown] == "SEALED" && kept[trimmed] == "SEALED" && kept[unread] == "UNREAD"
	}, "what nobody will read any more is sealed")
	require.Equal(t, protocol.ProofLag, *last.drains()[plain].Proof)
	require.Equal(t, protocol.ProofTail, *last.drains()[unknown].Proof)
	require.Equal(t, protocol.ProofTail, *last.drains()[trimmed].Proof)
	reader.letGo(unread)
	d.until(id, func(l looked) bool { return l.kept()[unread] == "PENDING" }, "its last record is in hand")
	reader.letGo(unread)
	d.over(id, protocol.MigrationDeprecated)
	require.True(t, reader.did(unread, ids[unread]...))
	d.requireSealed(id, indexRange(1, 5)...)
}
