package trial

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/examples/replay/internal/ledger"
)

func TestEventsAreSpreadOverTheReplay(t *testing.T) {
	t.Parallel()
	require.Empty(t, plan(0, 0, 1_000))
	require.Equal(t, []moment{{250, kill}, {500, kill}, {550, join}, {750, kill}}, plan(3, 1, 1_000))
	for _, moment := range plan(9, 9, 100) {
		require.Less(t, moment.at, int64(100), "every event comes before the end")
	}
}

func TestProgressCountsEachRecordOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	publisher := write(t, dir, "publisher", ledger.Publisher)
	a, b := write(t, dir, "a", ledger.Consumer), write(t, dir, "b", ledger.Consumer)
	require.NoError(t, publisher.Append(
		ledger.Entry{Kind: ledger.Intent, Seq: 1}, ledger.Entry{Kind: ledger.Unknown, Seq: 1},
		ledger.Entry{Kind: ledger.Intent, Seq: 1}, ledger.Entry{Kind: ledger.Acked, Seq: 1},
	))
	require.NoError(t, a.Append(ledger.Entry{Kind: ledger.Start, Seq: 1}))
	require.NoError(t, b.Append(
		ledger.Entry{Kind: ledger.Start, Seq: 1}, ledger.Entry{Kind: ledger.End, Seq: 1},
		ledger.Entry{Kind: ledger.Start, Seq: 1}, ledger.Entry{Kind: ledger.End, Seq: 1},
	))
	m := newMeter(dir, 7)
	require.NoError(t, m.read())
	require.NoError(t, m.read())
	require.Equal(t, Progress{Records: 7, Published: 1, Handled: 1, Handlings: 3}, m.progress)

	paths := []string{filepath.Join(dir, "a.ledger"), filepath.Join(dir, "b.ledger")}
	require.Equal(t, 1, m.busiest(paths), "b has handled the most")
	require.NoError(t, a.Append(ledger.Entry{Kind: ledger.End, Seq: 1}))
	require.NoError(t, m.read())
	require.Equal(t, 0, m.busiest(paths), "since then only a has")
}

func TestAKilledConsumerIsReplacedAndTheOthersLeave(t *testing.T) {
	t.Parallel()
	trial := &Trial{Ledgers: t.TempDir(), Log: slog.New(slog.DiscardHandler)}
	trial.Crew = func(_ context.Context, member, _ string) (Worker, error) {
		return Spawn(exec.Command("cat"), filepath.Join(trial.Ledgers, member+".log"))
	}
	team := newTeam(trial)
	require.NoError(t, team.hire(t.Context()))
	require.NoError(t, team.hire(t.Context()))
	first, second := team.members[0], team.members[1]
	require.NoError(t, team.failure())

	require.NoError(t, team.kill(t.Context(), 0))
	require.Error(t, first.Err(), "it was killed")
	require.Equal(t, []string{"c2", "c3"}, []string{team.members[0].name, team.members[1].name})
	require.NoError(t, team.failure(), "nobody is missed")

	team.dismiss()
	<-second.Done()
	require.NoError(t, second.Err(), "it was asked to end")
	require.Empty(t, team.members)
}

func TestAConsumerThatEndsByItselfIsMissed(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk full")
	trial := &Trial{Ledgers: t.TempDir(), Log: slog.New(slog.DiscardHandler)}
	trial.Crew = func(ctx context.Context, _, _ string) (Worker, error) {
		return Local(ctx, func(context.Context) error { return broken }), nil
	}
	team := newTeam(trial)
	require.NoError(t, team.hire(t.Context()))
	<-team.members[0].Done()
	err := team.failure()
	require.ErrorIs(t, err, broken)
	require.ErrorIs(t, err, errEnded)
	require.ErrorContains(t, err, "consumer c1")
	require.ErrorIs(t, team.members[0].Kill(), ErrNoProcess)
	team.dismiss()
}

func TestALocalConsumerEndsWhenItIsStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w := Local(ctx, func(ctx context.Context) error {
		<-ctx.Done()
		return nil
	})
	cancel()
	select {
	case <-w.Done():
		t.Fatal("it has ended with the context it was started in")
	default:
	}
	w.Stop()
	<-w.Done()
	require.NoError(t, w.Err())
}

func TestAProcessThatFailsIsQuoted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := Spawn(exec.Command("cat", filepath.Join(dir, "nowhere")), filepath.Join(dir, "log"))
	require.NoError(t, err)
	<-w.Done()
	require.ErrorContains(t, w.Err(), "nowhere")
	_, err = Spawn(exec.Command(filepath.Join(dir, "no-such-program")), filepath.Join(dir, "log"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// write makes the ledger of one process.
func write(t *testing.T, dir, member string, role ledger.Role) *ledger.Writer {
	t.Helper()
	w, err := ledger.Create(filepath.Join(dir, member+ledger.Extension), role, member)
	require.NoError(t, err)
	return w
}
