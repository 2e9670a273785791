package trial

import "context"

// local is a worker inside this process.
type local struct {
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

// Local starts run as a Worker inside this process, with the values of ctx. It ends when it
// is stopped, not with ctx, and cannot be killed.
func Local(ctx context.Context, run func(ctx context.Context) error) Worker {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	w := &local{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		defer cancel()
		w.err = run(ctx)
	}()
	return w
}

// Stop implements Worker.
func (w *local) Stop() { w.cancel() }

// Kill implements Worker.
func (w *local) Kill() error { return ErrNoProcess }

// Done implements Worker.
func (w *local) Done() <-chan struct{} { return w.done }

// Err implements Worker.
func (w *local) Err() error { return w.err }
