package app

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/metrics"
)

// metrics is where the metrics are served.
func (c Config) metrics() telemetry.Place {
	return telemetry.Place{Key: "metrics-listen", Address: c.MetricsListen}
}

// state is what the metrics say of health, without what may go wrong.
func (h *health) state() metrics.State {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	s := metrics.State{Up: h.Health(ctx).Status == protocol.HealthUp, Unreadable: len(h.app.loop.Problems())}
	if h.app.driver != nil {
		s.Stuck = len(h.app.driver.Problems())
	}
	return s
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
