package messages

import (
	"cmp"
	"container/heap"
	"context"
	"slices"

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
	at      *position      // of the record that was taken last; FORWARD the furthest of all
	steps   []step
}

// step is a record that was taken, with what was before.
type step struct {
	source *source
	taken  record
	bound  *redisx.EntryID
	at     *position
}

// walkFrom begins a walk, next to the bounds of from.
func (r *Reader) walkFrom(ctx context.Context, q Query, forward bool, from start, records int) (*walk, error) {
	w := &walk{redis: r.redis, forward: forward, chunk: 1 + 2*records/max(1, len(q.Shards)), at: from.high}
	if len(q.Shards) == 1 {
		w.chunk = records + 1
	}
	for i, shard := range q.Shards {
		w.sources = append(w.sources, &source{shard: shard, place: i, bound: from.bounds[i]})
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
func (w *walk) next(ctx context.Context) (record, error) {
	s, _ := heap.Pop(w.ready).(*source)
	was := step{source: s, bound: s.bound, at: w.at}
	taken := s.take()
	was.taken = taken
	w.steps = append(w.steps, was)
	if at := (position{taken.id, s.shard.Index}); !w.forward || w.at == nil || w.at.compare(at) < 0 {
		w.at = &at
	}
	if s.empty() {
		if err := refill(ctx, w.redis, w.forward, []*source{s}, w.chunk); err != nil {
			return record{}, err
		}
	}
	if len(s.read) > 0 {
		heap.Push(w.ready, s)
	}
	return taken, nil
}

// reaches returns how far each shard was read.
func (w *walk) reaches() []reach {
	reaches := make([]reach, len(w.sources))
	for i, s := range w.sources {
		reaches[i] = reach{index: s.shard.Index}
		if s.bound != nil {
			reaches[i].bound = *s.bound
		}
		if len(s.read) > 0 {
			next := s.top().id
			reaches[i].next = &next
		}
	}
	return reaches
}

// after returns where the walk was when it had taken only so many records, one at least, and
// how far each shard was read then.
func (w *walk) after(records int) (position, []reach) {
	at, reaches := w.at, w.reaches()
	for _, step := range slices.Backward(w.steps[records:]) {
		of := &reaches[step.source.place]
		of.bound, of.next, at = redisx.EntryID{}, &step.taken.id, step.at
		if step.bound != nil {
			of.bound = *step.bound
		}
	}
	return *at, reaches
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
