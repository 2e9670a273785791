package loop

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// task is one heartbeat, an errand, or a tick when it is neither.
type task struct {
	req    *protocol.HeartbeatRequest
	errand *errand
	done   chan outcome // has room for the one outcome; nil for a tick
}

type outcome struct {
	response *protocol.HeartbeatResponse
	group    *group.Group // of an errand: the state that was committed or found
	err      error
}

func (t *task) isTick() bool { return t.req == nil && t.errand == nil }

func (t *task) finish(out outcome) {
	if t.done != nil {
		t.done <- out
	}
}

// worker is the only writer of one group in this process.
type worker struct {
	loop *Loop
	key  store.Key

	mu     sync.Mutex
	queue  []*task
	busy   bool
	ticked bool // a tick is queued
	forget bool // the group was deleted: what was seen of it is no evidence (M1)
	reread bool // the stored record differs from the snapshot of its version (M6)
	next   wake // when the group wants to be ticked

	// The fields below belong to the running batch.
	snap    *snapshot
	watch   clockWatch
	seen    group.Sighting // the last state that this process saw, kept when it is gone (M1)
	damaged error          // set when the core panicked on this group: nothing is decided any more
}

// add queues a task and tells whether the worker has to be started.
func (w *worker) add(t *task) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.isTick() {
		if w.ticked {
			return false
		}
		w.ticked = true
	}
	w.queue = append(w.queue, t)
	start := !w.busy
	w.busy = true
	return start
}

// run works until the queue is empty. A busy worker makes bigger batches by itself.
func (w *worker) run(ctx context.Context) {
	defer w.loop.running.Done()
	for {
		// Read while the worker is still ours.
		groupless := w.snap == nil && w.damaged == nil && w.seen == group.Sighting{}
		batch := w.take()
		if batch == nil {
			if groupless {
				w.loop.drop(w)
			}
			return
		}
		w.carryOut(ctx, batch)
	}
}

// take returns what is queued, at most the batch limit, and marks the worker idle when
// there is nothing.
func (w *worker) take() []*task {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) == 0 {
		w.busy = false
		w.queue = nil
		return nil
	}
	if w.forget {
		w.seen, w.forget = group.Sighting{}, false
	}
	if w.reread {
		w.snap, w.reread = nil, false
	}
	n := min(len(w.queue), w.loop.cfg.Batch)
	if second := secondErrand(w.queue[:n]); second > 0 {
		n = second
	}
	batch := w.queue[:n:n]
	w.queue = w.queue[n:]
	for _, t := range batch {
		if t.isTick() {
			w.ticked = false
		}
	}
	return batch
}

func (w *worker) idle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.busy
}

// carryOut answers every task of a batch. A panic of the core stays with this group: it
// is quarantined, and the others go on (style: panic only on a broken invariant).
func (w *worker) carryOut(ctx context.Context, batch []*task) {
	defer func() {
		if broken := recover(); broken != nil {
			w.damaged = fmt.Errorf("the group's state broke an invariant: %v", broken)
			w.snap = nil
			w.loop.log.Error("group quarantined", "group", w.key.String(), "panic", broken, "stack", string(debug.Stack()))
			w.fail(batch, w.damaged)
		}
	}()
	w.process(ctx, batch)
}

// fail gives all tasks of a batch the same refusal.
func (w *worker) fail(batch []*task, err error) {
	for _, t := range batch {
		switch {
		case t.req != nil:
			t.finish(w.refusal(t.req, err))
		case t.errand != nil:
			t.finish(outcome{err: err})
		}
	}
}
