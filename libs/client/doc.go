// Package client is the Go SDK of the suite: consumers whose shards the coordinator
// assigns, producers that follow the routing of a stream, and the administration of
// streams and groups.
//
// A [Client] binds a coordinator and a Redis client that the application owns. It works
// with Redis 7.0 and later and Valkey 7.2 and later, standalone, behind Sentinel or as a
// Cluster.
//
//	c, err := client.New(client.Options{CoordinatorURL: "http://localhost:8080", Redis: rdb})
//	p, err := c.NewProducer(ctx, "orders", "orders-consumer", client.ProducerOptions{MaxLen: 100_000})
//	r, err := p.Publish(ctx, "order-123", map[string]any{"payload": body})
//
//	err = c.Consume(ctx, client.Subscription{Stream: "orders", Group: "orders-consumer", Concurrency: 4},
//		func(ctx context.Context, m *client.Message) error { … ; return m.Ack(ctx) })
//
// Records are handled at least once. A record whose handler failed or whose owner died
// comes again; [Message.Deliveries] tells how often it has been delivered.
//
// # Errors
//
// Every failure that a caller may act on is a sentinel of this package ([ErrUncertain],
// [ErrStaleRoute] …) or a *protocol.Error with the code that the coordinator answered;
// both are found with errors.Is and errors.As. [RetryAfter] gives the pause that an
// answer asked for.
//
// # Access
//
// A gateway asks who calls: [Options.Login] logs in there with a name and a password and
// keeps a token that is good, [Options.Token] and [Options.TokenSource] bring one along.
// [ErrUnauthorized], [ErrForbidden] and [ErrRateLimited] tell the refusals apart.
//
// # Time
//
// Leases are counted on the monotonic clock of the process from the moment a request was
// sent (protocol H5 and L3), so the wall clock may jump without effect.
package client
