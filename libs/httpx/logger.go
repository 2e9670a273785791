package httpx

import (
	"context"
	"log/slog"
)

// Logger returns log with the request id of the context added to every line that is
// logged with one (the *Context methods), and where a trace records the request its id,
// under the name that OpenTelemetry gives it. It wraps only once. A nil log discards.
func Logger(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	if _, done := log.Handler().(idHandler); done {
		return log
	}
	return slog.New(idHandler{log.Handler()})
}

type idHandler struct{ slog.Handler }

func (h idHandler) Handle(ctx context.Context, record slog.Record) error {
	if n := noteOf(ctx); n != nil && n.requestID != "" {
		record = record.Clone()
		record.AddAttrs(slog.String("requestId", n.requestID))
		if n.traceID != "" {
			record.AddAttrs(slog.String("trace_id", n.traceID))
		}
	}
	return h.Handler.Handle(ctx, record)
}

func (h idHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return idHandler{h.Handler.WithAttrs(attrs)}
}

func (h idHandler) WithGroup(name string) slog.Handler {
	return idHandler{h.Handler.WithGroup(name)}
}
