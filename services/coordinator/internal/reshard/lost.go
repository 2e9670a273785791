package reshard

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/codec"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/provision"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
)

// mend looks for shards that are missing in Redis and makes them again (L12): first the
// record says that they are lost, so that no group grants them, then they are made, and
// then the record says that they are there.
func (p *pass) mend(ctx context.Context) (moved bool, err error) {
	if p.lost {
		p.lost = false
		if moved, err := p.findLost(ctx); moved || err != nil {
			return moved, err
		}
	}
	if lost := p.entry.Stream.Lost; len(lost) > 0 && !p.remade && !p.barred() {
		return p.remake(ctx, lost)
	}
	return false, nil
}

// findLost looks at every shard of the reading set on its primary.
func (p *pass) findLost(ctx context.Context) (moved bool, err error) {
	found, err := p.shards.Prove(ctx, p.prefix, p.entry.Stream.Readable(), p.entry.Stream.Active())
	if err != nil {
		return false, fmt.Errorf("shards cannot be looked at: %w", err)
	}
	var lost []int
	for _, f := range found {
		if missing(f.Reason) && !p.retired(f) {
			lost = append(lost, f.Index)
			if slices.Contains(p.entry.Stream.Lost, f.Index) {
				continue // told before
			}
			p.log.Error("shard is lost", "stream", p.prefix, "shard", f.Index, "reason", f.Reason, "groups", f.Missing)
		}
	}
	return p.save(ctx, p.entry.Stream.WithLost(lost, p.now()))
}

// retired tells whether the resharding under way has sealed a shard, though the record may
// have lost that: then it is proven, and its entries are kept (L5).
func (p *pass) retired(f provision.Finding) bool {
	r := p.entry.Stream.Resharding
	return r != nil && f.RetiredBy == r.ID
}

// barred tells whether a group is behind a barrier or in a round: what its members know of
// a shard is not known yet. Where no group can be read, nobody would read a shard either.
func (p *pass) barred() bool {
	if len(p.groups) == 0 && len(p.unread) > 0 {
		return true
	}
	for _, g := range p.groups {
		if g.BarrierUntil != 0 || g.Round != nil {
			return true
		}
	}
	return false
}

func (p *pass) remake(ctx context.Context, lost []int) (moved bool, err error) {
	starts, err := p.starts(ctx)
	if err != nil {
		return false, err
	}
	t := provision.Token{Mark: p.entry.Stream.Mark, ReshardingID: "lost", Phase: "remake"}
	if r := p.entry.Stream.Resharding; r != nil {
		t.ReshardingID = r.ID
	}
	higher, err := p.shards.Mark(ctx, p.prefix, lost, t)
	if err != nil {
		return false, err
	}
	if higher > 0 { // the record lost writes
		return p.save(ctx, p.entry.Stream.Marked(higher, p.now()))
	}
	p.remade = true
	whole := make([]int, 0, len(lost))
	for _, index := range lost {
		made, err := p.shards.Remake(ctx, p.prefix, index, t, starts[index])
		if err != nil { // one that cannot be made stops none of the others
			p.undone = errors.Join(p.undone, fmt.Errorf("lost shard %d is not made again: %w", index, err))
			continue
		}
		whole = append(whole, index)
		if len(made) > 0 {
			p.log.Error("lost shard is made again: its records are lost, others may be handled twice",
				"stream", p.prefix, "shard", index, "groups", made, "starts", starts[index])
		}
	}
	return p.save(ctx, p.entry.Stream.WithFound(whole))
}

// starts returns by shard and group where a group that is made again begins to read: at
// the lowest id that a member has on record as acknowledged, if nothing below it can be
// open, else at the beginning (L12).
func (p *pass) starts(ctx context.Context) (map[int]map[string]string, error) {
	starts := make(map[int]map[string]string)
	for name := range p.groups {
		v, err := p.Driver.groups.View(ctx, store.Key{Stream: p.prefix, Group: name})
		if err != nil {
			return nil, fmt.Errorf("group %q cannot be read: %w", name, loop.Fault(err))
		}
		for _, index := range p.entry.Stream.Lost {
			if starts[index] == nil {
				starts[index] = make(map[string]string)
			}
			starts[index][name] = startOf(v.Detail, index)
			for _, unread := range p.unread { // it gets a barrier when it is repaired (M6)
				starts[index][unread] = fromStart
			}
		}
	}
	return starts, nil
}

// fromStart is the id before all entries.
const fromStart = "0-0"

// startOf returns the lowest acknowledged id of a shard. A member that had records open
// says that something below its last one may be.
func startOf(details map[string]codec.Detail, index int) string {
	lowest := fromStart
	var first store.Cursor
	for _, d := range details {
		for _, progress := range d.Progress {
			if progress.Shard.ShardIndex != index {
				continue
			}
			if progress.PendingCount > 0 {
				return fromStart
			}
			if progress.LastAckedID == nil {
				continue
			}
			acked, err := store.ParseCursor(*progress.LastAckedID)
			if err != nil {
				return fromStart
			}
			if lowest == fromStart || acked.Before(first) {
				lowest, first = *progress.LastAckedID, acked
			}
		}
	}
	return lowest
}
