// Package embedded gives a process its own Redis: a redis-server from PATH as a child, and
// where there is none, an imitation inside the process. Neither keeps data.
package embedded

import (
	"context"
	"errors"
	"os/exec"
)

// Redis is a Redis that lives as long as this process, or until Close.
type Redis struct {
	// Address is host:port on the loopback interface.
	Address string
	// About says in a few words what it is.
	About string
	// Limits says what an imitation cannot do, one sentence a line; empty for a real server.
	Limits []string

	ended <-chan struct{}
	stop  func() error
}

// Start runs a redis-server in a temporary directory and returns when it answers. Where
// PATH has none it starts the imitation.
func Start(ctx context.Context) (*Redis, error) {
	path, err := exec.LookPath("redis-server")
	if errors.Is(err, exec.ErrNotFound) {
		return startImitation()
	}
	if err != nil {
		return nil, err
	}
	return startServer(ctx, path)
}

// Ended is closed when the Redis is gone, by Close or by itself.
func (r *Redis) Ended() <-chan struct{} { return r.ended }

// Close ends the Redis, waits for it, and removes its directory.
func (r *Redis) Close() error { return r.stop() }
