package reshard_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// producer publishes without a break to every shard that a fresh routing answer names.
type producer struct {
	stop   context.CancelFunc
	in     string // the group that it asks for
	done   sync.WaitGroup
	mu     sync.Mutex
	sent   map[string]int // by shard key
	faults []string
}

// produce starts a producer; end stops it.
func (b *bench) produce() *producer {
	ctx, stop := context.WithCancel(b.t.Context())
	p := &producer{stop: stop, in: b.crew[0].in, sent: map[string]int{}}
	p.done.Go(func() {
		for ctx.Err() == nil {
			if err := p.round(ctx, b); err != nil && ctx.Err() == nil {
				p.mu.Lock()
				p.faults = append(p.faults, err.Error())
				p.mu.Unlock()
			}
		}
	})
	b.t.Cleanup(p.done.Wait)
	b.t.Cleanup(stop)
	return p
}

// round publishes one record to every shard. What comes behind the routing lease is given
// up, as a producer gives it up (L3).
func (p *producer) round(ctx context.Context, b *bench) error {
	asked := clock.Now()
	routing, err := b.lead.catalog.Routing(ctx, b.prefix, p.in)
	if err != nil {
		return fmt.Errorf("routing: %w", err)
	}
	for _, shard := range routing.Shards {
		err := b.rdb.XAdd(ctx, &redis.XAddArgs{Stream: shard.StreamKey, NoMkStream: true, Values: []string{"f", "v"}}).Err()
		if err == nil {
			p.mu.Lock()
			p.sent[shard.StreamKey]++
			p.mu.Unlock()
			continue
		}
		if clock.Since(asked) < time.Duration(routing.LeaseMs)*time.Millisecond {
			return fmt.Errorf("of %d shards %s does not take a record: %w", len(routing.Shards), shard.StreamKey, err)
		}
	}
	return clock.Sleep(ctx, time.Millisecond)
}

// end stops the producer and returns what went wrong and how many records were sent.
func (p *producer) end() (faults []string, total int) {
	p.stop()
	p.done.Wait()
	for _, n := range p.sent {
		total += n
	}
	return p.faults, total
}

// sentTo tells how many records a shard has taken.
func (p *producer) sentTo(key string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent[key]
}
