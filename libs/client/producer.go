package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/route"
	"github.com/redis-stream-coordinator/rsc/libs/client/internal/tracectx"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

// Defaults of ProducerOptions.
const (
	DefaultPublishRetries = 5
	DefaultAsyncBuffer    = 1024
	DefaultAsyncBatch     = 256
)

// ProducerOptions tunes a Producer; the zero value is usable.
type ProducerOptions struct {
	// MaxLen trims each shard to about that many entries; 0 does not trim. Entries may be
	// trimmed before they are read.
	MaxLen int64
	// ExactTrim trims to exactly MaxLen, which costs Redis more.
	ExactTrim bool
	// RetryUncertain writes a record again when it is not known whether it was written.
	// It may then be in the stream twice.
	RetryUncertain bool
	// Retries is how often a record is tried again that Redis has certainly not written,
	// with pauses of 20 ms and more; 0 means DefaultPublishRetries, below 0 none. The one
	// attempt after a stale route is not counted.
	Retries int
	// RefreshEvery is the period of the routing refresh; 0 means half of the lease that
	// the coordinator gives. It is held below 3/4 of the lease.
	RefreshEvery time.Duration
	// OmitKeyField leaves KeyField out of the entries.
	OmitKeyField bool
	// AsyncBuffer is how many records PublishAsync holds; 0 means DefaultAsyncBuffer.
	AsyncBuffer int
	// AsyncBatch is how many of them go into one pipeline; 0 means DefaultAsyncBatch.
	AsyncBatch int
}

func (o ProducerOptions) withDefaults() ProducerOptions {
	switch {
	case o.Retries == 0:
		o.Retries = DefaultPublishRetries
	case o.Retries < 0:
		o.Retries = 0
	}
	if o.AsyncBuffer <= 0 {
		o.AsyncBuffer = DefaultAsyncBuffer
	}
	if o.AsyncBatch <= 0 {
		o.AsyncBatch = DefaultAsyncBatch
	}
	return o
}

// Producer publishes records to the shards of one stream. It is safe for use by several
// goroutines; Close ends it.
type Producer struct {
	stream, group string
	opts          ProducerOptions
	redis         redis.UniversalClient
	routes        *route.Keeper
	encoder       encoder
	spans         publishTracer
	gate          publishGate
	async         *asyncQueue
}

// NewProducer loads the routing of stream and starts to keep it current; ctx bounds the
// first request. A stream has the same routing for all its groups, group names the one
// whose metadata is asked.
//
// It fails with ErrUnknownGroup, ErrNoShards, ErrUnavailable or ErrNoRedis.
func (c *Client) NewProducer(ctx context.Context, stream, group string, opts ProducerOptions) (*Producer, error) {
	if c.redis == nil {
		return nil, fmt.Errorf("new producer: %w", ErrNoRedis)
	}
	opts = opts.withDefaults()
	routes, err := route.Open(ctx, c.api, route.Options{
		Stream: stream, Group: group, Every: opts.RefreshEvery, Log: c.log,
	})
	if err != nil {
		return nil, fmt.Errorf("new producer: %w", groupError(err))
	}
	if routes.Status().Table.ShardCount() == 0 {
		routes.Close()
		return nil, fmt.Errorf("new producer of %s: %w", stream, ErrNoShards)
	}
	p := &Producer{
		stream: stream, group: group, opts: opts, redis: c.redis, routes: routes, encoder: newEncoder(opts),
		spans: newPublishTracer(c.tracer, stream),
	}
	if c.tracer != nil {
		p.encoder.spare = traceArgsMost
	}
	p.async = startAsync(tracectx.Detach(context.WithoutCancel(ctx)), p, opts.AsyncBuffer, opts.AsyncBatch)
	return p, nil
}

// Pause refuses new records with ErrPaused and waits until none is on its way, retries
// and buffered ones included. When ctx ends before, it returns its error and the producer
// stays paused. Pause, a scale of the stream, Refresh and Resume, in this order, keep
// workloads that cannot bear duplicates or a change of order from spanning the change.
func (p *Producer) Pause(ctx context.Context) error {
	if err := p.gate.wait(ctx, p.gate.pause()); err != nil {
		return fmt.Errorf("pause producer: %w", err)
	}
	return nil
}

// Resume ends a Pause.
func (p *Producer) Resume() { p.gate.resume() }

// Refresh waits for the answer to a routing request that is sent after the call.
func (p *Producer) Refresh(ctx context.Context) error { return p.refresh(ctx) }

func (p *Producer) refresh(ctx context.Context) error {
	err := p.routes.Refresh(ctx)
	if errors.Is(err, route.ErrClosed) {
		return ErrProducerClosed
	}
	return groupError(err)
}

// Close refuses new records and waits for those on their way, the buffered ones included.
// When ctx ends before, its error is returned, and the buffered records that were not sent
// are given back with ErrProducerClosed as soon as the write under way has ended.
// Closing again does nothing.
func (p *Producer) Close(ctx context.Context) error {
	defer p.routes.Close()
	err := p.gate.wait(ctx, p.gate.close())
	p.async.stop()
	if err != nil {
		return fmt.Errorf("close producer: %w", err)
	}
	<-p.async.ended
	return nil
}

// ProducerStatus is how a Producer does.
type ProducerStatus struct {
	Stream, Group string
	// MetadataVersion, Lineage and ShardCount are those of the routing in use.
	MetadataVersion int64
	Lineage         string
	ShardCount      int
	// RoutingAge counts from when the routing was last asked for and found current.
	RoutingAge time.Duration
	// LeaseLeft is how long the routing may still be used; 0 when it has expired.
	LeaseLeft time.Duration
	// RefreshFailures counts the failed refreshes since the last that worked, and
	// LastRefreshError is why the last one failed.
	RefreshFailures  int64
	LastRefreshError error
	// InFlight counts the records on their way, the Buffered ones included.
	InFlight, Buffered int
	Paused             bool
}

// Status returns how p does.
func (p *Producer) Status() ProducerStatus {
	routes := p.routes.Status()
	inside, paused := p.gate.state()
	return ProducerStatus{
		Stream: p.stream, Group: p.group,
		MetadataVersion:  routes.Table.Version,
		Lineage:          routes.Table.Lineage,
		ShardCount:       routes.Table.ShardCount(),
		RoutingAge:       clock.Since(routes.Table.AskedAt()),
		LeaseLeft:        max(clock.Until(routes.Table.ValidUntil()), 0),
		RefreshFailures:  routes.Failures,
		LastRefreshError: routes.LastError,
		InFlight:         inside,
		Buffered:         p.async.buffered(),
		Paused:           paused,
	}
}
