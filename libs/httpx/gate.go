package httpx

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Gate stands before work that must not begin once the process terminates: closed,
// it refuses what comes and waits for what is inside (storage design, Failure). The
// zero value is not usable; make one with NewGate.
type Gate struct {
	mu     sync.Mutex
	inside int
	closed bool
	empty  chan struct{} // closed when the gate is closed and nobody is inside
}

// NewGate returns an open gate.
func NewGate() *Gate { return &Gate{empty: make(chan struct{})} }

// Enter reports whether the gate is open; after true the caller calls Leave once.
func (g *Gate) Enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.inside++
	return true
}

// Leave ends what a successful Enter began.
func (g *Gate) Leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.closed && g.inside == 0 {
		close(g.empty)
	}
}

// Closed reports whether Close was called.
func (g *Gate) Closed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

// Close refuses everybody from now on and waits until the gate is empty or ctx ends;
// in the second case it returns ctx's error and how many are still inside. It may be
// called again to wait again.
func (g *Gate) Close(ctx context.Context) error {
	g.shut()
	select {
	case <-g.empty:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside == 0 {
		return nil
	}
	return fmt.Errorf("wait for %d requests to finish: %w", g.inside, ctx.Err())
}

// Handler refuses requests of next with COORDINATOR_TERMINATING once the gate is closed, and ends
// their connections: where one address stands for several instances, the next try reaches another.
func (g *Gate) Handler(answers Answers) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !g.Enter() {
				w.Header().Set("Connection", "close")
				answers.Error(w, r, protocol.Errorf(protocol.CodeTerminating, "this instance is terminating, ask another one"))
				return
			}
			defer g.Leave()
			next.ServeHTTP(w, r)
		})
	}
}

func (g *Gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return
	}
	g.closed = true
	if g.inside == 0 {
		close(g.empty)
	}
}
