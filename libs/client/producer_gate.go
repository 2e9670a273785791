package client

import (
	"context"
	"sync"
)

// publishGate counts the records that are on their way, and keeps new ones out while the
// producer is paused or closed.
type publishGate struct {
	mu     sync.Mutex
	paused bool
	closed bool
	inside int
	idle   []chan struct{} // closed when inside falls to 0
}

// enter lets n records in; leave is called once for each.
func (g *publishGate) enter(n int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return ErrProducerClosed
	case g.paused:
		return ErrPaused
	}
	g.inside += n
	return nil
}

func (g *publishGate) leave(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside -= n
	if g.inside > 0 {
		return
	}
	for _, waiting := range g.idle {
		close(waiting)
	}
	g.idle = nil
}

// pause refuses new records and returns a channel that is closed when none is inside.
func (g *publishGate) pause() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.paused = true
	return g.empty()
}

func (g *publishGate) resume() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.paused = false
}

// close refuses new records for good and returns a channel like that of pause.
func (g *publishGate) close() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	return g.empty()
}

func (g *publishGate) empty() <-chan struct{} {
	waiting := make(chan struct{})
	if g.inside == 0 {
		close(waiting)
	} else {
		g.idle = append(g.idle, waiting)
	}
	return waiting
}

// wait returns nil when empty, a channel of pause or close, is closed, also when ctx is
// over already.
func (g *publishGate) wait(ctx context.Context, empty <-chan struct{}) error {
	select {
	case <-empty:
		return nil
	default:
	}
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *publishGate) state() (inside int, paused bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inside, g.paused
}
