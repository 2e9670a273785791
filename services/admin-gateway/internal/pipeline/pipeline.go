// Package pipeline is the one list of what happens to a request of the gateway, outermost
// first. Every request goes through all of it; a stage lets by what it is not about.
package pipeline

import (
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
)

// Wrap puts a stage around what comes after it.
type Wrap func(next http.Handler) http.Handler

// Parts are the stages that are made elsewhere. All are required.
type Parts struct {
	Routes  Routes
	Clients Clients
	// Measure counts every request when it has been answered.
	Measure Wrap
	// Trace records the request as a span, and knows its route.
	Trace Wrap
	// Audit records the outcome of mutations, Intend the intent of those that go on.
	Audit, Intend Wrap
	// Body reads the body, Legacy answers old clients in their way, InFlight bounds the work.
	Body, Legacy, InFlight  Wrap
	Authenticate, Authorise Wrap
	RateLimit, Idempotency  Wrap
	// Gate refuses while the process terminates.
	Gate *httpx.Gate
	// Serve answers what is let through.
	Serve http.Handler
	Log   *slog.Logger
	Now   func() time.Time
}

// stage is one line of the list.
type stage struct {
	name string
	wrap Wrap
}

// stages is the list.
//
// The trace begins where the route is known, which its span is called after, and covers what
// the audit writes; what is no endpoint makes none.
//
// The body is read before anybody is authenticated, because the audit of what is refused
// carries its hash; its size is bounded. The gate and the bound on work stand inside of the
// stage for old clients, so that these are told to come again. The intent is written last,
// when nothing but the service can refuse.
func (p Parts) stages() []stage {
	answers := httpx.NewAnswers(p.Log)
	entry := entry{routes: p.Routes, clients: p.Clients, answers: answers, now: p.Now}
	return []stage{
		{"request id", httpx.Identify},
		{"metrics", p.Measure},
		{"access log", httpx.AccessLog(p.Log, levelOf)},
		{"recover", answers.Recover},
		{"route", entry.Stage},
		{"trace", p.Trace},
		{"audit", p.Audit},
		{"body", p.Body},
		{"legacy", p.Legacy},
		{"terminating", gated(p.Gate, answers)},
		{"in flight", p.InFlight},
		{"authenticate", p.Authenticate},
		{"authorise", p.Authorise},
		{"rate limit", p.RateLimit},
		{"idempotency", p.Idempotency},
		{"intent", p.Intend},
	}
}

// New returns the pipeline as a handler.
func New(parts Parts) http.Handler {
	handler := parts.Serve
	for _, s := range slices.Backward(parts.stages()) {
		handler = s.wrap(handler)
	}
	return handler
}
