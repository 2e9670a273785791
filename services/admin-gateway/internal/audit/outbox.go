package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/redis-stream-coordinator/rsc/libs/audit"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const (
	// firstPause and maxPause are those between two tries while the sink is away.
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
	// closingPause is the pause while the gateway ends and waits for the outbox.
	closingPause = 50 * time.Millisecond
	// coolDown is for how long nobody else waits for a sink that has just failed.
	coolDown = time.Second
)

var (
	// ErrLost is wrapped by Close when records could not be written.
	ErrLost = errors.New("audit records were lost")

	errAway   = errors.New("the audit sink has failed, and what waits for it comes first")
	errFull   = errors.New("the audit buffer is full")
	errClosed = errors.New("the audit is closed")
)

// outbox writes records in order, and keeps what cannot be written until it can. While
// something waits, what is new waits behind it. One goroutine writes what waits; it ends
// when nothing does.
type outbox struct {
	sink   Sink
	config Config
	now    func() time.Time
	log    *slog.Logger
	life   context.Context
	stop   context.CancelFunc

	mu       sync.Mutex // held while a record is written that has nothing to wait for
	waiting  []protocol.AuditRecord
	promised int    // outcomes that are to come for intents that were taken
	failures uint64 // tries that failed, and
	lost     uint64 // records that nothing keeps, since the start
	failing  bool
	failedAt time.Time
	closing  chan struct{}
	closed   bool
	drained  chan struct{} // nil when no goroutine writes
}

func newOutbox(sink Sink, config Config, now func() time.Time, log *slog.Logger) *outbox {
	config.Buffer = max(config.Buffer, 1)
	life, stop := context.WithCancel(context.Background())
	return &outbox{sink: sink, config: config, now: now, log: log, life: life, stop: stop, closing: make(chan struct{})}
}

// intend writes the record of a mutation that is to be sent. An error means that it must
// not be. Otherwise there is room for its outcome, which has to come.
func (o *outbox) intend(ctx context.Context, record protocol.AuditRecord) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return errClosed
	}
	err := o.write(ctx, record)
	switch {
	case err == nil:
	case o.config.OnFailure != Buffer:
		return err
	case len(o.waiting)+o.promised+2 > o.config.Buffer:
		return fmt.Errorf("%w: %w", errFull, err)
	default:
		o.wait(record)
	}
	o.promised++
	return nil
}

// conclude writes the record of a request that has ended. It does not fail: the record of
// one that was sent waits for as long as it takes, another one if there is room. Those have
// half of it, so that whoever may do nothing cannot keep others from doing something.
func (o *outbox) conclude(ctx context.Context, record protocol.AuditRecord) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if record.Intended {
		o.promised--
	}
	err := o.write(ctx, record)
	switch {
	case err == nil:
	case o.closed, !record.Intended && len(o.waiting)+o.promised >= max(o.config.Buffer/2, 1):
		o.lose(ctx, record, err)
	default:
		o.wait(record)
	}
}

// write appends a record if nothing waits and the sink has not just failed.
func (o *outbox) write(ctx context.Context, record protocol.AuditRecord) error {
	if len(o.waiting) > 0 || o.failing && o.now().Sub(o.failedAt) < coolDown {
		return errAway
	}
	err := o.append(context.WithoutCancel(ctx), record) // also for a caller that has gone
	o.settle(err)
	return err
}

func (o *outbox) append(ctx context.Context, record protocol.AuditRecord) error {
	ctx, cancel := context.WithTimeout(ctx, o.config.Timeout)
	defer cancel()
	return o.sink.Append(ctx, record)
}

// settle takes note of how a try ended, and says it when that is news.
func (o *outbox) settle(err error) {
	switch {
	case err != nil && !o.failing:
		o.log.Error("audit sink failed", "on_failure", string(o.config.OnFailure), "error", err)
	case err == nil && o.failing:
		o.log.Warn("audit sink is back")
	}
	o.failing = err != nil
	if o.failing {
		o.failures++
		o.failedAt = o.now()
	}
}

func (o *outbox) wait(record protocol.AuditRecord) {
	o.waiting = append(o.waiting, record)
	if o.drained == nil {
		o.drained = make(chan struct{})
		go o.drain(o.drained)
	}
}

// lose says all that is known of a record that nothing else will keep.
func (o *outbox) lose(ctx context.Context, record protocol.AuditRecord, err error) {
	o.lost++
	line, encodeErr := audit.Encode(record)
	o.log.ErrorContext(ctx, "audit record lost", "record", string(line), "error", errors.Join(err, encodeErr))
}

// drain writes what waits until nothing does or the outbox is stopped.
func (o *outbox) drain(drained chan struct{}) {
	defer close(drained)
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = firstPause, maxPause
	for {
		record, more := o.first()
		if !more {
			return
		}
		if err := o.append(o.life, record); err != nil {
			o.noted(err)
			if o.pause(pauses.NextBackOff()) != nil {
				return
			}
			continue
		}
		pauses.Reset()
		o.written()
	}
}

// first returns what waits longest. Without any the goroutine has to end.
func (o *outbox) first() (protocol.AuditRecord, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.waiting) == 0 || o.life.Err() != nil {
		o.drained = nil
		return protocol.AuditRecord{}, false
	}
	return o.waiting[0], true
}

func (o *outbox) noted(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.settle(err)
}

func (o *outbox) written() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.settle(nil)
	o.waiting[0] = protocol.AuditRecord{} // for the garbage collector
	o.waiting = o.waiting[1:]
}

// pause waits, and less long when the outbox is being closed.
func (o *outbox) pause(long time.Duration) error {
	timer := clock.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
		return o.life.Err()
	case <-o.closing:
		return clock.Sleep(o.life, closingPause)
	case <-o.life.Done():
		return o.life.Err()
	}
}

// close writes what waits, for as long as ctx lives, and logs what is lost then.
func (o *outbox) close(ctx context.Context) error {
	o.mu.Lock()
	if !o.closed {
		o.closed = true
		close(o.closing)
	}
	drained := o.drained
	o.mu.Unlock()
	if drained != nil {
		select {
		case <-drained:
		case <-ctx.Done():
		}
		o.stop()
		<-drained
	}
	o.stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	lost := len(o.waiting)
	for _, record := range o.waiting {
		o.lose(ctx, record, errClosed)
	}
	o.waiting = nil
	if lost > 0 {
		return fmt.Errorf("%w: %d could not be written in time, and are in the log", ErrLost, lost)
	}
	return nil
}
