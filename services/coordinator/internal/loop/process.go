package loop

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// process decides a batch, stores the decision and answers. It retries in place when
// another coordinator was faster: at once, then with jitter, within the budget.
func (w *worker) process(ctx context.Context, batch []*task) {
	if w.damaged != nil {
		w.fail(batch, w.damaged)
		return
	}
	heard := heardIn(batch)
	started := clock.Now()
	for attempt := 0; ; attempt++ {
		fresh := attempt > 0 || heard.errand != nil || w.needsLoad()
		out, prev, err := w.attempt(ctx, heard, fresh)
		switch {
		case err == nil:
			w.loop.note(w.key, nil)
			w.loop.meter.Stepped(stepOf(w.key, prev, heard, out, clock.Since(started)))
			w.reply(batch, out)
			w.loop.tellNeeds(w.key, heard.requests, out)
			return
		case errors.Is(err, errNotSteady):
			continue
		case !errors.Is(err, store.ErrConflict) || clock.Since(started) > w.loop.cfg.ConflictBudget:
			w.giveUp(ctx, err)
			w.fail(batch, err)
			return
		}
		w.loop.meter.Conflict(heard.operation(), attempt+1)
		w.pause(attempt)
	}
}

// errNotSteady tells that a cached snapshot is not enough for the decision (E6).
var errNotSteady = errors.New("decision needs a fresh state")

// attempt runs the core once and stores what it says. prev is the state that it began with.
func (w *worker) attempt(ctx context.Context, heard batched, fresh bool) (out group.Output, prev *group.Group, err error) {
	ctx, cancel := context.WithTimeout(ctx, w.loop.cfg.CallTimeout)
	defer cancel()
	if fresh {
		if err := w.load(ctx); err != nil {
			return group.Output{}, nil, err
		}
	}
	prev = w.snap.g
	out = group.Step(w.loop.cfg.Group, prev, w.input(heard, fresh))
	if !fresh && !out.Steady {
		return group.Output{}, nil, errNotSteady
	}
	if out.Next != nil {
		err = w.commit(ctx, out, heard.errand)
	} else {
		err = w.touch(ctx, out, fresh)
	}
	if err == nil {
		w.seen = group.Sighting{Lineage: w.snap.g.Lineage, Revision: w.snap.version.Revision}
	}
	return out, prev, err
}

func (w *worker) input(heard batched, fresh bool) group.Input {
	in := group.Input{
		Now: group.Millis(w.watch.store), Fresh: fresh, Live: w.snap.live, Heartbeats: heard.requests,
	}
	if heard.errand != nil {
		in.Layout, in.Order = heard.errand.layout, heard.errand.order
	}
	if fresh {
		in.ServedAt = group.Millis(w.snap.servedAt)
		in.Identity = w.snap.identity
		in.Revision, in.Seen = w.snap.version.Revision, w.seen
		in.ClockJumped = w.watch.jumped
		in.Nonce = w.loop.nonce()
	}
	return in
}

// needsLoad tells whether the cached snapshot may not be used: there is none, something
// is due, the store's clock jumped, or this process has not heard for long that anybody
// serves the group. In the last case a touch would hide that nobody did (T1).
func (w *worker) needsLoad() bool {
	if w.snap == nil || w.watch.jumped {
		return true
	}
	if w.watch.estimate() >= w.snap.servedAt.Add(w.loop.cfg.Group.Lease/2) {
		return true
	}
	if !w.wake().isDue() {
		return false
	}
	w.plan() // the deadlines heard meanwhile may have put it off
	return w.wake().isDue()
}

// giveUp forgets what cannot be trusted any more after a failed call.
func (w *worker) giveUp(ctx context.Context, err error) {
	w.loop.note(w.key, err)
	if unreadable(err) {
		known := w.snap != nil
		w.snap = nil
		w.plan()
		if known && errors.Is(err, store.ErrNotFound) {
			w.loop.vanished(ctx, w.key)
		}
		return
	}
	w.loop.log.Warn("store does not take a decision", "group", w.key.String(), "error", err)
}

// pause waits a little before the next try; the first retry is at once.
func (w *worker) pause(attempt int) {
	if attempt == 0 {
		return
	}
	most := min(2*time.Millisecond<<min(attempt, 6), 100*time.Millisecond)
	timer := clock.NewTimer(rand.N(most))
	<-timer.C
}

// plan notes when the group wants its next tick.
func (w *worker) plan() {
	next := wake{watch: w.watch}
	if w.snap != nil {
		next.due = store.Millis(group.Due(w.loop.cfg.Group, w.snap.g, w.snap.live))
		if w.snap.g.HasListening() {
			next.serve = w.snap.servedAt.Add(serveAfter(w.loop.cfg.Group))
		}
	}
	w.mu.Lock()
	w.next = next
	w.mu.Unlock()
}

func (w *worker) wake() wake {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.next
}

// reply answers the heartbeats and the errand of a batch.
func (w *worker) reply(batch []*task, out group.Output) {
	i := 0
	for _, t := range batch {
		switch {
		case t.req != nil:
			t.finish(outcome{response: out.Replies[i].Response})
			i++
		case t.errand != nil:
			t.finish(outcome{group: w.snap.g, err: out.OrderErr})
		}
	}
}

// batched is what a batch brings to the core.
type batched struct {
	requests []*protocol.HeartbeatRequest
	errand   *errand // at most one a batch
	ticked   bool
}

func heardIn(batch []*task) batched {
	heard := batched{requests: make([]*protocol.HeartbeatRequest, 0, len(batch))}
	for _, t := range batch {
		if t.req != nil {
			heard.requests = append(heard.requests, t.req)
		}
		if t.errand != nil {
			heard.errand = t.errand
		}
		heard.ticked = heard.ticked || t.isTick()
	}
	return heard
}
