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

// A change of the shard count, looked at before it is made and followed to its end.
func ExampleAdmin_WatchMigration() {
	ctx := context.Background()
	c, err := client.New(client.Options{CoordinatorURL: "http://localhost:8080"})
	if err != nil {
		fmt.Println("no client:", err)
		return
	}
	defer func() { _ = c.Close() }()

	shards := 8
	request := protocol.ScaleRequest{TargetShardCount: &shards, RequestedBy: "ops", Reason: "more load"}
	plan, err := c.Admin().PlanScale(ctx, "orders", request)
	if err != nil || plan.Refusal != nil {
		fmt.Println("not now:", err, plan)
		return
	}
	scaled, err := c.Admin().Scale(ctx, "orders", request)
	if err != nil {
		fmt.Println("refused:", err)
		return
	}
	resharding := scaled.Migrations[0]
	if resharding.ReshardingID == protocol.NoopReshardingID {
		fmt.Println("it has 8 shards already")
		return
	}
	end, err := c.Admin().WatchMigration(ctx, "orders", scaled.AffectedConsumerGroups[0], resharding.ReshardingID,
		func(m protocol.Migration) {
			if m.Progress != nil {
				fmt.Println(m.State, m.Progress.Done, "of", m.Progress.Total)
			}
		})
	switch {
	case err != nil:
		fmt.Println("it goes on without being watched:", err)
	case end.State == protocol.MigrationRolledBack:
		fmt.Println("it was rolled back")
	default:
		fmt.Println("done")
	}
}
