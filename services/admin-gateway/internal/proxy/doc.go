// Package proxy sends on what the gateway has let through, and passes the answer back
// (gateway, Proxy).
//
// What a service gets is written anew: the route's path and query, the body that was read,
// a handful of headers, and in place of the caller's credential a token for this service
// that is over after a minute. What the caller gets is a handful of headers too, and errors
// in the one shape of the wire contract, whatever the service has said.
//
// File map: proxy.go is the way through, and outgoing.go writes the request anew; credential.go signs tokens; courier.go asks one
// instance after the other; pool.go and instance.go choose it, health.go knows which to pass
// over; answer.go looks at answers; failure.go names what went wrong; report.go reads of heartbeats what matters here; legacy.go answers
// clients of the original service; stream.go is for answers without an end; survey.go asks every
// instance what it is, and survey_answer.go reads that.
//
// Non-obvious:
//   - A request is tried at another instance only when it was not sent, as no connection
//     came about, or was refused as COORDINATOR_TERMINATING. All else may have been done.
//   - A mutation goes on when its caller has gone away, so that the audit gets its outcome
//     and the idempotency key its answer.
//   - Where all instances have failed lately they are asked all the same: with one
//     coordinator, passing it over would only prolong its outage.
//   - Tokens of reads and heartbeats are used again for some seconds. They name no request.
package proxy
