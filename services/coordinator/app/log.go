package app

import (
	"io"
	"log/slog"
)

// Logger returns a logger of these settings, which must be valid, that writes to out.
func (l Log) Logger(out io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{}
	if level, err := l.level(); err == nil {
		options.Level = level
	}
	if l.Format == "json" {
		return slog.New(slog.NewJSONHandler(out, options))
	}
	return slog.New(slog.NewTextHandler(out, options))
}
