package e2e_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// patience is how long a condition may take that should come soon.
	patience = 2 * time.Minute
	// often is how often a condition is looked at.
	often = 25 * time.Millisecond
	// seldom is how often one is that takes long to look at.
	seldom = 250 * time.Millisecond
	// lastWords is how much of what a process has written is shown when a test fails.
	lastWords = 4_000
)

// process is a program under test. It ends with its test.
type process struct {
	t     *testing.T
	name  string
	cmd   *exec.Cmd
	input io.Closer
	done  chan struct{}
	err   error // after done

	// out is what it prints for programs, all is everything.
	out, all output
}

// start runs a program with its input held open.
func start(t *testing.T, name, program string, args ...string) *process {
	t.Helper()
	p := &process{
		t: t, name: name, done: make(chan struct{}),
		cmd: exec.Command(filepath.Join(binaries, program), args...),
	}
	p.cmd.Stdout, p.cmd.Stderr = io.MultiWriter(&p.out, &p.all), &p.all
	p.cmd.SysProcAttr = childAttributes()
	for _, setting := range os.Environ() { // those of the suite's own variables would configure it
		if !strings.HasPrefix(setting, "RSC_") {
			p.cmd.Env = append(p.cmd.Env, setting)
		}
	}
	p.cmd.Env = append(p.cmd.Env, noMetrics(program)...)
	var err error
	p.input, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	started := make(chan error, 1)
	go func() { // bound to its thread: a child dies with the thread that made it
		runtime.LockOSThread()
		defer close(p.done)
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
		}
	}()
	require.NoError(t, <-started)
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s wrote:\n%s", name, p.all.tail())
		}
	})
	return p
}

// noMetrics keeps a program from opening its metrics port, whose default is the same for all.
func noMetrics(program string) []string {
	switch program {
	case "coordinator", releaseNext:
		return []string{"RSC_METRICS_LISTEN="}
	case "console":
		return []string{"RSC_WEB_METRICS_LISTEN="}
	case "admin-gateway":
		return []string{"RSC_GATEWAY_METRICS_LISTEN="}
	default:
		return nil
	}
}

// ended tells whether the process is gone.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// kill sends SIGKILL and waits until the process is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// release ends the input of the process, which tells an attached one to leave, and waits
// for its good end.
func (p *process) release() {
	p.t.Helper()
	require.NoError(p.t, p.input.Close())
	p.wait()
}

// wait waits for the good end of the process, for as long as patience lasts.
func (p *process) wait() {
	p.t.Helper()
	select {
	case <-p.done:
		require.NoError(p.t, p.err, "%s wrote:\n%s", p.name, p.all.tail())
	case <-time.After(patience):
		require.Fail(p.t, "process does not end", "%s wrote:\n%s", p.name, p.all.tail())
	}
}

// exitCode returns how the process ended, -1 for a signal.
func (p *process) exitCode() int {
	<-p.done
	if exit, ok := errors.AsType[*exec.ExitError](p.err); ok {
		return exit.ExitCode()
	}
	return 0
}

// output collects what a process writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) bytes() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Clone(o.text.Bytes())
}

func (o *output) tail() string {
	text := o.bytes()
	return string(text[max(0, len(text)-lastWords):])
}
