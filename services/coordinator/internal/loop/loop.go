// Package loop carries out what the group core decides: one worker a group takes all
// that is queued, applies it, commits once and answers all.
//
// There are no timers in the request path. A steady heartbeat is one Touch of the store
// on the worker's cached snapshot; anything else is decided again on a state that was
// just loaded, with the store's clock, and committed by compare-and-set (protocol E6,
// T1, T3; storage, the steady heartbeat). No answer is given before the store has
// accepted what it rests on.
package loop

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// Config is the loop's part of the configuration.
type Config struct {
	// Group holds the timing of the groups.
	Group group.Config
	// Interval is how often due transitions are looked for.
	Interval time.Duration
	// Sweep is how often the store is asked for groups that nobody talks to.
	Sweep time.Duration
	// Batch bounds the heartbeats of one store call.
	Batch int
	// ConflictBudget bounds the retries of one batch against other coordinators.
	ConflictBudget time.Duration
	// CallTimeout bounds one store call.
	CallTimeout time.Duration
}

// DefaultConfig returns the defaults of the suite.
func DefaultConfig() Config {
	return Config{
		Group:          group.DefaultConfig(),
		Interval:       time.Second,
		Sweep:          time.Minute,
		Batch:          64,
		ConflictBudget: 5 * time.Second,
		CallTimeout:    5 * time.Second,
	}
}

// Loop serves the groups of a store. It is safe for concurrent use.
type Loop struct {
	cfg   Config
	store store.Store
	nonce func() string
	log   *slog.Logger

	mu       sync.Mutex
	workers  map[store.Key]*worker
	problems map[store.Key]error           // groups that fail closed, for health (M6)
	attend   func(stream string, why Need) // see Attend; nil for nobody
	meter    Meter
	schema   func() int // see Write
	closed   bool
	running  sync.WaitGroup // batches and ticks under way
	stopTick context.CancelFunc

	// calls is what calls of the store run on: a batch is nobody's own, so they end with
	// the loop and not with a caller.
	calls    context.Context
	endCalls context.CancelFunc
}

// New returns a loop that does not tick yet; see Start. nonce returns a fresh random
// name with every call.
func New(cfg Config, s store.Store, nonce func() string, log *slog.Logger) *Loop {
	calls, endCalls := context.WithCancel(context.Background())
	return &Loop{
		cfg: cfg, store: s, nonce: nonce, log: log,
		workers: make(map[store.Key]*worker), problems: make(map[store.Key]error),
		calls: calls, endCalls: endCalls, meter: unmeasured{}, schema: codec.Newest,
	}
}

// Write sets what tells, at each commit, the schema that groups are written in; without it
// that is the newest (storage, Versions). Set it before the first heartbeat.
func (l *Loop) Write(schema func() int) { l.schema = schema }

// Heartbeat applies one heartbeat and returns the committed decision. Refusals by epoch
// or state are answers; an error is a *protocol.Error: STORE_UNAVAILABLE when the store
// does not take the decision, COORDINATOR_TERMINATING after Close.
//
// A group that does not exist, or whose metadata cannot be read, answers
// UNKNOWN_MEMBER_ID (J1, M6): nothing is ever rebuilt from heartbeats.
func (l *Loop) Heartbeat(ctx context.Context, stream, name string, req *protocol.HeartbeatRequest) (*protocol.HeartbeatResponse, error) {
	task := &task{req: req, done: make(chan outcome, 1)}
	if err := l.submit(store.Key{Stream: stream, Group: name}, task); err != nil {
		return nil, err
	}
	select {
	case out := <-task.done:
		return out.response, out.err
	case <-ctx.Done():
		return nil, protocol.Errorf(protocol.CodeStoreUnavailable, "the caller gave up before the store answered").Because(ctx.Err())
	}
}

// Close refuses new work with COORDINATOR_TERMINATING, stops the ticks and waits for the
// work that has been entered. What is still under way when ctx ends is cut off.
func (l *Loop) Close(ctx context.Context) error {
	defer l.endCalls()
	l.mu.Lock()
	l.closed = true
	stop := l.stopTick
	l.mu.Unlock()
	if stop != nil {
		stop()
	}
	idle := make(chan struct{})
	go func() {
		l.running.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return errors.Join(errors.New("requests are still under way"), ctx.Err())
	}
}

// submit queues a task at the group's worker and starts the worker if it is idle.
func (l *Loop) submit(key store.Key, t *task) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return protocol.Errorf(protocol.CodeTerminating, "this coordinator is stopping; another one, or this one after its restart, takes over")
	}
	w := l.workers[key]
	if w == nil {
		w = &worker{loop: l, key: key}
		l.workers[key] = w
	}
	if w.add(t) {
		l.running.Add(1)
		go w.run(l.calls)
	}
	return nil
}

// drop forgets a worker whose group does not exist, so that unknown names cost nothing.
// A worker that has got new work meanwhile stays.
func (l *Loop) drop(w *worker) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.workers[w.key] == w && w.idle() {
		delete(l.workers, w.key)
	}
}
