package client_test

import (
	"context"
	"errors"
	"log/slog"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func ExampleClient_Admin() {
	ctx := context.Background()
	c, err := client.New(client.Options{CoordinatorURL: "http://localhost:8080"})
	if err != nil {
		slog.Error("no client", "error", err)
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
		slog.Info("created", "shards", created.ShardCount)
	case errors.As(err, &refused) && refused.Code == protocol.CodeStreamAlreadyExists:
		slog.Info("it was there already")
	case errors.Is(err, client.ErrUnavailable):
		slog.Error("no coordinator answers", "error", err)
	default:
		slog.Error("refused", "error", err)
	}
}
