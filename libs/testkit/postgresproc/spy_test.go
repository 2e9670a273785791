package postgresproc

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
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

// failure runs do with a test of its own and returns the text of its Fatal.
func failure(t *testing.T, do func(testing.TB)) string {
	t.Helper()
	spy := &fatalSpy{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(spy)
	}()
	<-done
	require.True(t, spy.failed, "the call was expected to fail the test")
	return spy.text
}
