//go:build !linux

package postgresproc

import (
	"bytes"
	"context"
	"os/exec"
	"strconv"
	"syscall"
)

// tie does nothing where the kernel has no parent-death signal: there a test binary that
// panics may leave its server behind.
func tie(*syscall.SysProcAttr) {}

// children returns the ids of the processes whose parent is pid.
func children(pid int) []int {
	table, err := exec.CommandContext(context.Background(), "ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return nil
	}
	var found []int
	for line := range bytes.Lines(table) {
		fields := bytes.Fields(line)
		if len(fields) == 2 && string(fields[1]) == strconv.Itoa(pid) {
			child, _ := strconv.Atoi(string(fields[0]))
			found = append(found, child)
		}
	}
	return found
}
