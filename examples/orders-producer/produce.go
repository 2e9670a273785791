package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/redis-stream-coordinator/rsc/examples/internal/orders"
	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

const (
	// patience is the pause between two looks for the stream.
	patience = 2 * time.Second
	// reportEvery is the pause between two lines about what was done.
	reportEvery = 10 * time.Second
	// farewell bounds how long the producer waits for what is on its way at its end.
	farewell = 10 * time.Second
)

// produce publishes until ctx ends.
func produce(ctx context.Context, cfg config, _ func() (config, error), log *slog.Logger) error {
	connection, err := orders.Connect("orders-producer", cfg.Client, cfg.Redis, log)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	producer, err := await(ctx, connection.Client, cfg, log)
	switch {
	case producer == nil && ctx.Err() != nil:
		return nil // it was ended while it waited
	case err != nil:
		return err
	}
	log.Info("publishes orders", "stream", cfg.Orders.Stream, "perSecond", cfg.Orders.Rate)
	run := run{producer: producer, log: log}
	run.until(ctx, cfg.Orders.Rate)

	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	err = producer.Close(ending)
	run.report()
	log.Info("has ended", "clean", err == nil)
	return err
}

// await returns a producer once the stream is there and the coordinator answers. It fails
// when ctx ended before, and with what waiting does not help against.
func await(ctx context.Context, c *client.Client, cfg config, log *slog.Logger) (*client.Producer, error) {
	options := client.ProducerOptions{MaxLen: int64(cfg.Orders.MaxLen)}
	said := ""
	for {
		producer, err := c.NewProducer(ctx, cfg.Orders.Stream, cfg.Orders.Group, options)
		switch {
		case err == nil:
			return producer, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, client.ErrUnauthorized), errors.Is(err, client.ErrForbidden):
			return nil, err
		}
		if why := err.Error(); why != said {
			said = why
			log.Warn("waits, and tries again", "stream", cfg.Orders.Stream, "group", cfg.Orders.Group, "error", err, "next", advice(err))
		}
		if err := clock.Sleep(ctx, patience); err != nil {
			return nil, err
		}
	}
}

// advice names what an operator can do.
func advice(err error) string {
	switch {
	case errors.Is(err, client.ErrUnknownGroup):
		return "create the stream with this group: rscctl streams create"
	case errors.Is(err, client.ErrNoShards):
		return "give the stream shards: rscctl streams scale"
	default:
		return "see that client.url names a gateway or coordinator that runs"
	}
}

// run is what has been published so far.
type run struct {
	producer                     *client.Producer
	log                          *slog.Logger
	published, uncertain, failed int64
	trouble                      string
}

// until publishes rate orders a second until ctx ends.
func (r *run) until(ctx context.Context, rate float64) {
	due := clock.NewTicker(time.Duration(float64(time.Second) / rate))
	defer due.Stop()
	report := clock.NewTicker(reportEvery)
	defer report.Stop()
	for id := int64(1); ; {
		select {
		case <-ctx.Done():
			return
		case <-report.C:
			r.report()
		case <-due.C:
			r.publish(ctx, orders.Draw(id))
			id++
		}
	}
}

// publish writes one order. A failure is told when it is another than the one before; orders
// are not repeated here, as an uncertain one may be there twice then. An application that
// can live with that sets ProducerOptions.RetryUncertain.
func (r *run) publish(ctx context.Context, order orders.Order) {
	fields, err := order.Fields()
	if err == nil {
		_, err = r.producer.Publish(ctx, order.Customer, fields)
	}
	trouble := ""
	switch {
	case err == nil:
		r.published++
	case ctx.Err() != nil:
		return
	case errors.Is(err, client.ErrUncertain):
		r.uncertain++
		trouble = client.ErrUncertain.Error()
	default:
		r.failed++
		trouble = err.Error()
	}
	if trouble != r.trouble && trouble != "" {
		r.log.Warn("order is not published", "order", order.ID, "error", err)
	}
	r.trouble = trouble
}

// report says what was done so far.
func (r *run) report() {
	status := r.producer.Status()
	r.log.Info("orders so far", "published", r.published, "uncertain", r.uncertain, "failed", r.failed, "shards", status.ShardCount)
}
