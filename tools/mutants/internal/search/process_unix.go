//go:build unix

package search

import (
	"os/exec"
	"syscall"
)

// alone puts the process at the head of a group of its own, so that what it starts can be
// ended with it.
func alone(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// end ends the process and all that it has started.
func end(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
