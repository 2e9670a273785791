package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// courier brings requests to an instance of their service. It is the transport of the
// reverse proxy, and returns answers that may be passed on as they are.
type courier struct {
	pools     map[route.Service]*pool
	transport *http.Transport
	now       func() time.Time
	log       *slog.Logger
	told      func(service route.Service, instance string)
	tracing   *tracing.Tracing // nil hands on no trace
}

// errand is what the courier needs to know of a request besides what it is to send. It
// travels in the context.
type errand struct {
	exchange *exchange.Exchange
	// ctx bounds the request; it is that of before the reverse proxy, which would pass on
	// answers of status 1xx.
	ctx context.Context
	// answered is called when an answer begins.
	answered func()
	// silence is after how long without an answer the instance counts as failed although the
	// caller has gone away; 0 where that tells nothing of it.
	silence time.Duration
}

type errandKey struct{}

func withErrand(ctx context.Context, on *errand) context.Context {
	return context.WithValue(ctx, errandKey{}, on)
}

// result is what became of one try.
type result struct {
	answer *answer
	err    error
	// elsewhere tells that nothing was done, so that another instance may be asked.
	elsewhere bool
}

func (r result) response(to *http.Request) (*http.Response, error) {
	if r.answer == nil {
		return nil, r.err
	}
	return r.answer.response(to), nil
}

// RoundTrip implements http.RoundTripper. Errors are *protocol.Error.
func (c *courier) RoundTrip(out *http.Request) (*http.Response, error) {
	on, _ := out.Context().Value(errandKey{}).(*errand)
	asked := on.exchange.Route
	of := c.pools[asked.Service]
	if of == nil {
		return nil, protocol.Errorf(protocol.CodeUpstreamUnavailable, "this gateway has no %s configured", asked.Service)
	}
	var last result
	var tried []*instance
	for {
		at, err := of.take(c.now(), tried)
		switch {
		case err != nil && len(tried) == 0:
			return nil, err
		case at == nil:
			return last.response(out)
		}
		if last = c.try(on, at, out, len(tried)); !last.elsewhere {
			return last.response(out)
		}
		tried = append(tried, at.instance)
	}
}

// try asks one instance, after so many others.
func (c *courier) try(on *errand, at *place, out *http.Request, before int) result {
	on.exchange.Upstream = at.base.Host
	asked := on.exchange.Route
	call := c.tracing.Call(on.ctx, tracing.Peer{
		Service: string(asked.Service), Address: at.base.Host, Method: asked.Method, Route: asked.Pattern, Try: before,
	})
	to := c.addressed(on, at.base, out)
	if call.Traced() {
		to.Header = to.Header.Clone() // an earlier try may still be reading the one they share
		call.HandOn(to.Header)
	}
	answer, err := c.transport.RoundTrip(to)
	if err != nil {
		at.leave()
		call.Failed(err)
		return c.lost(on, at, err)
	}
	on.answered()
	if answer.StatusCode < http.StatusBadRequest || on.exchange.Route.Service == route.Web && answer.StatusCode < http.StatusInternalServerError {
		call.Answered(answer.StatusCode, "")
		return c.brought(on, at, answer)
	}
	defer at.leave()
	defer answer.Body.Close()
	return c.refused(on, at, answer, call)
}

// addressed returns the request for an instance, with a body that can be sent again.
func (c *courier) addressed(on *errand, base *url.URL, out *http.Request) *http.Request {
	to := out.WithContext(on.ctx)
	to.URL = &url.URL{
		Scheme: base.Scheme, Host: base.Host, Path: out.URL.Path, RawPath: out.URL.RawPath, RawQuery: out.URL.RawQuery,
	}
	to.Host = base.Host
	to.Body, to.GetBody = nil, nil
	if body := on.exchange.Body; len(body) > 0 {
		again := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		to.Body, _ = again()
		to.GetBody = again
	}
	to.ContentLength = int64(len(on.exchange.Body))
	return to
}

// lost is a try without an answer.
func (c *courier) lost(on *errand, at *place, err error) result {
	cause := context.Cause(on.ctx)
	if errors.Is(cause, context.Canceled) {
		c.abandoned(on, at)
		return result{err: unanswered(on.exchange.Route, err)}
	}
	c.failed(on, at, err.Error())
	if cause != nil {
		return result{err: unanswered(on.exchange.Route, fmt.Errorf("%w: %w", cause, err))}
	}
	return result{err: unanswered(on.exchange.Route, err), elsewhere: unsent(err)}
}

// abandoned is a try whose caller has gone away. Members do so long before the gateway gives
// up, and nothing else may ever tell of an instance that hangs.
func (c *courier) abandoned(on *errand, at *place) {
	switch {
	case on.silence > 0 && c.now().Sub(at.since) >= on.silence:
		c.failed(on, at, "no answer until the caller has gone away")
	case at.probe:
		at.health.probeEnded()
	}
}

// brought is a try whose answer is passed on while it still comes.
func (c *courier) brought(on *errand, at *place, answer *http.Response) result {
	if err := judge(on.exchange.Route, answer.StatusCode, ""); err != nil {
		_ = answer.Body.Close()
		at.leave()
		c.failed(on, at, answer.Status)
		return result{err: err}
	}
	c.succeeded(on, at)
	body := io.ReadCloser(&leaving{ReadCloser: answer.Body, leave: sync.OnceFunc(at.leave)})
	if on.exchange.Route.Streams {
		body = endable{ReadCloser: body, ctx: on.ctx}
	}
	return result{answer: pass(on.exchange.Route.Service, answer, body, answer.ContentLength)}
}

// refused is a try that was answered with an error status.
func (c *courier) refused(on *errand, at *place, answer *http.Response, call tracing.Call) result {
	body, code, err := refusal(answer)
	if err != nil {
		call.Failed(err)
		return c.lost(on, at, err)
	}
	call.Answered(answer.StatusCode, code)
	if err := judge(on.exchange.Route, answer.StatusCode, code); err != nil {
		c.misjudged(on, at, answer)
		return result{err: err}
	}
	passed := pass(on.exchange.Route.Service, answer, whole(body), int64(len(body)))
	if code == protocol.CodeTerminating {
		c.failed(on, at, string(code))
		return result{answer: passed, elsewhere: true}
	}
	c.succeeded(on, at)
	return result{answer: passed}
}

// misjudged is a try whose answer is none of the wire contract's. A service that finds fault
// with a request (4xx) is not broken, or callers could have it passed over.
func (c *courier) misjudged(on *errand, at *place, answer *http.Response) {
	if answer.StatusCode < http.StatusInternalServerError && answer.StatusCode != http.StatusUnauthorized {
		c.succeeded(on, at)
		return
	}
	c.failed(on, at, answer.Status)
}

func (c *courier) failed(on *errand, at *place, why string) {
	c.told(on.exchange.Route.Service, at.base.Host)
	if pause, news := at.health.failed(c.now()); news {
		c.log.WarnContext(on.ctx, "upstream fails", "service", on.exchange.Route.Service, "instance", at.base.Host,
			"reason", why, "pause", pause)
	}
}

func (c *courier) succeeded(on *errand, at *place) {
	if at.health.succeeded() {
		c.log.InfoContext(on.ctx, "upstream is back", "service", on.exchange.Route.Service, "instance", at.base.Host)
	}
}

// leaving gives the place at an instance back when the answer is over.
type leaving struct {
	io.ReadCloser

	leave func()
}

// Close implements io.Closer.
func (b *leaving) Close() error {
	defer b.leave()
	return b.ReadCloser.Close()
}
