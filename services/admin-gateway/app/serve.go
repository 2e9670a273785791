package app

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/limits"
)

// Run listens on the addresses of the settings, that of the metrics included, and serves until
// ctx ends; see Serve.
func (a *App) Run(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", a.cfg.Gateway.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", a.cfg.Gateway.Listen, errors.Join(err, a.Close(ctx)))
	}
	return a.measured(ctx, listener)
}

// Serve answers on listener, which it closes, until ctx ends. Then new work is refused with
// 503 COORDINATOR_TERMINATING while the listener still answers, requests under way finish
// within the shutdown timeout, what the audit still holds is written, and at last the
// listener closes. It returns nil when nothing was cut off or lost.
func (a *App) Serve(ctx context.Context, listener net.Listener) error {
	capped := limits.Listener(listener, a.cfg.Gateway.MaxConnectionsPerAddress, a.cfg.Gateway.MaxConnections, a.clients.Trusted()...)
	server := httpx.NewServer(a.handler, a.log, httpx.Limits{})
	served := make(chan error, 1)
	go func() { served <- server.Serve(capped) }()
	a.log.Info("gateway serves", "id", a.id, "address", listener.Addr().String(), "basePath", a.cfg.API.BasePath,
		"coordinators", a.cfg.Gateway.Coordinators, "version", settings.Build().Version)

	var failed error
	select {
	case failed = <-served:
	case <-ctx.Done():
		a.log.Info("gateway ends: new work is refused, work under way finishes", "atMost", a.cfg.Gateway.ShutdownTimeout)
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.Gateway.ShutdownTimeout)
	defer cancel()
	a.proxy.EndStreams()
	finished := a.gate.Close(ending)
	err := errors.Join(failed, finished, server.Shutdown(ending))
	if failed == nil {
		err = errors.Join(err, <-served)
	}
	err = errors.Join(err, a.Close(ending))
	a.log.Info("gateway has ended", "clean", err == nil)
	return err
}
