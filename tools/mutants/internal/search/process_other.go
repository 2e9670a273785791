//go:build !unix

package search

import "os/exec"

// alone does nothing where there are no process groups.
func alone(*exec.Cmd) {}

// end ends the process.
func end(cmd *exec.Cmd) error { return cmd.Process.Kill() }
