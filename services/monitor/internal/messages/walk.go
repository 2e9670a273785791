package messages

import (
	"cmp"
	"container/heap"
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// pageBytes is about how long a page may get; the record that goes beyond is its last.
const pageBytes = 8 << 20

// walk takes records of several shards in the order of their ids, those of equal ids in the
// order of the shards; BACKWARD it is the reverse order.
type walk struct {
	redis   redis.UniversalClient
	forward bool
	chunk   int // how many records of a shard are read at once at most
	sources []*source
	ready   heap.Interface // the sources that have a record
	last    redisx.EntryID // of the record that was taken last
}

// walkFrom begins a walk, next to the bounds.
func (r *Reader) walkFrom(ctx context.Context, q Query, forward bool, bounds []*redisx.EntryID, records int) (*walk, error) {
	w := &walk{redis: r.redis, forward: forward, chunk: 1 + 2*records/max(1, len(q.Shards))}
	if len(q.Shards) == 1 {
		w.chunk = records + 1
	}
	for i, shard := range q.Shards {
		w.sources = append(w.sources, &source{shard: shard, place: i, bound: bounds[i]})
	}
	if err := refill(ctx, w.redis, forward, w.sources, w.chunk); err != nil {
		return nil, err
	}
	ready := &queue{forward: forward}
	for _, s := range w.sources {
		if len(s.read) > 0 {
			ready.sources = append(ready.sources, s)
		}
	}
	heap.Init(ready)
	w.ready = ready
	return w, nil
}

// more tells whether there is another record.
func (w *walk) more() bool { return w.ready.Len() > 0 }

// next returns the record that comes next; there has to be one.
func (w *walk) next(ctx context.Context) (record, *source, error) {
	s, _ := heap.Pop(w.ready).(*source)
	taken := s.take()
	w.last = taken.id
	if s.empty() {
		if err := refill(ctx, w.redis, w.forward, []*source{s}, w.chunk); err != nil {
			return record{}, nil, err
		}
	}
	if len(s.read) > 0 {
		heap.Push(w.ready, s)
	}
	return taken, s, nil
}

// bounds returns how far the shards were read, rest for those without a bound; there has to
// be a record that was taken.
//
// FORWARD every shard has its own: a later entry may have an id below those of other shards.
// BACKWARD what is left lies below the last record of all, which keeps cursors short and
// what is written later out; only shards that have an entry of the same id go on above it.
func (w *walk) bounds() (bounds []*redisx.EntryID, rest *redisx.EntryID) {
	bounds = make([]*redisx.EntryID, len(w.sources))
	if w.forward {
		for i, s := range w.sources {
			bounds[i] = s.bound
		}
		return bounds, nil
	}
	above := w.last.Next()
	for i, s := range w.sources {
		if len(s.read) > 0 && s.top().id == w.last {
			bounds[i] = &above
		}
	}
	return bounds, &w.last
}

// queue implements heap.Interface for the sources of a walk.
type queue struct {
	sources []*source
	forward bool
}

func (q *queue) Len() int { return len(q.sources) }

func (q *queue) Swap(i, j int) { q.sources[i], q.sources[j] = q.sources[j], q.sources[i] }

func (q *queue) Push(x any) {
	if s, ok := x.(*source); ok {
		q.sources = append(q.sources, s)
	}
}

func (q *queue) Pop() any {
	last := len(q.sources) - 1
	s := q.sources[last]
	q.sources = q.sources[:last]
	return s
}

func (q *queue) Less(i, j int) bool {
	a, b := q.sources[i], q.sources[j]
	order := cmp.Or(a.top().id.Compare(b.top().id), cmp.Compare(a.place, b.place))
	return order < 0 == q.forward
}
