package postgresproc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

const (
	logName    = "postgres.log"
	logTail    = 3_000
	stopBudget = time.Minute
)

var errNotStopped = errors.New("postgres did not end after SIGINT")

// process is one running server: the first process, which starts all others.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// launch starts the server with its output appended to the log in dir. One goroutine
// starts and awaits it, bound to its thread: the parent-death signal is tied to the
// thread that made the child.
func launch(cmd *exec.Cmd, dir string) (*process, error) {
	output, err := os.OpenFile(filepath.Join(dir, logName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of postgres: %w", err)
	}
	defer func() { _ = output.Close() }()
	p := &process{cmd: cmd, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = output, output
	tie(cmd.SysProcAttr)
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer close(p.done)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// ended reports whether the first process is gone.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// family returns the ids of the server's processes, the first one first. That one is
// stopped before it is asked for its children, so that there are no more of them.
func (p *process) family() []int {
	if p.ended() {
		return nil
	}
	_ = p.cmd.Process.Signal(syscall.SIGSTOP)
	return append([]int{p.pid()}, children(p.pid())...)
}

// kill ends all processes of the server at once and waits for the first one. A second
// call does nothing.
func (p *process) kill() {
	for _, pid := range p.family() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-p.done
}

// pause stops all processes of the server where they are.
func (p *process) pause() {
	for _, pid := range p.family() {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
	}
}

// resume lets all processes go on.
func (p *process) resume() {
	for _, pid := range p.family() {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
}

// interrupt asks for a fast shutdown, which ends sessions and writes everything down, and
// waits for the end, at most stopBudget.
func (p *process) interrupt() error {
	if p.ended() {
		return nil
	}
	p.resume()
	_ = p.cmd.Process.Signal(syscall.SIGINT)
	timer := clock.NewTimer(stopBudget)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
		p.kill()
		return errNotStopped
	}
}

// read returns the log in dir, or why it cannot be read.
func read(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, logName))
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// tail returns the end of the log in dir, for failure messages.
func tail(dir string) string {
	text := read(dir)
	return text[max(0, len(text)-logTail):]
}
