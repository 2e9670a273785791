package client

import (
	"context"
	"fmt"
)

// PublishAsync puts rec into the producer's buffer and returns; the buffer is written in
// order, as much at a time as has come together. done is called with the outcome, in
// order and from one goroutine that it must not block; it may be nil. Byte slices in rec
// must not be changed before.
//
// When the buffer is full it waits for room until ctx ends, then fails with ErrBufferFull.
// After an error done is not called. ctx bounds the call only, not the write.
func (p *Producer) PublishAsync(ctx context.Context, rec Record, done func(Result, error)) error {
	w := write{key: rec.Key}
	ctx, w.span = p.spans.start(ctx)
	if w.err = p.buffer(ctx, &rec, w, done); w.err != nil {
		w.endSpan()
	}
	return w.err
}

// buffer hands w over to the goroutine that writes, with its span; after an error both are
// still the caller's.
func (p *Producer) buffer(ctx context.Context, rec *Record, w write, done func(Result, error)) error {
	if err := p.gate.enter(1); err != nil {
		return err
	}
	var err error
	if w.args, err = p.encode(rec, p.spans.fields(ctx)); err == nil {
		err = p.async.put(ctx, asyncItem{write: w, done: done})
	}
	if err != nil {
		p.gate.leave(1)
	}
	return err
}

// Flush waits until all records are written, or have failed, that PublishAsync took
// before the call.
func (p *Producer) Flush(ctx context.Context) error {
	reached := make(chan struct{})
	if err := p.async.put(ctx, asyncItem{mark: reached}); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	select {
	case <-reached:
		return nil
	case <-p.async.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("flush: %w", ctx.Err())
	}
}

// asyncItem is a buffered record, or the mark of a Flush.
type asyncItem struct {
	write write
	done  func(Result, error)
	mark  chan<- struct{}
}

// asyncQueue is the buffer of PublishAsync and the goroutine that writes it.
type asyncQueue struct {
	producer *Producer
	items    chan asyncItem
	batch    int
	stop     context.CancelFunc // ends the writing; what is buffered is given back
	quit     <-chan struct{}    // closed by stop
	ended    chan struct{}      // the goroutine has ended
}

func startAsync(ctx context.Context, p *Producer, buffer, batch int) *asyncQueue {
	ctx, stop := context.WithCancel(ctx)
	q := &asyncQueue{
		producer: p,
		items:    make(chan asyncItem, buffer),
		batch:    batch,
		stop:     stop,
		quit:     ctx.Done(),
		ended:    make(chan struct{}),
	}
	go q.run(ctx)
	return q
}

func (q *asyncQueue) buffered() int { return len(q.items) }

func (q *asyncQueue) put(ctx context.Context, item asyncItem) error {
	select {
	case q.items <- item:
		return nil
	default:
	}
	select {
	case q.items <- item:
		return nil
	case <-q.quit:
		return ErrProducerClosed
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrBufferFull, ctx.Err())
	}
}

func (q *asyncQueue) run(ctx context.Context) {
	defer close(q.ended)
	for {
		select {
		case <-ctx.Done():
			q.giveBack()
			return
		case item := <-q.items:
			items := q.collect(item)
			if ctx.Err() != nil { // both were ready
				q.fail(items)
				continue
			}
			q.publish(ctx, items)
		}
	}
}

// collect takes what is buffered behind first, up to a batch.
func (q *asyncQueue) collect(first asyncItem) []asyncItem {
	items := []asyncItem{first}
	for len(items) < q.batch {
		select {
		case item := <-q.items:
			items = append(items, item)
		default:
			return items
		}
	}
	return items
}

func (q *asyncQueue) publish(ctx context.Context, items []asyncItem) {
	writes := make([]*write, 0, len(items))
	for i := range items {
		if items[i].mark == nil {
			writes = append(writes, &items[i].write)
		}
	}
	q.producer.writeAll(ctx, writes, nil)
	for i := range items {
		q.finish(&items[i])
	}
}

// finish tells the outcome of item.
func (q *asyncQueue) finish(item *asyncItem) {
	if item.mark != nil {
		close(item.mark)
		return
	}
	item.write.endSpan()
	if item.write.err != nil {
		item.write.result = Result{}
	}
	if item.done != nil {
		item.done(item.write.result, item.write.err)
	}
	q.producer.gate.leave(1)
}

func (q *asyncQueue) fail(items []asyncItem) {
	for i := range items {
		items[i].write.err = ErrProducerClosed
		q.finish(&items[i])
	}
}

// giveBack fails what is buffered, until nobody can add to it.
func (q *asyncQueue) giveBack() {
	empty := q.producer.gate.close()
	for {
		select {
		case item := <-q.items:
			q.fail([]asyncItem{item})
		case <-empty:
			return
		}
	}
}
