package redisproc

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStartedServerAnswersAtOnceFromItsOwnProcess(t *testing.T) {
	t.Parallel()
	s := Start(t)
	require.NoError(t, s.Client(t).Ping(t.Context()).Err())
	if s.Mode() == ModeProcess {
		require.Positive(t, s.PID())
	}
}

func TestServerEndsWithItsTest(t *testing.T) {
	t.Parallel()
	var s *Server
	t.Run("inner", func(t *testing.T) { s = Start(t) })
	require.Error(t, s.listens(t.Context()), "the server must be gone when its test is over")
}

func TestKilledServerIsGoneAndComesBackEmptyOnTheSamePort(t *testing.T) {
	t.Parallel()
	s := Start(t)
	addr, pid := s.Addr(), s.PID()
	require.NoError(t, s.Client(t).Set(t.Context(), "k", "v", 0).Err())
	s.Kill()
	s.Kill()
	require.Error(t, s.listens(t.Context()))
	s.Restart()
	require.Equal(t, addr, s.Addr())
	if s.Mode() == ModeProcess {
		require.NotEqual(t, pid, s.PID())
	}
	require.Zero(t, s.Client(t).Exists(t.Context(), "k").Val())
}

func TestStoppedServerRestartsToo(t *testing.T) {
	t.Parallel()
	s := Start(t)
	s.Stop()
	require.Error(t, s.listens(t.Context()))
	s.Stop()
	s.Restart()
	require.NoError(t, s.listens(t.Context()))
}

func TestAppendOnlyFileSurvivesACrash(t *testing.T) {
	t.Parallel()
	s := Start(t, WithAOF("always"))
	require.NoError(t, s.Client(t).Set(t.Context(), "k", "v", 0).Err())
	s.Restart()
	require.Equal(t, "v", s.Client(t).Get(t.Context(), "k").Val())
}

func TestServerArgumentsReachRedis(t *testing.T) {
	t.Parallel()
	if SelectedMode(t) == ModeMini {
		return // miniredis takes no arguments; the refusal is tested below.
	}
	s := Start(t, WithArgs("--maxmemory", "7mb"))
	require.Equal(t, "7340032", s.Client(t).ConfigGet(t.Context(), "maxmemory").Val()["maxmemory"])
}

func TestSeveralServersDoNotShareAnything(t *testing.T) {
	t.Parallel()
	a, b := Start(t), Start(t)
	require.NotEqual(t, a.Addr(), b.Addr())
	require.NoError(t, a.Client(t).Set(t.Context(), "k", "v", 0).Err())
	require.Zero(t, b.Client(t).Exists(t.Context(), "k").Val())
}

func TestAServerThatCannotStartFailsTheTestWithItsLog(t *testing.T) {
	t.Parallel()
	if SelectedMode(t) == ModeMini {
		return
	}
	text := failure(t, func(tb testing.TB) {
		tb.Helper()
		Start(tb, WithArgs("--no-such-directive", "1"))
	})
	require.Contains(t, text, "no-such-directive")
}

func TestModeVariableAcceptsOnlyItsValues(t *testing.T) {
	t.Setenv(ModeVariable, "")
	require.Equal(t, ModeProcess, SelectedMode(t))
	t.Setenv(ModeVariable, "mini")
	require.Equal(t, ModeMini, SelectedMode(t))
	t.Setenv(ModeVariable, "redis://elsewhere")
	text := failure(t, func(tb testing.TB) {
		tb.Helper()
		SelectedMode(tb)
	})
	require.Contains(t, text, `allowed are "process", "mini" and "container"`)
}

func TestMiniAnswersRestartsEmptyAndRefusesWhatItCannotDo(t *testing.T) {
	t.Setenv(ModeVariable, "mini")
	s := Start(t)
	require.Equal(t, ModeMini, s.Mode())
	require.NoError(t, s.Client(t).Set(t.Context(), "k", "v", 0).Err())
	s.Restart()
	require.Zero(t, s.Client(t).Exists(t.Context(), "k").Val())
	require.Contains(t, failure(t, func(tb testing.TB) {
		tb.Helper()
		Start(tb, WithArgs("--save", ""))
	}), "need RSC_TEST_REDIS=process")
	require.Contains(t, failure(t, func(tb testing.TB) {
		tb.Helper()
		StartCluster(tb, 3)
	}), "needs RSC_TEST_REDIS=process")
}

func TestMissingRedisFailsTheTestWithTheInstallCommand(t *testing.T) {
	t.Setenv(ModeVariable, "process")
	t.Setenv("PATH", t.TempDir())
	_, err := exec.LookPath("redis-server")
	require.Error(t, err)
	require.Contains(t, failure(t, func(tb testing.TB) {
		tb.Helper()
		Start(tb)
	}), "apt-get install -y redis-server")
}

// failure runs do with a test of its own and returns the text of its Fatal.
func failure(t *testing.T, do func(testing.TB)) string {
	t.Helper()
	spy := &fatalSpy{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(spy)
	}()
	<-done
	require.True(t, spy.failed, "the call was expected to fail the test")
	return spy.text
}
