package observe_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// stop lets a process hang; resume ends that.
func stop(t *testing.T, pid int) {
	t.Helper()
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
}

func resume(t *testing.T, pid int) {
	t.Helper()
	require.NoError(t, syscall.Kill(pid, syscall.SIGCONT))
}
