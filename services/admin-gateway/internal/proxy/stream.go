package proxy

import (
	"context"
	"net/http"
	"time"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
)

// bounded returns the context in which an exchange is served, and what to call when the
// answer begins. A mutation goes on without its caller; an answer without an end is bounded
// in its beginning only.
func (p *Proxy) bounded(ctx context.Context, e *exchange.Exchange) (context.Context, func(), context.CancelFunc) {
	limit := p.limitOf(e)
	if e.Route.Mutation {
		ctx = context.WithoutCancel(ctx)
	}
	if !e.Route.Streams {
		bound, cancel := context.WithTimeout(ctx, limit)
		return bound, func() {}, cancel
	}
	open, cut := context.WithCancelCause(ctx)
	begin, release := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(begin, func() { cut(context.DeadlineExceeded) })
	answered := func() {
		stop()
		release()
	}
	return open, answered, func() {
		answered()
		cut(nil)
	}
}

// limitOf returns how long an exchange may take.
func (p *Proxy) limitOf(e *exchange.Exchange) time.Duration {
	if e.Route.Mutation {
		return p.timeouts.Mutation
	}
	if wait := p.reports.waitOf(e); wait > 0 {
		return max(p.timeouts.Read, wait+p.timeouts.WaitMargin)
	}
	return p.timeouts.Read
}

// streaming lets a server's write deadline follow an answer without an end: every piece has
// its own.
type streaming struct {
	http.ResponseWriter

	each time.Duration
	now  func() time.Time
}

// Write implements http.ResponseWriter.
func (s *streaming) Write(piece []byte) (int, error) {
	// A writer that has no deadline needs none moved.
	_ = http.NewResponseController(s.ResponseWriter).SetWriteDeadline(s.now().Add(s.each))
	return s.ResponseWriter.Write(piece)
}

// Unwrap lets http.ResponseController reach flushing.
func (s *streaming) Unwrap() http.ResponseWriter { return s.ResponseWriter }
