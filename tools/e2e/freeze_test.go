package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// freeze stops a process where it stands; thaw lets it go on.
func freeze(t *testing.T, p *process) {
	t.Helper()
	freezePID(t, p.cmd.Process.Pid)
}

func thaw(t *testing.T, p *process) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGCONT))
}

// freezePID returns when the process has stopped: after the signal its threads go on until
// each of them has seen it.
func freezePID(t *testing.T, pid int) {
	t.Helper()
	require.NoError(t, syscall.Kill(pid, syscall.SIGSTOP))
	require.Eventually(t, func() bool { return stopped(t, pid) }, patience, time.Millisecond, "process %d stops", pid)
}

// stopped tells whether no thread of a process runs, as Linux shows it.
func stopped(t *testing.T, pid int) bool {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	require.NoError(t, err)
	for _, thread := range threads {
		text, err := os.ReadFile(thread)
		if err != nil {
			return false // it has just ended
		}
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])) // the name may have blanks
		if fields[0] != "T" {
			return false
		}
	}
	return len(threads) > 0
}
