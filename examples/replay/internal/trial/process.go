package trial

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// errorTail is how much of what a process has written goes into its error.
const errorTail = 1_000

// process is a worker in a process of its own.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	done  chan struct{}
	err   error
}

// Spawn starts cmd as a Worker. What it writes goes into the file at log. The process is
// asked to end by the end of its standard input, which also comes when this process dies.
func Spawn(cmd *exec.Cmd, log string) (Worker, error) {
	output, err := os.Create(filepath.Clean(log))
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	cmd.Stdout, cmd.Stderr = output, output
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, output.Close())
	}
	w := &process{cmd: cmd, stdin: stdin, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.err = errors.Join(cmd.Wait(), output.Close())
		if w.err != nil {
			w.err = fmt.Errorf("%w: %s", w.err, tail(log))
		}
	}()
	return w, nil
}

// Stop implements Worker.
func (w *process) Stop() { _ = w.stdin.Close() }

// Kill implements Worker.
func (w *process) Kill() error {
	if err := w.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill process %d: %w", w.cmd.Process.Pid, err)
	}
	return nil
}

// Done implements Worker.
func (w *process) Done() <-chan struct{} { return w.done }

// Err implements Worker.
func (w *process) Err() error { return w.err }

// tail returns the end of the file at path.
func tail(path string) []byte {
	text, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return []byte(err.Error())
	}
	return bytes.TrimSpace(text[max(0, len(text)-errorTail):])
}
