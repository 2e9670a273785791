package app

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
)

// metrics is where the metrics are served.
func (c Config) metrics() telemetry.Place {
	return telemetry.Place{Key: "metrics-listen", Address: c.MetricsListen}
}

// measured serves with the metrics port open, which closes last. It closes the listener.
func (a *App) measured(ctx context.Context, listener net.Listener) error {
	port, err := telemetry.Start(ctx, a.cfg.metrics(), telemetry.Handler(a.registry), a.log)
	if err != nil {
		return errors.Join(err, listener.Close(), a.Close(ctx))
	}
	err = a.Serve(ctx, listener)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return errors.Join(err, port.Close(ending))
}
