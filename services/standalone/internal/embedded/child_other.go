//go:build !linux

package embedded

import "syscall"

// attributes puts the child into a process group of its own, so that Ctrl-C on the terminal
// reaches only this process. A parent that is killed leaves it behind here.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
