package route

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
	"github.com/redis-stream-coordinator/rsc/libs/client/internal/tracectx"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

var (
	// ErrExpired comes when the routing's lease has run out and no refresh has worked
	// since; it wraps the last refresh error.
	ErrExpired = errors.New("routing lease has run out")
	// ErrClosed comes from a Keeper that is closed.
	ErrClosed = errors.New("routing is closed")

	errOlder = errors.New("the answer is older than the routing in use")
)

// Source answers routing requests; *api.Client is one.
type Source interface {
	Routing(ctx context.Context, stream, group, etag string) (*api.RoutingAnswer, error)
}

// Options binds a Keeper.
type Options struct {
	Stream, Group string
	// Every is the refresh period; 0 takes half of the lease. It is held below 3/4 of the
	// lease, and shortened at random by up to a tenth.
	Every time.Duration
	Log   *slog.Logger
}

// Keeper holds the routing of one stream. It is safe for use by several goroutines.
type Keeper struct {
	source Source
	opts   Options
	table  atomic.Pointer[Table]

	cancel context.CancelFunc
	kick   chan struct{} // a waiter has come
	done   chan struct{} // the loop has ended

	mu       sync.Mutex
	waiters  []chan<- error
	failures int64 // in a row
	lastErr  error // nil after a refresh that worked
}

// Open loads the routing and starts to keep it. Without an answer it fails and leaves
// nothing running.
func Open(ctx context.Context, source Source, opts Options) (*Keeper, error) {
	k := &Keeper{
		source: source,
		opts:   opts,
		kick:   make(chan struct{}, 1),
		done:   make(chan struct{}),
	}
	if err := k.load(ctx, true); err != nil {
		return nil, err
	}
	var running context.Context
	running, k.cancel = context.WithCancel(tracectx.Detach(context.WithoutCancel(ctx)))
	go k.run(running)
	return k, nil
}

// Close ends the refreshes and waits for the one under way, which is cancelled.
func (k *Keeper) Close() {
	k.cancel()
	<-k.done
}

// Table returns the routing, or ErrExpired when its lease is over.
func (k *Keeper) Table() (*Table, error) {
	table := k.table.Load()
	if clock.Now().Before(table.ValidUntil()) {
		return table, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lastErr == nil {
		return nil, ErrExpired
	}
	return nil, fmt.Errorf("%w: %w", ErrExpired, k.lastErr)
}

// Refresh waits for the answer to a request that is sent after the call. Several callers
// share one request.
func (k *Keeper) Refresh(ctx context.Context) error {
	answered := make(chan error, 1)
	k.mu.Lock()
	k.waiters = append(k.waiters, answered)
	k.mu.Unlock()
	select {
	case k.kick <- struct{}{}:
	default:
	}
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		return fmt.Errorf("refresh routing: %w", ctx.Err())
	case <-k.done:
		return ErrClosed
	}
}

// Status is how a Keeper does.
type Status struct {
	// Table is the routing last accepted, expired or not.
	Table *Table
	// Failures counts the refreshes that failed since the last one that worked.
	Failures int64
	// LastError is why the last refresh failed; nil if it did not.
	LastError error
}

// Status returns how k does.
func (k *Keeper) Status() Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	return Status{Table: k.table.Load(), Failures: k.failures, LastError: k.lastErr}
}

// load asks once and takes the answer.
func (k *Keeper) load(ctx context.Context, explicit bool) error {
	current := k.table.Load()
	etag := ""
	if current != nil {
		etag = current.etag
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout(current))
	defer cancel()
	sent := clock.Now()
	answer, err := k.source.Routing(ctx, k.opts.Stream, k.opts.Group, etag)
	if err == nil {
		err = k.take(current, answer, sent, explicit)
	}
	if current != nil { // the first answer is the caller's affair
		k.note(err)
	}
	return err
}

func (k *Keeper) take(current *Table, answer *api.RoutingAnswer, sent time.Time, explicit bool) error {
	if answer.NotModified {
		k.table.Store(current.renewed(sent))
		return nil
	}
	next := newTable(answer.Routing, answer.ETag, sent)
	if !supersedes(current, next, explicit, clock.Now()) {
		return fmt.Errorf("%w: version %d after %d", errOlder, next.Version, current.Version)
	}
	k.table.Store(next)
	if current != nil && (current.Version != next.Version || current.Lineage != next.Lineage) {
		k.opts.Log.Info("producer routing changed", k.named(),
			slog.Int64("version", next.Version), slog.Int("shards", next.ShardCount()))
	}
	return nil
}

// note records how a request ended, and logs only when that is a change.
func (k *Keeper) note(err error) {
	k.mu.Lock()
	before := k.failures
	k.lastErr = err
	if err == nil {
		k.failures = 0
	} else {
		k.failures++
	}
	k.mu.Unlock()
	switch {
	case err != nil && before == 0:
		k.opts.Log.Warn("producer routing refresh fails", k.named(), slog.Any("error", err))
	case err == nil && before > 0:
		k.opts.Log.Info("producer routing refresh works again", k.named(), slog.Int64("failures", before))
	}
}

func (k *Keeper) named() slog.Attr {
	return slog.Group("routing", slog.String("stream", k.opts.Stream), slog.String("group", k.opts.Group))
}
