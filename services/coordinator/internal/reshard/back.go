package reshard

import (
	"context"
	"fmt"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// turn lets routing return: the markers are overwritten first, so that no late script of
// the way forward does anything, then sealed shards come back, and only then producers
// are told (L8).
func (p *pass) turn(ctx context.Context, r stream.Resharding) (moved bool, err error) {
	added, cut := span(r.Added()), span(r.Cut())
	if moved, err := p.mark(ctx, r, append(added, cut...)); moved || err != nil {
		return moved, err
	}
	switch {
	case len(cut) > 0:
		if err := p.shards.Unseal(ctx, p.prefix, cut, tokenOf(r), fromTheStart(p.entry.Stream.Groups)); err != nil {
			return false, fmt.Errorf("removed shards do not come back: %w", err)
		}
	case p.entry.Stream.ShardCount == r.From: // producers were never told of the added ones
		if err := p.shards.Unmake(ctx, p.prefix, added, tokenOf(r)); err != nil {
			return false, fmt.Errorf("added shards do not go: %w", err)
		}
	}
	p.log.Info("resharding is rolled back, routing returns", "stream", p.prefix, "reshardingId", r.ID, "shards", r.From)
	return p.save(ctx, p.entry.Stream.Turned(p.now()))
}
