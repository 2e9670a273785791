package app

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/limits"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/metrics"
)

// metrics is where the metrics are served.
func (g Gateway) metrics() telemetry.Place {
	return telemetry.Place{Key: "gateway.metrics-listen", Address: g.MetricsListen}
}

// watch adds what the parts tell when they are asked.
func (a *App) watch(inFlight *limits.InFlight) {
	metrics.Watch(a.registry, metrics.Sources{
		Audit:    func() metrics.Audit { return metrics.Audit(a.auditor.Counts()) },
		InFlight: inFlight.UnderWay,
	})
}

// measured serves with the metrics port open, which closes last. It closes the listener.
func (a *App) measured(ctx context.Context, listener net.Listener) error {
	port, err := telemetry.Start(ctx, a.cfg.Gateway.metrics(), telemetry.Handler(a.registry), a.log)
	if err != nil {
		return errors.Join(err, listener.Close(), a.Close(ctx))
	}
	err = a.Serve(ctx, listener)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return errors.Join(err, port.Close(ending))
}
