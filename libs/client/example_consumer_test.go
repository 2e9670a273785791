package client_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// A consumer with four members that stops cleanly on Ctrl-C.
func ExampleClient_Consume() {
	rdb := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
	defer func() { _ = rdb.Close() }()
	c, err := client.New(client.Options{CoordinatorURL: "http://localhost:8080", Redis: rdb})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = c.Close() }()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err = c.Consume(ctx, client.Subscription{Stream: "orders", Group: "orders-consumer", Concurrency: 4},
		func(ctx context.Context, m *client.Message) error {
			fmt.Println(m.Key, m.Fields["payload"])
			return m.Ack(ctx)
		})
	if err != nil {
		fmt.Println(err)
	}
}

// Records that fail five times go to a stream of their own.
func ExampleRetry() {
	sub := client.Subscription{
		Stream: "orders", Group: "orders-consumer",
		AckMode: client.AckAfterHandler,
		Retry:   client.Retry{MaxDeliveries: 5, DeadLetter: "orders-dead"},
	}
	fmt.Println(sub.Retry.MaxDeliveries)
	// Output: 5
}

// watcher shows the shards of an application with readers of its own.
type watcher struct{}

func (watcher) OnAssigned(_ context.Context, shard *client.OwnedShard) {
	fmt.Println("start to read", shard.StreamKey, "as", shard.MemberID, "token", shard.FenceToken)
}

func (watcher) OnRevoked(_ context.Context, shard *client.OwnedShard) error {
	fmt.Println("nothing runs any more on", shard.StreamKey)
	return nil
}

func (watcher) OnLost(shard *client.OwnedShard) {
	fmt.Println("stop at once on", shard.StreamKey)
}

// An application that reads by itself asks only which shards it may read.
func ExampleClient_Shards() {
	c, err := client.New(client.Options{CoordinatorURL: "http://localhost:8080"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = c.Close() }()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := c.Shards(ctx, client.Subscription{Stream: "orders", Group: "orders-consumer"}, watcher{}); err != nil {
		fmt.Println(err)
	}
}
