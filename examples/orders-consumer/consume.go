package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/redis-stream-coordinator/rsc/examples/internal/orders"
	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

const (
	// reportEvery is the pause between two lines about what was done.
	reportEvery = 10 * time.Second
	// deliveries is how often a record is delivered at most before it is a dead letter.
	deliveries = 5
)

// consume handles orders until ctx ends, gives its shards back then, and returns when the
// handlers have.
func consume(ctx context.Context, cfg config, _ func() (config, error), log *slog.Logger) error {
	connection, err := orders.Connect("orders-consumer", cfg.Client, cfg.Redis, log)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	desk := desk{work: cfg.Orders.Work, log: log}
	consumer, err := connection.NewConsumer(subscription(cfg), desk.handle)
	if err != nil {
		return fmt.Errorf("subscribe to %s: %w", cfg.Orders.Stream, err)
	}
	log.Info("handles orders", "stream", cfg.Orders.Stream, "group", cfg.Orders.Group, "members", cfg.Orders.Concurrency)

	done := make(chan struct{})
	go func() {
		defer close(done)
		err = consumer.Run(ctx)
	}()
	tick := clock.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			desk.report(consumer.Status())
		case <-done:
			desk.report(consumer.Status())
			log.Info("has ended", "clean", err == nil)
			return err
		}
	}
}

func subscription(cfg config) client.Subscription {
	return client.Subscription{
		Stream: cfg.Orders.Stream, Group: cfg.Orders.Group,
		MemberID: cfg.Orders.Member, MemberName: cfg.Orders.Member, Concurrency: cfg.Orders.Concurrency,
		AckMode: client.AckAfterHandler,
		Retry:   client.Retry{MaxDeliveries: deliveries, DeadLetter: cfg.Orders.Stream + "-dead"},
	}
}

// desk is where orders are handled.
type desk struct {
	work  time.Duration
	log   *slog.Logger
	cents atomic.Int64
}

// handle is the application. Its error leaves the record pending, and it comes again. The
// context ends when the shard is lost, so it is passed on to all that takes long.
func (d *desk) handle(ctx context.Context, m *client.Message) error {
	order, err := orders.Parse(m.Fields)
	if err != nil {
		d.log.Warn("record is not handled", "shard", m.Shard, "id", m.ID, "deliveries", m.Deliveries, "error", err)
		return err
	}
	if err := clock.Sleep(ctx, d.work); err != nil {
		return err
	}
	d.cents.Add(order.Cents)
	return nil
}

// report says what was done so far.
func (d *desk) report(status client.ConsumerStatus) {
	shards := []int{}
	for _, member := range status.Members {
		for _, shard := range member.Shards {
			shards = append(shards, shard.Index)
		}
	}
	d.log.Info("orders so far", "handled", status.Counters.Handled, "failed", status.Counters.Failed,
		"deadLettered", status.Counters.DeadLettered, "cents", d.cents.Load(), "shards", shards)
}
