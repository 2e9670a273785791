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
// # Tracing
//
// [Options.TracerProvider] switches traces on, of which only the API of OpenTelemetry is
// used; nothing is global. The spans are, by the conventions for messaging:
//
//   - "publish <stream>": one for each Publish and each PublishAsync, until the record is
//     written, and one for each PublishBatch, whose records all go on in it: a span for each
//     would cost more than writing them. Tries of one record are events of its span.
//   - "receive <stream>": one for each read or claim that brought records, with links to up
//     to 128 of their traces. A read that brought none has no span.
//   - "process <stream>": one for each call of a handler, in the trace in which the record was
//     published, also when it comes again, with a link to the read that brought it. A record
//     that carries no trace context begins a trace.
//   - "GET /coord/v1/streams/{streamPrefix}" and its like: one for each request of [Admin].
//
// Spans tell stream, shard, group, member, fence token, record id and the kind of an error.
// They never tell partition keys, values of records or the text of an error, which may repeat
// them; a handler adds what it likes to the span in its context.
//
// A record carries its trace context in the fields [TraceparentField] and [TracestateField]
// (W3C Trace Context, without baggage), whether or not the trace is sampled. Who reads the
// stream otherwise sees two more fields. They stay in [Message.Fields]; without a
// TracerProvider they are not written, but read all the same: the handler's context has the
// record's trace context, for tracers of the application, and [Message.TraceContext] returns
// it. What is no trace context, or longer than 512 bytes, counts as absent. Whoever may write
// records chooses their trace ids and the sampled flag, which a sampler that follows the
// parent obeys.
//
// Requests to the coordinator go on in the trace of their context, too. What runs in the
// background does not: heartbeats, refreshes of the routing and reads are in no trace of the
// call that started them, which would never end. There are no metrics here; [Consumer.Status]
// and [Producer.Status] have the numbers.
//
// # Time
//
// Leases are counted on the monotonic clock of the process from the moment a request was
// sent (protocol H5 and L3), so the wall clock may jump without effect.
package client
