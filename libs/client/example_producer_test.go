package client_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/client"
)

func ExampleClient_NewProducer() {
	ctx := context.Background()
	rdb := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	defer func() { _ = rdb.Close() }()
	c, err := client.New(client.Options{CoordinatorURL: "http://localhost:8080", Redis: rdb})
	if err != nil {
		fmt.Println("no client:", err)
		return
	}
	defer func() { _ = c.Close() }()

	p, err := c.NewProducer(ctx, "orders", "orders-consumer", client.ProducerOptions{MaxLen: 100_000})
	if err != nil {
		fmt.Println("no producer:", err)
		return
	}
	defer func() { _ = p.Close(ctx) }()

	r, err := p.Publish(ctx, "order-123", map[string]any{"payload": `{"total":7}`})
	switch {
	case err == nil:
		fmt.Println("published:", r.StreamKey, r.ID)
	case errors.Is(err, client.ErrUncertain):
		// In the stream or not: publish again only if a duplicate does no harm.
		fmt.Println("uncertain:", err)
	default:
		fmt.Println("not published:", err)
	}
}

func ExampleProducer_PublishBatch() {
	publish := func(ctx context.Context, p *client.Producer) error {
		results, err := p.PublishBatch(ctx, []client.Record{
			{Key: "order-1", Fields: map[string]any{"total": 7}},
			{Key: "order-2", Fields: map[string]any{"total": 9}},
		})
		if _, partly := errors.AsType[*client.BatchError](err); partly {
			for i, result := range results {
				if result.Err != nil {
					fmt.Println("record failed:", i, result.Err)
				}
			}
		}
		return err
	}
	_ = publish
}

func ExampleProducer_PublishAsync() {
	publish := func(ctx context.Context, p *client.Producer) error {
		for i := range 1000 {
			rec := client.Record{Key: fmt.Sprint("order-", i), Values: []any{"total", i}}
			err := p.PublishAsync(ctx, rec, func(_ client.Result, err error) {
				if err != nil {
					fmt.Println("not published:", rec.Key, err)
				}
			})
			if err != nil {
				return err
			}
		}
		return p.Flush(ctx)
	}
	_ = publish
}

func ExampleProducer_Pause() {
	scale := func(ctx context.Context, p *client.Producer, scale func(context.Context) error) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		defer p.Resume()
		if err := p.Pause(ctx); err != nil {
			return err
		}
		if err := scale(ctx); err != nil {
			return err
		}
		return p.Refresh(ctx)
	}
	_ = scale
}
