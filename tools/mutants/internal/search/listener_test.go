package search

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheFirstFailureIsNoticedWhileOtherTestsGoOn(t *testing.T) {
	t.Parallel()
	l := newListener()
	said := "=== RUN   TestA\n=== RUN   TestA/b\n=== RUN   TestA/c\n=== CONT  TestA/c\n=== NAME  TestA/b\n    x_test.go:7: \n        \tError Trace:\tx_test.go:7\n"
	for _, part := range strings.SplitAfter(said, "t") { // as the bytes come
		_, err := l.Write([]byte(part))
		require.NoError(t, err)
	}
	select {
	case <-l.failed:
	default:
		require.Fail(t, "the failure is not noticed")
	}
	_, _ = l.Write([]byte("--- FAIL: TestA (0.01s)\n    --- FAIL: TestA/c (0.01s)\nFAIL\n"))
	f := l.finding(false)
	require.Equal(t, Caught, f.Verdict)
	require.Equal(t, "TestA/b", f.Test)
}

func TestAViolationSaysWhatWasBrokenAndHow(t *testing.T) {
	t.Parallel()
	l := newListener()
	_, _ = l.Write([]byte("=== RUN   TestWalks\nVIOLATION I1 trace-length=12 search=walk:scale, all seed=3\nVIOLATION I3 trace-length=2 search=bfs:X1\n"))
	select {
	case <-l.failed:
	default:
		require.Fail(t, "the violation is not noticed")
	}
	f := l.finding(false)
	require.Equal(t, []any{Caught, "TestWalks", "I1", "walk:scale, all", 12}, []any{f.Verdict, f.Test, f.Invariant, f.Way, f.Trace})
}

func TestTheInnermostTestOfAFailureIsNamed(t *testing.T) {
	t.Parallel()
	l := newListener()
	_, _ = l.Write([]byte("=== RUN   TestA\n=== RUN   TestA/b\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n"))
	require.Equal(t, "TestA/b", l.finding(false).Test)
}

func TestOnlyAFailedExpectationCounts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		said  string
		clean bool
		want  Verdict
	}{
		"passed":             {"=== RUN   TestA\n--- PASS: TestA\nPASS\n", true, Survived},
		"no tests":           {"testing: warning: no tests to run\nPASS\n", true, Empty},
		"failed":             {"=== RUN   TestA\n--- FAIL: TestA\nFAIL\n", false, Caught},
		"panic":              {"=== RUN   TestA\n--- FAIL: TestA\npanic: index out of range\n", false, Crashed},
		"concurrent writes":  {"=== RUN   TestA\nfatal error: concurrent map writes\n", false, Crashed},
		"ended without word": {"=== RUN   TestA\n", false, Crashed},
		"leak after success": {"=== RUN   TestA\n--- PASS: TestA\nPASS\ngoleak: Errors\n", false, Crashed},
	} {
		l := newListener()
		_, _ = l.Write([]byte(test.said))
		require.Equal(t, test.want, l.finding(test.clean).Verdict, name)
	}
}

func TestTheEndOfTheOutputIsKept(t *testing.T) {
	t.Parallel()
	l := newListener()
	_, _ = l.Write([]byte(strings.Repeat("x\n", 1000) + "the end"))
	said := l.finding(false).Output
	require.True(t, strings.HasSuffix(said, "the end"))
	require.Equal(t, kept, strings.Count(said, "\n"))
}
