package api

import (
	"context"
	"errors"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Traced returns a Client over the same connections that makes a span of each call; a nil
// tracer returns c itself. It is for calls that somebody has asked for: those that go out by
// themselves, for as long as a process lives, would make traces without end.
func (c *Client) Traced(tracer trace.Tracer) *Client {
	if tracer == nil {
		return c
	}
	traced := *c
	traced.tracer = tracer
	return &traced
}

// traced is exchange within a span. Names of streams, groups and members are attributes of
// nobody: the span is called by the template of the path.
func (c *Client) traced(ctx context.Context, call call, out any) (reply, error) {
	template := templateOf(call.url[len(c.root):])
	ctx, span := c.tracer.Start(ctx, call.method+" "+template,
		trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(semconv.HTTPRequestMethodKey.String(call.method), semconv.URLTemplate(template)))
	defer span.End()
	got, err := c.exchange(ctx, call, out)
	if got.status != 0 {
		span.SetAttributes(semconv.HTTPResponseStatusCode(got.status))
	}
	if got.id != "" {
		span.SetAttributes(attribute.String("rsc.request_id", got.id))
	}
	if err != nil {
		kind := faultOf(ctx, err)
		span.SetAttributes(kind)
		span.SetStatus(codes.Error, "")
	}
	return got, err
}

// faultOf returns the kind of an error: the API's code where it gave one. The text is left
// out, as it repeats what was sent.
func faultOf(ctx context.Context, err error) attribute.KeyValue {
	switch code := CodeOf(err); {
	case code != "":
		return semconv.ErrorTypeKey.String(protocol.Echo(string(code)))
	case ctx.Err() != nil:
		return semconv.ErrorTypeKey.String("canceled")
	case errors.Is(err, ErrUnavailable):
		return semconv.ErrorTypeKey.String("unavailable")
	default:
		return semconv.ErrorType(err)
	}
}

// templateOf returns a path with names in place of what it names.
func templateOf(path string) string {
	path, _, _ = strings.Cut(path, "?")
	segments := strings.Split(path, "/")
	for at := 1; at < len(segments); at++ {
		switch segments[at-1] {
		case "streams":
			segments[at] = "{streamPrefix}"
		case "groups":
			segments[at] = "{consumerGroup}"
		case "members":
			segments[at] = "{memberId}"
		case "migrations":
			segments[at] = "{reshardingId}"
		case "shards":
			segments[at] = "{shardIndex}"
		}
	}
	return strings.Join(segments, "/")
}
