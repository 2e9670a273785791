package messages

import (
	"context"
	"slices"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// tailPage reads the page that is so many pages before the last one: from the other end,
// over what lies behind it.
func (r *Reader) tailPage(ctx context.Context, q Query, forward bool, pages int) (page, error) {
	behind := pages * q.Limit
	floors := r.floors(ctx, q, forward)
	w, err := r.walkFrom(ctx, q, !forward, start{bounds: make([]*redisx.EntryID, len(q.Shards))}, behind+q.Limit)
	if err != nil {
		return page{}, err
	}
	var found page
	for taken := 0; w.more() && taken < behind+q.Limit; taken++ {
		record, err := w.next(ctx)
		if err != nil {
			return page{}, err
		}
		if taken < behind {
			continue
		}
		if found.bytes >= pageBytes { // pages from the end are counted, so none may be shorter
			record = record.emptied()
		}
		found.add(record)
	}
	if behind > 0 && len(found.records) > 0 {
		edge := found.records[0]
		found.next, _ = cursorOf(q, forward, position{edge.id, edge.shard.Index}, w.turned(behind), floors)
	}
	slices.Reverse(found.records)
	return found, nil
}

// turned returns how far a walk in the other direction has read each shard when it comes to
// the first so many records of this one.
func (w *walk) turned(behind int) []reach {
	reaches := w.reaches()
	for i, s := range w.sources {
		reaches[i].bound, reaches[i].next = redisx.EntryID{}, nil
		if len(s.read) > 0 {
			reaches[i].bound = s.top().id
		}
	}
	for i, step := range slices.Backward(w.steps) {
		if place := step.source.place; i >= behind {
			reaches[place].bound = step.taken.id
		} else if reaches[place].next == nil || step.taken.id.Compare(*reaches[place].next) < 0 {
			reaches[place].next = &step.taken.id
		}
	}
	return reaches
}
