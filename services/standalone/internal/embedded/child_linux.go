package embedded

import "syscall"

// attributes puts the child into a process group of its own, so that Ctrl-C on the terminal
// reaches only this process, and has the kernel kill it when this process dies.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
