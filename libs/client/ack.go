package client

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/shardkey"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// Timing of acknowledgements.
const (
	// ackDelay is how long one that nobody waits for may wait for others.
	ackDelay = 5 * time.Millisecond
	// ackRetry is the pause before one that Redis did not take is repeated.
	ackRetry = 100 * time.Millisecond
)

// ack is one acknowledgement.
type ack struct {
	reader *reader
	id     string
	mode   shardkey.AckMode
	done   chan<- error // buffered; nil when nobody waits
}

// acker carries out the acknowledgements of one member. It sends what has come together: at
// once when somebody waits or a batch is full, otherwise after ackDelay. What comes while
// it is sending goes with the next batch.
type acker struct {
	consumer *Consumer
	wake     chan struct{}

	mu     sync.Mutex
	queue  []ack
	first  time.Time // when the first of queue came
	urgent bool
	later  []ack // to be repeated
	retry  time.Time
	closed bool

	refused bool // belongs to run: the last result was a refusal
}

func newAcker(c *Consumer) *acker {
	return &acker{consumer: c, wake: make(chan struct{}, 1)}
}

// add queues an acknowledgement.
func (a *acker) add(job ack) {
	a.mu.Lock()
	if a.closed || job.reader.sealed {
		a.mu.Unlock()
		job.finish(ErrNotOwner)
		return
	}
	job.reader.unacked++
	if len(a.queue) == 0 {
		a.first = clock.Now()
	}
	a.queue = append(a.queue, job)
	urgent := job.done != nil || len(a.queue) >= a.consumer.sub.BatchSize
	notify := len(a.queue) == 1 || urgent && !a.urgent
	a.urgent = a.urgent || urgent
	a.mu.Unlock()
	if notify {
		a.notify()
	}
}

// drain returns when every acknowledgement of r that was added before is out.
func (a *acker) drain(r *reader) {
	a.mu.Lock()
	if r.unacked == 0 {
		a.mu.Unlock()
		return
	}
	idle := make(chan struct{})
	r.idle = append(r.idle, idle)
	a.urgent = true
	a.mu.Unlock()
	a.notify()
	<-idle
}

// seal refuses acknowledgements of r from now on, and returns when the earlier ones are out:
// what comes after a shard was handed over is its next owner's business.
func (a *acker) seal(r *reader) {
	a.mu.Lock()
	r.sealed = true
	a.mu.Unlock()
	a.drain(r)
}

// close ends run. What is queued is not sent any more.
func (a *acker) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.notify()
}

func (a *acker) notify() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// run sends batches until close.
func (a *acker) run() {
	timer := clock.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		batch, wait, closed := a.take()
		if closed {
			a.finish(batch, func(int) error { return ErrNotOwner })
			return
		}
		if len(batch) > 0 {
			a.send(batch)
			continue
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-a.wake:
		}
	}
}

// take returns what is to be sent now, or how long there is nothing to send.
func (a *acker) take() (batch []ack, wait time.Duration, closed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	wait = time.Hour
	if len(a.later) > 0 {
		if left := clock.Until(a.retry); left > 0 && !a.closed {
			wait = left
		} else {
			batch, a.later = a.later, nil
		}
	}
	if len(a.queue) > 0 {
		if left := ackDelay - clock.Since(a.first); left > 0 && !a.urgent && !a.closed {
			wait = min(wait, left)
		} else {
			batch = append(batch, a.queue...)
			a.queue, a.urgent = nil, false
		}
	}
	return batch, wait, a.closed
}

// send carries a batch out. The lease is checked for each shard at the last moment (protocol
// H5); what is no longer held is refused.
func (a *acker) send(jobs []ack) {
	type kind struct {
		reader *reader
		mode   shardkey.AckMode
	}
	batches := map[kind]*shardkey.AckBatch{}
	order := make([]*shardkey.AckBatch, 0, 1)
	places := make([]*shardkey.AckBatch, len(jobs))
	for at, job := range jobs {
		if !job.reader.mayAck() {
			continue
		}
		same := kind{job.reader, job.mode}
		batch := batches[same]
		if batch == nil {
			batch = &shardkey.AckBatch{Reader: job.reader.shardKey.Reader, Mode: job.mode}
			batches[same] = batch
			order = append(order, batch)
		}
		batch.IDs = append(batch.IDs, job.id)
		places[at] = batch
	}
	shardkey.Ack(a.consumer.background, order)
	next := map[*shardkey.AckBatch]int{}
	a.finish(jobs, func(at int) error {
		batch := places[at]
		if batch == nil {
			return ErrNotOwner
		}
		next[batch]++
		return batch.Errs[next[batch]-1]
	})
}

// finish gives each job its result; what Redis may take later is queued again.
func (a *acker) finish(jobs []ack, result func(at int) error) {
	var idle []chan struct{}
	for at, job := range jobs {
		err := result(at)
		if err != nil && redisx.StateOf(err).Transient() && job.reader.mayAck() && a.again(job) {
			continue
		}
		a.note(job, err)
		job.finish(err)
		a.mu.Lock()
		if job.reader.unacked--; job.reader.unacked == 0 {
			idle = append(idle, job.reader.idle...)
			job.reader.idle = nil
		}
		a.mu.Unlock()
	}
	for _, one := range idle {
		close(one)
	}
}

// note counts a result. A refusal that nobody waits for is logged, once until the next success.
func (a *acker) note(job ack, err error) {
	if err == nil {
		job.reader.acked(job.id)
		a.consumer.counters.acked.Add(1)
		a.refused = false
		return
	}
	a.consumer.counters.ackFailed.Add(1)
	if job.done != nil || a.refused || errors.Is(err, ErrNotOwner) {
		return
	}
	a.refused = true
	job.reader.trouble.log.Warn("acknowledgement refused", "id", job.id, "error", err)
}

// again queues a job for another try; false after close.
func (a *acker) again(job ack) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	if len(a.later) == 0 {
		a.retry = clock.Now().Add(ackRetry)
	}
	a.later = append(a.later, job)
	return true
}

func (j ack) finish(err error) {
	if j.done == nil {
		return
	}
	if errors.Is(err, shardkey.ErrNotPending) {
		err = fmt.Errorf("%w: %w", ErrNotOwner, err)
	}
	j.done <- err
}
