package postgresproc

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// connect returns a session that ends with the test.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

func text(t *testing.T, conn *pgx.Conn, query string) string {
	t.Helper()
	var found string
	require.NoError(t, conn.QueryRow(t.Context(), query).Scan(&found))
	return found
}

func run(t *testing.T, conn *pgx.Conn, statement string) {
	t.Helper()
	_, err := conn.Exec(t.Context(), statement)
	require.NoError(t, err)
}

func TestDatabasesShareNothingAndBelongToAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	s := Start(t)
	one, other := s.Database(t), s.Database(t)
	require.NotEqual(t, one, other)
	a, b := connect(t, one), connect(t, other)
	run(t, a, "CREATE TABLE mine (n int)")
	run(t, b, "CREATE TABLE mine (n int)")
	require.Equal(t, "off", text(t, a, "SHOW is_superuser"))
	require.Equal(t, "on", text(t, connect(t, s.Admin(one)), "SHOW is_superuser"))
	_, err := a.Exec(t.Context(), "CREATE DATABASE more")
	require.Error(t, err)
}

func TestAServerEndsWithItsTestAndLeavesNothing(t *testing.T) {
	t.Parallel()
	var s *Server
	t.Run("inner", func(t *testing.T) { s = Start(t) })
	require.Zero(t, s.PID())
	require.NoDirExists(t, s.Data())
	_, err := pgx.Connect(t.Context(), s.url(superuser, "postgres"))
	require.Error(t, err)
}

func TestWhatWasCommittedOutlivesACrashAndAStop(t *testing.T) {
	t.Parallel()
	s := Start(t, WithFsync(), WithParameters("work_mem=3MB"))
	url, addr := s.Database(t), s.Addr()
	conn := connect(t, url)
	require.Equal(t, "3MB", text(t, conn, "SHOW work_mem"))
	require.Equal(t, "on", text(t, conn, "SHOW fsync"))
	run(t, conn, "CREATE TABLE kept AS SELECT 'before' AS word")
	s.Kill()
	s.Kill()
	require.Error(t, conn.Ping(t.Context()))
	s.Restart()
	require.Equal(t, addr, s.Addr())
	conn = connect(t, url)
	run(t, conn, "UPDATE kept SET word = 'after'")
	s.Stop()
	s.Stop()
	require.Zero(t, s.PID())
	s.Restart()
	require.Equal(t, "after", text(t, connect(t, url), "SELECT word FROM kept"))
}

func TestAPausedServerAnswersWhenItIsResumed(t *testing.T) {
	t.Parallel()
	s := Start(t)
	conn := connect(t, s.Database(t))
	s.Pause()
	answered := make(chan error, 1)
	go func() { answered <- conn.Ping(context.WithoutCancel(t.Context())) }()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := pgx.Connect(ctx, s.url(superuser, "postgres"))
	require.ErrorIs(t, err, context.DeadlineExceeded, "the kernel takes the connection, nobody speaks")
	require.Empty(t, answered, "an open session does not answer either")
	s.Resume()
	require.NoError(t, <-answered)
	s.Pause()
	s.Stop()
	require.Zero(t, s.PID(), "a paused server can be stopped")
}

func TestARestoredBackupIsTheOlderData(t *testing.T) {
	t.Parallel()
	s := Start(t)
	url := s.Database(t)
	run(t, connect(t, url), "CREATE TABLE kept AS SELECT 'old' AS word")
	s.Stop()
	backup := s.Backup(t)
	s.Restart()
	run(t, connect(t, url), "UPDATE kept SET word = 'new'")
	s.Kill()
	s.Restore(t, backup)
	s.Restart()
	require.Equal(t, "old", text(t, connect(t, url), "SELECT word FROM kept"))
}

func TestTheDataOfARunningServerIsNotCopied(t *testing.T) {
	t.Parallel()
	s := Start(t)
	require.Contains(t, failure(t, func(tb testing.TB) {
		tb.Helper()
		s.Backup(tb)
	}), "Stop or Kill it before")
}

func TestAServerThatCannotStartFailsTheTestWithItsLog(t *testing.T) {
	t.Parallel()
	require.Contains(t, failure(t, func(tb testing.TB) {
		tb.Helper()
		Start(tb, WithParameters("no_such_parameter=1"))
	}), "no_such_parameter")
}

func TestTheNewestInstalledServerIsTaken(t *testing.T) {
	t.Parallel()
	require.Equal(t, 15, version("/usr/lib/postgresql/15/bin"))
	require.Equal(t, 9, version("/usr/lib/postgresql/9/bin"))
	require.Zero(t, version("/usr/libexec/postgresql"))
	bin := binaries(t)
	require.FileExists(t, filepath.Join(bin, "initdb"))
	require.FileExists(t, filepath.Join(bin, "postgres"))
}

func TestAMissingServerFailsTheTestWithTheInstallCommand(t *testing.T) {
	t.Parallel()
	require.Contains(t, failure(t, func(tb testing.TB) {
		tb.Helper()
		search(tb, nil)
	}), "apt-get install -y postgresql")
}
