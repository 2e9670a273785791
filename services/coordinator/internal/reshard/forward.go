package reshard

import (
	"context"
	"fmt"
	"slices"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/provision"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// prepare provisions the shards that are added, or takes over the markers of those that
// are removed, and lets the layout change then (L2, L3).
func (p *pass) prepare(ctx context.Context, r stream.Resharding) (moved bool, err error) {
	added, cut := span(r.Added()), span(r.Cut())
	if moved, err := p.mark(ctx, r, append(added, cut...)); moved || err != nil {
		return moved, err
	}
	if len(added) > 0 {
		if _, err := p.shards.Make(ctx, p.prefix, added, tokenOf(r), fromTheStart(p.entry.Stream.Groups), p.extend(ctx)); err != nil {
			return false, fmt.Errorf("shards are not provisioned: %w", err)
		}
	}
	p.log.Info("resharding changes routing", "stream", p.prefix, "reshardingId", r.ID, "from", r.From, "to", r.To)
	return p.save(ctx, p.entry.Stream.Activated(p.now()))
}

// fromTheStart returns the groups as they read a new shard: from its first entry, also
// where they began at the end of the first ones (L2).
func fromTheStart(groups []stream.Group) []stream.Group {
	wanted := slices.Clone(groups)
	for i := range wanted {
		wanted[i].FromLatest = false
	}
	return wanted
}

// extend keeps the lease while many shards are provisioned.
func (p *pass) extend(ctx context.Context) func(provision.Progress) {
	return func(provision.Progress) {
		if err := p.lease.Extend(ctx, p.cfg.LeaseTTL); err != nil {
			p.log.Warn("multi-step lease not extended", "stream", p.prefix, "error", err)
		}
	}
}

// goOn follows a layout that every group has copied: it drains what is removed, and ends
// the resharding when nothing is left to do.
func (p *pass) goOn(ctx context.Context, r stream.Resharding) (moved bool, err error) {
	switch {
	case p.entry.Stream.Removed > 0 && r.DrainFrom == 0:
		return p.awaitRouting(ctx)
	case p.entry.Stream.Removed > 0:
		return p.drain(ctx, r)
	case len(r.Shards) == 0: // shards were added, or came back
		if rests, err := p.settled(ctx); err != nil || !rests {
			return false, err
		}
	}
	p.log.Info("resharding is over", "stream", p.prefix, "reshardingId", r.ID, "from", r.From, "to", r.To, "phase", r.Phase)
	return p.save(ctx, p.entry.Stream.Finished(p.now()))
}

// awaitRouting notes when the last routing answer that names removed shards has run out:
// one routing lease after the last group copied the layout (L3).
func (p *pass) awaitRouting(ctx context.Context) (moved bool, err error) {
	now, err := p.records.Store.Ping(ctx)
	if err != nil {
		return false, loop.Fault(err)
	}
	from := now.Add(p.cfg.RoutingLease + p.cfg.BarrierExtra)
	return p.save(ctx, p.entry.Stream.DrainingFrom(int64(from), p.now()))
}
