package embedded

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// endBudget is how long a child may take to end before it is killed.
const endBudget = 3 * time.Second

// child is a running redis-server.
type child struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// launch starts a program whose output goes to a log in dir. The goroutine that starts it
// also awaits it, bound to its thread: the kernel ends the child with that thread.
// ctx carries values only, as the child outlives the call.
func launch(ctx context.Context, path, dir string, args []string) (*child, error) {
	output, err := os.OpenFile(filepath.Join(dir, logName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open its log: %w", err)
	}
	defer func() { _ = output.Close() }()
	c := &child{cmd: exec.CommandContext(context.WithoutCancel(ctx), path, args...), done: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = output, output
	c.cmd.SysProcAttr = attributes()
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer close(c.done)
		err := c.cmd.Start()
		started <- err
		if err == nil {
			_ = c.cmd.Wait() // how it ended does not matter: its data is not kept
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// end asks the child to end, kills it when it does not, and waits for it.
func (c *child) end() {
	_ = c.cmd.Process.Signal(syscall.SIGTERM)
	timer := clock.NewTimer(endBudget)
	defer timer.Stop()
	select {
	case <-c.done:
		return
	case <-timer.C:
	}
	_ = c.cmd.Process.Kill()
	<-c.done
}
