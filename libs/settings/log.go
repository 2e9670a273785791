package settings

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// Log says how the process logs.
type Log struct {
	Level  string `koanf:"level" usage:"debug, info, warn or error"`
	Format string `koanf:"format" usage:"text or json"`
}

// Validate reports every problem of the section and names the keys.
func (l Log) Validate() error {
	var problems []error
	if _, err := l.level(); err != nil {
		problems = append(problems, fmt.Errorf("log.level is %q, it must be debug, info, warn or error", l.Level))
	}
	if l.Format != "text" && l.Format != "json" {
		problems = append(problems, fmt.Errorf("log.format is %q, it must be text or json", l.Format))
	}
	return errors.Join(problems...)
}

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

func (l Log) level() (slog.Level, error) {
	var level slog.Level
	err := level.UnmarshalText([]byte(l.Level))
	return level, err
}
