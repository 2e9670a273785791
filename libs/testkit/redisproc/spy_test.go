package redisproc

import (
	"fmt"
	"runtime"
	"testing"
)

// fatalSpy is a test whose Fatal is recorded instead of failing the real one.
type fatalSpy struct {
	testing.TB
	failed bool
	text   string
}

func (f *fatalSpy) Fatal(args ...any) { f.stop(fmt.Sprint(args...)) }

func (f *fatalSpy) Fatalf(format string, args ...any) { f.stop(fmt.Sprintf(format, args...)) }

func (f *fatalSpy) stop(text string) {
	f.failed, f.text = true, text
	runtime.Goexit()
}
