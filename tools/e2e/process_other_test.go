//go:build !linux

package e2e_test

import "syscall"

func childAttributes() *syscall.SysProcAttr { return nil }
