package app

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
)

// Run listens on the addresses of the settings, that of the metrics included, and serves until
// ctx ends; see Serve.
func (a *App) Run(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", a.cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", a.cfg.Listen, errors.Join(err, a.Close(ctx)))
	}
	return a.measured(ctx, listener)
}

// Serve ticks and answers on listener, which it closes, until ctx ends. Then new work is
// refused with 503 COORDINATOR_TERMINATING while the listener still answers, requests under
// way finish within the shutdown timeout, and at last the listener closes. It returns nil
// when nothing was cut off.
func (a *App) Serve(ctx context.Context, listener net.Listener) error {
	a.Start() //nolint:contextcheck // the ticks end with the loop, after the last request.
	server := httpx.NewServer(a.handler, a.log, httpx.Limits{})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	a.log.Info("coordinator serves", "id", a.id, "address", listener.Addr().String(), "basePath", a.cfg.API.BasePath,
		"store", a.cfg.Store.Type, "version", Build().Version)

	var failed error
	select {
	case failed = <-served:
	case <-ctx.Done():
		a.log.Info("coordinator ends: new work is refused, work under way finishes", "atMost", a.cfg.ShutdownTimeout)
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.ShutdownTimeout)
	defer cancel()
	err := errors.Join(failed, a.finish(ending), server.Shutdown(ending))
	if failed == nil {
		err = errors.Join(err, <-served)
	}
	err = errors.Join(err, a.disconnect(ending))
	a.log.Info("coordinator has ended", "clean", err == nil)
	return err
}
