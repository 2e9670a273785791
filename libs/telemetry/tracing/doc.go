// Package tracing records what a service does with a request as spans of OpenTelemetry, and
// sends them to a receiver of OTLP over HTTP. One trace id leads from the gateway through a
// coordinator or the monitor to Redis.
//
// A service makes one Tracing. Handler stands around its requests, Call around what it asks
// of other services, and Redis watches a client. All three exist where nothing is recorded
// too: then they cost next to nothing, and only hand on the trace that a request belongs to.
//
// File map: tracing.go makes and ends it; exporter.go stands before the receiver; incoming.go
// reads what a request says of its trace; handler.go is for requests that come, call.go for those
// that go, continuing.go for libraries with spans of their own, redis.go for Redis.
//
// Non-obvious:
//   - Nothing here is global. The SDK prints the errors of an exporter through a global
//     handler, so the exporter has none for it: it logs when trouble begins and when it ends.
//   - Only requests begin traces. What runs by itself, as ticks and rounds of observation,
//     makes no spans at its calls of Redis, or a quiet suite would fill the receiver.
//   - Spans carry names of commands, routes, streams and groups, codes of errors, and the
//     request id. Never in them: queries, headers, bodies, keys and values of Redis, users, and
//     the texts of errors, since Redis repeats arguments in its own.
//   - At the edge of the suite the caller is a stranger. Its trace id is kept, so that it finds
//     its own request again; whether the trace is recorded is decided here.
package tracing
