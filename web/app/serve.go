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
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", a.cfg.Web.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", a.cfg.Web.Listen, errors.Join(err, a.Close(ctx)))
	}
	port, err := telemetry.Start(ctx, telemetry.Place{Key: metricsKey, Address: a.cfg.Web.MetricsListen},
		telemetry.Handler(a.registry), a.log)
	if err != nil {
		return errors.Join(err, listener.Close(), a.Close(ctx))
	}
	err = a.Serve(ctx, listener)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.Web.ShutdownTimeout)
	defer cancel()
	return errors.Join(err, port.Close(ending))
}

// Serve answers on listener, which it closes, until ctx ends. Then pages are no longer kept up to
// date, requests under way finish within the shutdown timeout, and at last the listener closes. It
// returns nil when nothing was cut off.
func (a *App) Serve(ctx context.Context, listener net.Listener) error {
	server := httpx.NewServer(a.Handler(), a.log, httpx.Limits{})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	a.log.Info("console serves", "address", listener.Addr().String(), "gateway", a.cfg.Web.Gateway, "version", settings.Build().Version)

	var failed error
	select {
	case failed = <-served:
	case <-ctx.Done():
		a.log.Info("console ends", "atMost", a.cfg.Web.ShutdownTimeout)
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.Web.ShutdownTimeout)
	defer cancel()
	err := errors.Join(failed, a.Close(ending), server.Shutdown(ending))
	if failed == nil {
		err = errors.Join(err, <-served)
	}
	a.log.Info("console has ended", "clean", err == nil)
	return err
}
