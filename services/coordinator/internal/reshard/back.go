package reshard

import (
	"context"
	"fmt"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// maxSkew is how far the clocks of Redis nodes may be apart, in milliseconds, for what is
// written to a shard after the order of a resharding to have a later id.
const maxSkew = 5_000

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
		used, err := p.shards.Unmake(ctx, p.prefix, added, tokenOf(r), r.CreatedAt-maxSkew)
		if err != nil {
			return false, fmt.Errorf("added shards do not go: %w", err)
		}
		if len(used) > 0 {
			return p.cover(ctx, r, used)
		}
	}
	p.log.Info("resharding is rolled back, routing returns", "stream", p.prefix, "reshardingId", r.ID, "shards", r.From)
	return p.save(ctx, p.entry.Stream.Turned(p.now()))
}

// cover routes to the added shards once more, because some hold records: the record has lost
// that producers were told of them. Then they go as removed shards do, read to their end (L8).
func (p *pass) cover(ctx context.Context, r stream.Resharding, used []int) (moved bool, err error) {
	p.log.Error("the stream's record lost writes, added shards hold records and are read to their end",
		"stream", p.prefix, "reshardingId", r.ID, "shards", used)
	if _, err := p.shards.Make(ctx, p.prefix, span(r.Added()), tokenOf(r), p.entry.Stream.Groups, nil); err != nil {
		return false, fmt.Errorf("added shards are not made again: %w", err)
	}
	return p.save(ctx, p.entry.Stream.Covering(r.To))
}
