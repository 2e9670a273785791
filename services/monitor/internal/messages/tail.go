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
	w, err := r.walkFrom(ctx, q, !forward, make([]*redisx.EntryID, len(q.Shards)), behind+q.Limit)
	if err != nil {
		return page{}, err
	}
	edges := make([]*redisx.EntryID, len(q.Shards)) // of the page, on the side of what lies behind
	var found page
	for taken := 0; w.more() && taken < behind+q.Limit; taken++ {
		record, s, err := w.next(ctx)
		if err != nil {
			return page{}, err
		}
		if taken < behind {
			continue
		}
		if edges[s.place] == nil {
			edges[s.place] = &record.id
		}
		if found.bytes >= pageBytes { // pages from the end are counted, so none may be shorter
			record = record.emptied()
		}
		found.add(record)
	}
	slices.Reverse(found.records)
	if behind > 0 && len(found.records) > 0 {
		found.next = cursorOf(q, w.behind(edges), nil)
	}
	return found, nil
}

// behind returns the bounds from which the walk in the other direction leaves a page with
// these edges.
func (w *walk) behind(edges []*redisx.EntryID) []*redisx.EntryID {
	for i, s := range w.sources {
		switch {
		case edges[i] != nil: // some of the page are of this shard
		case len(s.read) > 0: // all that was taken lies behind, all else before
			id := s.top().id
			edges[i] = &id
		case !w.forward: // all of the shard lies behind: read it from its beginning
		case s.bound != nil:
			above := s.bound.Next()
			edges[i] = &above
		default: // nothing is there; what comes is newer than the page
			edges[i] = &redisx.EntryID{}
		}
	}
	return edges
}
