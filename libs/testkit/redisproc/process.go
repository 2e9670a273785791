package redisproc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

const (
	logName    = "redis.log"
	logTail    = 2_000
	stopBudget = time.Minute
)

var errNotStopped = errors.New("redis-server did not end after SIGTERM")

// process is one running redis-server.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// launch starts redis-server with its output appended to the log in dir. One
// goroutine starts and awaits it, bound to its thread: the parent-death signal is
// tied to the thread that made the child.
func launch(path, dir string, args []string) (*process, error) {
	output, err := os.OpenFile(filepath.Join(dir, logName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of redis-server: %w", err)
	}
	defer func() { _ = output.Close() }()
	p := &process{cmd: exec.Command(path, args...), done: make(chan struct{})} //nolint:noctx // the process outlives any one context; Kill and Stop end it.
	p.cmd.Stdout, p.cmd.Stderr = output, output
	p.cmd.SysProcAttr = childAttributes()
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer close(p.done)
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// ended reports whether the process is gone.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// kill sends SIGKILL and waits for the end. A second call does nothing.
func (p *process) kill() {
	if !p.ended() {
		_ = p.cmd.Process.Kill()
	}
	<-p.done
}

// terminate sends SIGTERM and waits for the end, at most stopBudget.
func (p *process) terminate() error {
	if p.ended() {
		return nil
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
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

// tail returns the end of the log in dir, for failure messages.
func tail(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, logName))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-logTail):])
}
