package redisx

import (
	"context"
	"fmt"
	"log/slog"
)

// ClientLog takes what the Redis client says about connections, for redis.SetLogger. It is
// for debugging: states that matter are logged where they are met.
type ClientLog struct{ log *slog.Logger }

// NewClientLog returns a ClientLog that writes to log at level debug.
func NewClientLog(log *slog.Logger) ClientLog { return ClientLog{log: log} }

// Printf implements the logger of the Redis client.
func (l ClientLog) Printf(ctx context.Context, format string, args ...any) {
	l.log.DebugContext(ctx, "Redis client", "says", fmt.Sprintf(format, args...))
}
