package loop

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/group"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/recorder"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// errand is what the group is to do besides answering heartbeats: copy a layout, or
// follow an operator's order.
type errand struct {
	layout *group.Layout
	order  *group.Order
	by     recorder.Order
}

// done tells whether the step from prev did what the errand asks for: it may only have
// done what was due.
func (e *errand) done(prev *group.Group, out group.Output) bool {
	if e.order != nil {
		return out.OrderErr == nil
	}
	return out.Next.LayoutVersion > prev.LayoutVersion
}

// secondErrand returns the place of the second errand in a queue, 0 without one: a step
// of the core takes one.
func secondErrand(queue []*task) int {
	seen := false
	for i, t := range queue {
		if t.errand == nil {
			continue
		}
		if seen {
			return i
		}
		seen = true
	}
	return 0
}

// Adopt lets a group copy the stream's layout (L1), unless it has it or a newer one, and
// returns the group as it is then. by is for the flight recorder. Errors are those of the
// store, and *protocol.Error after Close.
func (l *Loop) Adopt(ctx context.Context, key store.Key, layout group.Layout, by recorder.Order) (*group.Group, error) {
	return l.run(ctx, key, &errand{layout: &layout, by: by})
}

// Order carries out an operator's intervention and returns the group as it is then.
// Errors are group.ErrNotLive and group.ErrNoBarrier, those of the store, and
// *protocol.Error after Close.
func (l *Loop) Order(ctx context.Context, key store.Key, order group.Order, by recorder.Order) (*group.Group, error) {
	return l.run(ctx, key, &errand{order: &order, by: by})
}

func (l *Loop) run(ctx context.Context, key store.Key, e *errand) (*group.Group, error) {
	task := &task{errand: e, done: make(chan outcome, 1)}
	if err := l.submit(key, task); err != nil {
		return nil, err
	}
	select {
	case out := <-task.done:
		return out.group, out.err
	case <-ctx.Done():
		return nil, fmt.Errorf("group %s: the caller gave up before the store answered: %w", key, ctx.Err())
	}
}

// Need says why a stream should be looked at.
type Need int

// The needs.
const (
	// ShardMissing: a member reports that a shard is missing in Redis (L12).
	ShardMissing Need = iota + 1
	// Corrected: a group found that the store lost writes, and may have lost a layout (M1, L1).
	Corrected
)

// Attend sets what is called with the name of a stream that should be looked at. It must
// return at once, and may be called often for one need. Set it before the first heartbeat.
func (l *Loop) Attend(call func(stream string, why Need)) { l.attend = call }

// need asks for a look at the stream.
func (l *Loop) need(key store.Key, why Need) {
	if l.attend != nil {
		l.attend(key.Stream, why)
	}
}

// tellNeeds passes on what a batch has shown.
func (l *Loop) tellNeeds(key store.Key, requests []*protocol.HeartbeatRequest, out group.Output) {
	if slices.ContainsFunc(requests, missesShard) {
		l.need(key, ShardMissing)
	}
	if slices.ContainsFunc(out.Changes, func(c group.Change) bool { return c.Cause == group.CauseCorrection }) {
		l.need(key, Corrected)
	}
}

func missesShard(req *protocol.HeartbeatRequest) bool {
	return slices.ContainsFunc(req.ShardProgress, func(p protocol.ShardProgress) bool { return p.Error != "" })
}
