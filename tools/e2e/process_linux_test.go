package e2e_test

import "syscall"

// childAttributes has a program die with the tests, however those end.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
