package observe

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// Config is when and how much is asked; zero values take the defaults named.
type Config struct {
	// Interval is the time from one round to the next (5 s), varied by a tenth so that
	// monitors do not march in step.
	Interval time.Duration
	// StructureInterval is the time from one question to the coordinator to the next between
	// rounds (1 s); more where its answers take long.
	StructureInterval time.Duration
	// RoundTimeout bounds a round (4 s); what is not answered by then is unreachable.
	RoundTimeout time.Duration
	// MemoryEvery and ConsumersEvery are after how many rounds the size of a shard and the
	// consumers of a group on it are asked for again (10), at the latest when nothing else
	// about the shard has waited longer.
	MemoryEvery, ConsumersEvery int
	// Pipeline is how many shards are asked at once (128). So a node of N shards takes not
	// more than N/64 pipelines as soon as N is 192, with the one that asks what follows from
	// the answers to the last one, and the one that asks who the node is.
	Pipeline int
}

func (c Config) withDefaults() Config {
	c.Interval = cmp.Or(c.Interval, 5*time.Second)
	c.StructureInterval = cmp.Or(c.StructureInterval, time.Second)
	c.RoundTimeout = cmp.Or(c.RoundTimeout, 4*time.Second)
	c.MemoryEvery = cmp.Or(c.MemoryEvery, 10)
	c.ConsumersEvery = cmp.Or(c.ConsumersEvery, 10)
	c.Pipeline = cmp.Or(c.Pipeline, 128)
	return c
}

// Groups knows what is to be observed. The answer is nil where it is still that of etag;
// the tag returned goes with the next call. The SDK's Admin is one.
type Groups interface {
	GroupSnapshots(ctx context.Context, etag string) (*protocol.GroupSnapshotsResponse, string, error)
}

// Deps are what an Observer works with; Redis and Groups are required.
type Deps struct {
	// Redis is a client made by libs/redisx, which never asks a replica.
	Redis  redis.UniversalClient
	Groups Groups
	// Now is the clock of rounds; nil takes the wall clock.
	Now func() time.Time
	// Log takes what people should look at; nil discards it.
	Log *slog.Logger
	// Publish is given every round of Run, one after the other; nil drops them.
	Publish func(facts.Round)
	// Restructure is given the groups of the last round as they are now, where that is news, in
	// between the calls of Publish; nil drops them.
	Restructure func([]facts.Group)
}

// Observer is safe for concurrent use.
type Observer struct {
	cfg    Config
	deps   Deps
	turn   chan struct{} // holds a token while no round is in flight
	groups groupsKeeper
	places placeKeeper
	kept   map[string]kept   // by shard key
	runs   map[string]string // run ids by the names of nodes
	alone  bool              // the coordinator was away when it was asked last
	seen   map[name]bool     // the groups of the last round
	number int64

	skipped atomic.Int64
}

// New returns an Observer. It asks nothing until Run or Round, and needs no closing.
func New(cfg Config, deps Deps) *Observer {
	if deps.Now == nil {
		deps.Now = clock.Now
	}
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	if deps.Publish == nil {
		deps.Publish = func(facts.Round) {}
	}
	if deps.Restructure == nil {
		deps.Restructure = func([]facts.Group) {}
	}
	o := &Observer{cfg: cfg.withDefaults(), deps: deps, turn: make(chan struct{}, 1), kept: map[string]kept{}, runs: map[string]string{}}
	o.groups.source = deps.Groups
	o.places.redis = deps.Redis
	o.turn <- struct{}{}
	return o
}

// Skipped tells how many rounds of Run were left out because one before took too long.
func (o *Observer) Skipped() int64 { return o.skipped.Load() }

// Run makes rounds until ctx ends, the first one at once, and between them asks what has become
// of the groups.
func (o *Observer) Run(ctx context.Context) {
	for ctx.Err() == nil {
		began := clock.Now()
		round, err := o.Round(ctx)
		if err != nil {
			return // only for a ctx that has ended
		}
		o.deps.Publish(round)
		next := clock.Now().Add(o.pause(ctx, clock.Since(began)))
		if o.await(ctx, next) != nil {
			return
		}
	}
}

// pause returns the time until the next round, and counts those that are left out.
func (o *Observer) pause(ctx context.Context, took time.Duration) time.Duration {
	interval := o.cfg.Interval + time.Duration((rand.Float64()-0.5)/5*float64(o.cfg.Interval))
	if took < interval {
		return interval - took
	}
	missed := int64(took / interval)
	o.skipped.Add(missed)
	o.deps.Log.WarnContext(ctx, "a round took longer than the interval", "took", took, "interval", o.cfg.Interval, "roundsLeftOut", missed)
	return interval - took%interval
}

// Round makes one round, after the one that is in flight if there is one. It fails only
// when ctx ends; everything else that goes wrong is part of the round.
func (o *Observer) Round(ctx context.Context) (facts.Round, error) {
	select {
	case <-o.turn:
	case <-ctx.Done():
		return facts.Round{}, fmt.Errorf("wait for the round before: %w", ctx.Err())
	}
	defer func() { o.turn <- struct{}{} }()
	o.number++
	round := o.observe(ctx)
	if err := ctx.Err(); err != nil {
		return facts.Round{}, fmt.Errorf("observe: %w", err)
	}
	return round, nil
}
