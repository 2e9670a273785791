package reading

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
	"github.com/redis-stream-coordinator/rsc/libs/client"
)

func TestAHandlingIsEnclosedInTheLedger(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c"+ledger.Extension)
	written, err := ledger.Create(path, ledger.Consumer, "c")
	require.NoError(t, err)
	r := Reader{Ledger: written, Work: time.Millisecond}
	m := &client.Message{
		Shard: 3, ID: "5-0", Key: "k", FenceToken: 9, Fields: map[string]string{"seq": "7", "data": "text"},
	}
	require.NoError(t, r.handle(t.Context(), m))

	lost, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, r.handle(lost, m), context.Canceled)

	foreign := &client.Message{ID: "6-0", Fields: map[string]string{"seq": "no number"}}
	require.NoError(t, r.handle(t.Context(), foreign))
	require.NoError(t, written.Close(nil))
	require.Error(t, r.handle(t.Context(), m), "what cannot be proven is not handled")

	file, err := ledger.Read(path)
	require.NoError(t, err)
	kinds := make([]ledger.Kind, 0, len(file.Entries))
	for _, entry := range file.Entries {
		kinds = append(kinds, entry.Kind)
	}
	require.Equal(t, []ledger.Kind{ledger.Start, ledger.End, ledger.Start, ledger.Start, ledger.End}, kinds)
	start, end := file.Entries[0], file.Entries[1]
	require.GreaterOrEqual(t, end.Mono-start.Mono, time.Millisecond.Nanoseconds(), "the work lies between")
	start.Mono, start.Wall = 0, 0
	require.Equal(t, ledger.Entry{
		Kind: ledger.Start, Seq: 7, Key: ledger.Hash("k"), Sum: ledger.Hash("text"), Shard: 3, ID: "5-0", Fence: 9,
	}, start)
	require.Zero(t, file.Entries[3].Seq, "a record without a number is nobody's")
}
