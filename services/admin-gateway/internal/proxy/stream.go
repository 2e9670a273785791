package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
)

// longSilence is how long members are left without an answer by an instance that hangs. It is
// below the time after which those of the SDK give up, 2 s with the usual lease (protocol A5).
const longSilence = time.Second

// errEnding is why an answer without an end was ended by the gateway.
var errEnding = errors.New("the gateway terminates")

// endable is the body of an answer without an end. That the gateway ends it is no failure: the
// answer is whole as far as it goes.
type endable struct {
	io.ReadCloser

	ctx context.Context
}

// Read implements io.Reader.
func (e endable) Read(into []byte) (int, error) {
	n, err := e.ReadCloser.Read(into)
	if err != nil && errors.Is(context.Cause(e.ctx), errEnding) {
		err = io.EOF
	}
	return n, err
}

// bounded returns the context in which an exchange is served, at most for limit, and what to
// call when the answer begins. A mutation goes on without its caller; an answer without an end is bounded
// in its beginning only.
func (p *Proxy) bounded(ctx context.Context, e *exchange.Exchange, limit time.Duration) (context.Context, func(), context.CancelFunc) {
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
	ending := context.AfterFunc(p.streams, func() { cut(errEnding) })
	answered := func() {
		stop()
		release()
	}
	return open, answered, func() {
		ending()
		answered()
		cut(nil)
	}
}

// limitOf returns how long an exchange may take that asks to be kept waiting for wait.
func (p *Proxy) limitOf(e *exchange.Exchange, wait time.Duration) time.Duration {
	switch {
	case e.Route.Mutation, e.Route.Form: // what a form posts to the console becomes a mutation
		return p.timeouts.Mutation
	case wait > 0:
		return max(p.timeouts.Read, wait+p.timeouts.WaitMargin)
	case p.legacyRetry && old(e):
		return min(p.timeouts.Read, retryAfter)
	default:
		return p.timeouts.Read
	}
}

// silenceOf returns errand.silence. What members ask is answered in milliseconds, beyond the
// time for which they ask to be kept waiting; what else is asked may take its time.
func silenceOf(e *exchange.Exchange, wait time.Duration) time.Duration {
	if !e.Route.Access.MemberAPI {
		return 0
	}
	return wait + longSilence
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
