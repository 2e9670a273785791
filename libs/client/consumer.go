package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/shardkey"
	"github.com/redis-stream-coordinator/rsc/libs/client/internal/tracectx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// probeTimeout bounds the question which commands Redis knows.
const probeTimeout = time.Second

// coordinator is what a consumer needs of the API.
type coordinator interface {
	Heartbeat(ctx context.Context, stream, group string, req *protocol.HeartbeatRequest) (*protocol.HeartbeatResponse, error)
}

// worker does the work of a shard from the grant until g.stop; it returns when nothing of
// the shard runs any more.
type worker interface {
	work(g *grant)
}

// Consumer runs the members of one subscription.
type Consumer struct {
	coordinator coordinator
	redis       redis.UniversalClient // nil when the application reads by itself
	log         *slog.Logger
	tracer      trace.Tracer // nil makes no spans
	sub         Subscription
	newWorker   func(s *session, g *grant) worker

	scripts *shardkey.Scripts
	conns   shardkey.Conns
	// background is what acknowledgements run on: they end with the session, not with a call.
	background context.Context
	books      books
	counters   counters
	sessions   []*session
	used       atomic.Bool
}

// NewConsumer returns a Consumer that gives the records of the subscription to handler. It
// does not connect; Run does. It fails with ErrInvalidSubscription and ErrNoRedis.
func (c *Client) NewConsumer(sub Subscription, handler Handler) (*Consumer, error) {
	if handler == nil {
		return nil, fmt.Errorf("%w: no handler", ErrInvalidSubscription)
	}
	if c.redis == nil {
		return nil, ErrNoRedis
	}
	consumer, err := newConsumer(c, sub)
	if err != nil {
		return nil, err
	}
	consumer.redis = c.redis
	consumer.newWorker = func(s *session, g *grant) worker { return newReader(s, g, handler) }
	return consumer, nil
}

// Consume runs a Consumer until ctx ends, then leaves gracefully, see Consumer.Run.
func (c *Client) Consume(ctx context.Context, sub Subscription, handler Handler) error {
	consumer, err := c.NewConsumer(sub, handler)
	if err != nil {
		return err
	}
	return consumer.Run(ctx)
}

func newConsumer(c *Client, sub Subscription) (*Consumer, error) {
	if err := sub.check(); err != nil {
		return nil, err
	}
	sub = sub.withDefaults()
	ids, err := memberIDs(sub)
	if err != nil {
		return nil, err
	}
	consumer := &Consumer{
		coordinator: c.api, sub: sub, tracer: c.tracer,
		log:     c.log.With("stream", sub.Stream, "group", sub.Group),
		scripts: shardkey.NewScripts(),
	}
	for _, id := range ids {
		consumer.sessions = append(consumer.sessions, newSession(consumer, id))
	}
	return consumer, nil
}

// Run joins the group, reads what the coordinator grants, and returns when ctx has ended and
// every member has left: handlers get DrainTimeout to finish, the coordinator 1 s to
// answer, whatever happens (field case F33). It returns nil after a complete hand-over,
// ErrNotDrained when handlers still ran or acknowledgements were not out, and ErrUnknownGroup with FailFast. Failures of
// Redis and the coordinator do not end it: they are waited out and seen in Status.
// A Consumer runs once.
func (c *Consumer) Run(ctx context.Context) error {
	if !c.used.CompareAndSwap(false, true) {
		return ErrConsumerUsed
	}
	if ctx.Err() != nil {
		return nil
	}
	ctx = tracectx.Detach(ctx)
	if c.redis != nil {
		reads, err := redisx.Dedicated(c.redis, protocol.DefaultMaxShards)
		if err != nil {
			return fmt.Errorf("connect consumer: %w", err)
		}
		defer c.release(reads)
		c.conns = shardkey.Conns{Reads: reads, Writes: c.redis, AckDel: knowsAckDel(ctx, reads)}
	}
	c.background = context.WithoutCancel(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var members sync.WaitGroup
	errs := make([]error, len(c.sessions))
	for at, member := range c.sessions {
		members.Go(func() {
			if errs[at] = member.run(ctx); errs[at] != nil {
				cancel()
			}
		})
	}
	members.Wait()
	return errors.Join(errs...)
}

// release closes the connections for reads when nothing uses them any more, which is now
// unless a handler ignores the end of its context.
func (c *Consumer) release(reads redis.UniversalClient) {
	closing := func() {
		for _, member := range c.sessions {
			member.running.Wait()
		}
		_ = reads.Close()
	}
	for _, member := range c.sessions {
		if !member.clean {
			go closing()
			return
		}
	}
	closing()
}

// knowsAckDel asks for XACKDEL. A server that does not answer now counts as an older one:
// the script does the same.
func knowsAckDel(ctx context.Context, rdb redis.UniversalClient) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	known, err := redisx.Probe(ctx, rdb)
	return err == nil && known.AckDel
}
