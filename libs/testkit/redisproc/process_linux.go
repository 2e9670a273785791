package redisproc

import "syscall"

// childAttributes ties the server's life to the test process, so that a test
// binary that panics or runs into its timeout leaves no server behind.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
