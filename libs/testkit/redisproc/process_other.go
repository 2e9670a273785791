//go:build !linux

package redisproc

import "syscall"

// childAttributes is empty where the kernel has no parent-death signal: there a
// test binary that panics may leave its server behind.
func childAttributes() *syscall.SysProcAttr { return nil }
