package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func ExampleClient_Admin() {
	ctx := context.Background()
	c, err := client.New(client.Options{CoordinatorURL: "http://localhost:8080"})
	if err != nil {
		fmt.Println("no client:", err)
		return
	}
	defer func() { _ = c.Close() }()

	shards := 8
	created, err := c.Admin().CreateStream(ctx, "orders", protocol.CreateStreamRequest{
		InitialShardCount: &shards, ConsumerGroups: []string{"orders-consumer"}, RequestedBy: "setup",
	})
	var refused *protocol.Error
	switch {
	case err == nil:
		fmt.Println("created:", created.ShardCount)
	case errors.As(err, &refused) && refused.Code == protocol.CodeStreamAlreadyExists:
		fmt.Println("it was there already")
	case errors.Is(err, client.ErrUnavailable):
		fmt.Println("no coordinator answers:", err)
	default:
		fmt.Println("refused:", err)
	}
}

// What happened to a group, page by page.
func ExampleAdmin_Events() {
	ctx := context.Background()
	c, err := client.New(client.Options{CoordinatorURL: "http://localhost:8080"})
	if err != nil {
		fmt.Println("no client:", err)
		return
	}
	defer func() { _ = c.Close() }()

	for after := ""; ; {
		page, err := c.Admin().Events(ctx, "orders", "orders-consumer", after, protocol.MaxEvents)
		if err != nil {
			fmt.Println("no events:", err)
			return
		}
		for _, event := range page.Events {
			fmt.Println(event.At, event.Cause, "shards changed:", len(event.Shards)+event.ShardsLeftOut)
		}
		if page.Next == nil {
			return
		}
		after = *page.Next
	}
}
