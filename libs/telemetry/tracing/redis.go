package tracing

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// maxKind bounds the kind of an error that Redis answers, in bytes.
const maxKind = 32

// Redis records from now on what is asked of a client within a span of this service; what is
// asked outside of one it leaves alone. The client is given once, before it is used. Where
// nothing is recorded it does nothing.
//
// A command of a cluster is one span, whichever nodes it is sent to.
func (t *Tracing) Redis(client redis.UniversalClient) {
	if t.On() && client != nil {
		client.AddHook(hook{t})
	}
}

// hook implements redis.Hook. It has no part in connecting, and sends nothing itself.
type hook struct{ of *Tracing }

// DialHook implements redis.Hook.
func (hook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (h hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if greets(cmd) || !h.of.within(ctx) {
			return next(ctx, cmd)
		}
		ctx, span := h.begin(ctx, strings.ToUpper(cmd.FullName()))
		err := next(ctx, cmd)
		finish(span, err)
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (h hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if len(cmds) > 0 && greets(cmds[0]) || !h.of.within(ctx) {
			return next(ctx, cmds)
		}
		ctx, span := h.begin(ctx, "PIPELINE", attribute.Int("db.operation.batch.size", len(cmds)))
		err := next(ctx, cmds)
		finish(span, err)
		return err
	}
}

// greets tells whether a command is one of those with which the client begins a connection.
// It may be a request's turn to do so, but they are not what it asks for, and servers that do
// not know some of them are no failure.
func greets(cmd redis.Cmder) bool {
	switch cmd.Name() {
	case "hello", "auth", "client", "select", "readonly":
		return true
	default:
		return false
	}
}

func (h hook) begin(ctx context.Context, operation string, more ...attribute.KeyValue) (context.Context, trace.Span) {
	return h.of.tracer.Start(ctx, operation, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(more...),
		trace.WithAttributes(attribute.String("db.system.name", "redis"), attribute.String("db.operation.name", operation)))
}

// finish ends the span of a command. An empty answer is no error, and a script that Redis does
// not know yet (NOSCRIPT) no failure: the client sends it next.
func finish(span trace.Span, err error) {
	defer span.End()
	if err == nil || errors.Is(err, redis.Nil) {
		return
	}
	kind := kindOf(err)
	span.SetAttributes(keyError.String(kind))
	if kind != "NOSCRIPT" {
		span.SetStatus(codes.Error, "")
	}
}

// kindOf names an error without its text: of what Redis answers the first word, such as
// WRONGTYPE, of all else what kind it is.
func kindOf(err error) string {
	var answered redis.Error
	var network net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timeout"
	case errors.As(err, &answered):
		return firstWord(answered.Error())
	case network != nil:
		return "network"
	default:
		return "_OTHER"
	}
}

// firstWord returns the code that an error of Redis begins with. Scripts may raise errors of
// any text, so nothing but capital letters counts as one.
func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	if word == "" || len(word) > maxKind || strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
		return "_OTHER"
	}
	return word
}
