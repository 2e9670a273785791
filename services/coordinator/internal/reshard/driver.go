package reshard

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/provision"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/records"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// Config is the part of the configuration that reshardings need.
type Config struct {
	// RoutingLease is how long producers may use a routing answer; BarrierExtra how long a
	// demoted primary may give old ones (L3, M3).
	RoutingLease, BarrierExtra time.Duration
	// Retention is how long the entries of sealed shards are kept: 0 deletes them, -1 keeps
	// them for ever (L5).
	Retention provision.Retention
	// AcceptTailProof takes pending 0 and an empty tail as proof where the lag is unknown or
	// contradicts them (L9).
	AcceptTailProof bool
	// Interval is how often a stream that needs work is looked at.
	Interval time.Duration
	// Scan is how often all streams are looked through, for work that another coordinator
	// left behind; Sweep how often with their groups, for layouts that the store has lost.
	Scan, Sweep time.Duration
	// PassTimeout bounds one look.
	PassTimeout time.Duration
	// LeaseTTL is the coordination lease that a pass holds, extended between its steps.
	LeaseTTL time.Duration
}

// DefaultConfig returns the defaults of the suite.
func DefaultConfig() Config {
	return Config{
		RoutingLease: protocol.DefaultRoutingLease,
		Retention:    provision.Retention(7 * 24 * time.Hour),
		Interval:     500 * time.Millisecond,
		Scan:         10 * time.Second,
		Sweep:        time.Minute,
		PassTimeout:  time.Minute,
		LeaseTTL:     30 * time.Second,
	}
}

// atOnce bounds the streams that are worked on at the same time.
const atOnce = 4

// Driver takes reshardings on and makes lost shards again. Several coordinators may do so
// for the same stream.
type Driver struct {
	cfg     Config
	records records.Records
	groups  Groups
	shards  Shards
	log     *slog.Logger

	ctx  context.Context // ends with Close
	stop context.CancelFunc
	done sync.WaitGroup
	slot chan struct{} // has room for the streams that may be worked on at once

	mu       sync.Mutex
	due      map[string]errand // streams that need work
	busy     map[string]bool
	troubles map[string]trouble // streams that are not taken further
}

// errand is why a stream is looked at.
type errand struct {
	lost bool // a member misses a shard: all are to be looked at (L12)
	fell bool // the store lost writes: shards that the record forgot are looked for (L1)
}

// NewDriver returns a driver that does nothing yet; see Start. The records' lease is the
// one that passes hold.
func NewDriver(cfg Config, kept records.Records, groups Groups, shards Shards, log *slog.Logger) *Driver {
	ctx, stop := context.WithCancel(context.Background())
	return &Driver{
		cfg: cfg, records: kept, groups: groups, shards: shards, log: log, ctx: ctx, stop: stop,
		slot: make(chan struct{}, atOnce), due: make(map[string]errand), busy: make(map[string]bool),
		troubles: make(map[string]trouble),
	}
}

// Start begins to work. Call it once.
func (d *Driver) Start() { d.done.Go(d.run) }

// Close stops after the steps under way, or when ctx ends.
func (d *Driver) Close(ctx context.Context) error {
	d.stop()
	idle := make(chan struct{})
	go func() {
		d.done.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return errors.Join(errors.New("a resharding step is still under way"), ctx.Err())
	}
}

// Wake asks for a look at a stream about which an operator has ordered something: at once,
// also where tries have failed.
func (d *Driver) Wake(prefix string) {
	d.mu.Lock()
	if t, troubled := d.troubles[prefix]; troubled {
		t.until = time.Time{}
		d.troubles[prefix] = t
	}
	d.mu.Unlock()
	d.want(prefix, errand{})
}

// Attend takes what the loop wants to be looked at: missing shards (L12), and groups that
// may have lost a layout.
func (d *Driver) Attend(prefix string, why loop.Need) {
	d.want(prefix, errand{lost: why == loop.ShardMissing, fell: why == loop.Corrected})
}

func (d *Driver) want(prefix string, e errand) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e.lost, e.fell = e.lost || d.due[prefix].lost, e.fell || d.due[prefix].fell
	d.due[prefix] = e
}

func (d *Driver) run() {
	ticker := clock.NewTicker(d.cfg.Interval)
	defer ticker.Stop()
	var scanned, swept time.Time
	for {
		if scanned.IsZero() || clock.Since(scanned) >= d.cfg.Scan {
			scanned = clock.Now()
			sweep := swept.IsZero() || clock.Since(swept) >= d.cfg.Sweep
			if sweep {
				swept = scanned
			}
			d.scan(sweep)
		}
		for _, prefix := range d.ready() {
			d.begin(prefix)
		}
		select {
		case <-d.ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// scan looks for streams that need work, with sweep also by what their groups have copied.
func (d *Driver) scan(sweep bool) {
	ctx, cancel := context.WithTimeout(d.ctx, d.cfg.PassTimeout)
	defer cancel()
	keys, err := d.records.Store.List(ctx)
	if err != nil {
		d.log.Warn("streams cannot be listed, trying again at the next scan", "error", err)
		return
	}
	for _, key := range keys {
		if key.Group != "" {
			continue
		}
		e, found, err := d.records.Load(ctx, key.Stream)
		switch {
		case err != nil || !found:
		case sweep && d.forgot(ctx, e.Stream):
			d.want(key.Stream, errand{fell: true})
		case needsWork(e.Stream) || sweep && !d.followed(ctx, e.Stream):
			d.want(key.Stream, errand{})
		}
	}
}

// forgot tells whether there are shards that the stream's record does not know.
func (d *Driver) forgot(ctx context.Context, s stream.Stream) bool {
	end, err := d.shards.Beyond(ctx, s.Prefix, s.ReadCount(), s.CreatedAt)
	return err == nil && end > s.ReadCount()
}

// followed tells whether all groups that can be read work on the stream's layout. One that
// fell back behind a resharding that is over would leave shards unread.
func (d *Driver) followed(ctx context.Context, s stream.Stream) bool {
	for _, name := range s.Active() {
		v, err := d.groups.View(ctx, store.Key{Stream: s.Prefix, Group: name})
		if err == nil && !loop.Follows(v.Group, s) {
			return false
		}
	}
	return true
}

func needsWork(s stream.Stream) bool { return s.Resharding != nil || len(s.Lost) > 0 }

// ready returns the streams that need work, are not worked on and did not fail just now.
func (d *Driver) ready() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(d.due)), func(prefix string) bool {
		return d.busy[prefix] || clock.Now().Before(d.troubles[prefix].until)
	})
}

// begin works on a stream, if there is a slot.
func (d *Driver) begin(prefix string) {
	select {
	case d.slot <- struct{}{}:
	default:
		return // at the next tick
	}
	d.mu.Lock()
	why := d.due[prefix]
	delete(d.due, prefix)
	d.busy[prefix] = true
	d.mu.Unlock()
	d.done.Go(func() {
		again, err := d.look(prefix, why)
		d.mu.Lock()
		delete(d.busy, prefix)
		d.mu.Unlock()
		d.note(prefix, err)
		if again {
			d.want(prefix, errand{lost: why.lost && err != nil, fell: why.fell && err != nil})
		}
		<-d.slot
	})
}
