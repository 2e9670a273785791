package cli

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// link is the connections of a command.
type link struct {
	client *client.Client
	redis  redis.UniversalClient
	log    *slog.Logger
}

// open connects lazily: an error is one of the flags.
func (c *connection) open(logs io.Writer) (*link, error) {
	level := slog.LevelWarn
	if c.verbose {
		level = slog.LevelInfo
	}
	l := &link{log: slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: level}))}
	var err error
	if l.redis, err = redisx.New(redisx.Options{URL: c.redis, ClientName: "replay"}); err != nil {
		return nil, usageError{fmt.Errorf("--redis: %w", err)}
	}
	l.client, err = client.New(client.Options{CoordinatorURL: c.coordinator, Redis: l.redis, Logger: l.log})
	if err != nil {
		return nil, usageError{errors.Join(fmt.Errorf("--coordinator: %w", err), l.redis.Close())}
	}
	return l, nil
}

func (l *link) close() {
	_ = l.client.Close()
	_ = l.redis.Close()
}
