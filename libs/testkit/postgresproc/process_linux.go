package postgresproc

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// tie ends the process with the thread that starts it, so that a test binary that panics or
// runs into its timeout leaves no server behind: its other processes end when the first one
// is gone.
func tie(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGKILL }

// children returns the ids of the processes whose parent is pid.
func children(pid int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var found []int
	for _, entry := range entries {
		child, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err == nil && parent(stat) == pid {
			found = append(found, child)
		}
	}
	return found
}

// parent reads the parent's id from "pid (name) state parent …"; the name may hold anything.
func parent(stat []byte) int {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	pid, _ := strconv.Atoi(string(fields[1]))
	return pid
}
