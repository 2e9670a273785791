package app

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
)

// Run listens on the addresses of the settings, that of the metrics included, and serves until
// ctx ends; see Serve.
func (a *App) Run(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", a.cfg.Monitor.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", a.cfg.Monitor.Listen, errors.Join(err, a.Close(ctx)))
	}
	port, err := telemetry.Start(ctx, telemetry.Place{Key: metricsKey, Address: a.cfg.Monitor.MetricsListen},
		telemetry.Handler(a.Metrics()), a.log)
	if err != nil {
		return errors.Join(err, listener.Close(), a.Close(ctx))
	}
	err = a.Serve(ctx, listener)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.Monitor.ShutdownTimeout)
	defer cancel()
	return errors.Join(err, port.Close(ending))
}

// Serve looks and answers on listener, which it closes, until ctx ends. Then new work is
// refused with 503 COORDINATOR_TERMINATING while the listener still answers, streams end,
// requests under way finish within the shutdown timeout, and at last the listener closes. It
// returns nil when nothing was cut off.
func (a *App) Serve(ctx context.Context, listener net.Listener) error {
	a.Start(ctx)
	server := httpx.NewServer(a.handler, a.log, httpx.Limits{})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	a.log.Info("monitor serves", "address", listener.Addr().String(), "basePath", a.cfg.API.BasePath,
		"coordinator", a.cfg.Monitor.Coordinator, "every", a.cfg.Observe.Interval, "version", settings.Build().Version)

	var failed error
	select {
	case failed = <-served:
	case <-ctx.Done():
		a.log.Info("monitor ends: new work is refused, work under way finishes", "atMost", a.cfg.Monitor.ShutdownTimeout)
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.Monitor.ShutdownTimeout)
	defer cancel()
	err := errors.Join(failed, a.finish(ending), server.Shutdown(ending))
	if failed == nil {
		err = errors.Join(err, <-served)
	}
	a.giveBack(ending)
	err = errors.Join(err, a.disconnect(ending))
	a.log.Info("monitor has ended", "clean", err == nil)
	return err
}
