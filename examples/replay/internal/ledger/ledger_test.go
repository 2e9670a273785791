package ledger_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
)

// create returns a writer of a new ledger in dir and its path.
func create(t *testing.T, dir, member string) (*ledger.Writer, string) {
	t.Helper()
	path := filepath.Join(dir, member+ledger.Extension)
	w, err := ledger.Create(path, ledger.Consumer, member)
	require.NoError(t, err)
	return w, path
}

func TestALedgerHoldsWhatWasAppended(t *testing.T) {
	t.Parallel()
	w, path := create(t, t.TempDir(), "c1")
	start := ledger.Entry{Kind: ledger.Start, Seq: 7, Key: "k", Sum: "s", Shard: 3, ID: "1-0", Fence: 9}
	end := ledger.Entry{Kind: ledger.End, Seq: 7, Shard: 3, ID: "1-0"}
	require.NoError(t, w.Append(start, end))
	require.NoError(t, w.Close(errors.New("asked to")))

	got, err := ledger.Read(path)
	require.NoError(t, err)
	require.Equal(t, "c1", got.Opening.Member)
	require.Equal(t, ledger.Consumer, got.Opening.Role)
	require.Equal(t, os.Getpid(), got.Opening.PID)
	require.Len(t, got.Opening.Incarnation, 26)
	require.Equal(t, "asked to", got.Closing.Error)
	require.Len(t, got.Entries, 2)
	require.Positive(t, got.Entries[0].Mono)
	require.GreaterOrEqual(t, got.Entries[0].Mono, got.Opening.Mono, "the clock does not go back")
	require.GreaterOrEqual(t, got.Closing.Mono, got.Entries[1].Mono)
	require.Positive(t, got.Entries[0].Wall)
	for i := range got.Entries {
		got.Entries[i].Mono, got.Entries[i].Wall = 0, 0
	}
	require.Equal(t, []ledger.Entry{start, end}, got.Entries)
}

func TestALedgerOfAKilledProcessIsReadUpToItsTornLine(t *testing.T) {
	t.Parallel()
	for name, rest := range map[string]string{
		"nothing torn": "", "half an entry": `{"kind":"start","se`, "an entry without its line end": `{"kind":"start"}`,
	} {
		w, path := create(t, t.TempDir(), "c1")
		require.NoError(t, w.Append(ledger.Entry{Kind: ledger.Start, Seq: 1}), name)
		add(t, path, rest)
		got, err := ledger.Read(path)
		require.NoError(t, err, name)
		require.Nil(t, got.Closing, name)
		require.Len(t, got.Entries, 1, name)
	}
}

func TestALedgerThatWasMeddledWithIsCorrupt(t *testing.T) {
	t.Parallel()
	_, path := create(t, t.TempDir(), "c1")
	add(t, path, "{}}\n")
	_, err := ledger.Read(path)
	require.ErrorIs(t, err, ledger.ErrCorrupt)
	require.ErrorContains(t, err, "entry 2")

	path = filepath.Join(t.TempDir(), "x"+ledger.Extension)
	require.NoError(t, os.WriteFile(path, []byte("{\"kind\":\"start\"}\n"), 0o600))
	_, err = ledger.Read(path)
	require.ErrorIs(t, err, ledger.ErrCorrupt)
	require.ErrorContains(t, err, "opening")
}

func TestALedgerIsNeverWrittenOver(t *testing.T) {
	t.Parallel()
	_, path := create(t, t.TempDir(), "c1")
	_, err := ledger.Create(path, ledger.Consumer, "c2")
	require.ErrorIs(t, err, os.ErrExist)
}

func TestADirectoryIsReadInTheOrderOfNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	create(t, dir, "b")
	create(t, dir, "a")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.log"), []byte("no ledger"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "killed"+ledger.Extension), []byte(`{"kind":"op`), 0o600))
	got, err := ledger.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Equal(t, "a", got[0].Opening.Member)
	_, err = ledger.ReadDir(filepath.Join(dir, "nowhere"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestATailReturnsEachEntryOnceAndWaitsForTornOnes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, path := create(t, dir, "a")
	tail := ledger.NewTail(dir)
	require.Equal(t, []string{"a open 0"}, next(t, tail))
	require.Empty(t, next(t, tail))
	require.NoError(t, a.Append(ledger.Entry{Kind: ledger.Start, Seq: 1}))
	create(t, dir, "b")
	require.Equal(t, []string{"a start 1", "b open 0"}, next(t, tail))
	add(t, path, `{"kind":"end",`)
	require.Empty(t, next(t, tail))
	add(t, path, `"seq":1}`+"\n")
	require.Equal(t, []string{"a end 1"}, next(t, tail))
}

func TestEntriesOfSeveralGoroutinesAreNotMixed(t *testing.T) {
	t.Parallel()
	w, path := create(t, t.TempDir(), "c1")
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 250 {
				if w.Append(ledger.Entry{Kind: ledger.Start, Seq: 1}, ledger.Entry{Kind: ledger.End, Seq: 1}) != nil {
					return
				}
			}
		})
	}
	writers.Wait()
	got, err := ledger.Read(path)
	require.NoError(t, err)
	require.Len(t, got.Entries, 2_000)
	for i := range got.Entries {
		want := ledger.Start
		if i%2 == 1 {
			want = ledger.End
		}
		require.Equal(t, want, got.Entries[i].Kind)
	}
}

// add appends text to the file at path.
func add(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, file.Close())
}

// next returns what tail sees as "ledger kind seq".
func next(t *testing.T, tail *ledger.Tail) []string {
	t.Helper()
	var got []string
	require.NoError(t, tail.Next(func(path string, entry ledger.Entry) {
		name := filepath.Base(path)
		got = append(got, name[:len(name)-len(ledger.Extension)]+" "+string(entry.Kind)+" "+string('0'+rune(entry.Seq)))
	}))
	return got
}
