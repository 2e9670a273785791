package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/metrics"
)

// metricsKey is the setting that says where the metrics port is.
const metricsKey = "monitor.metrics-listen"

// leaseRounds is how many intervals the lease lasts after a round has renewed it: another
// monitor has it at its next round, the third.
const leaseRounds = 2

// renewTimeout bounds how long a round waits for the lease.
const renewTimeout = time.Second

// meter is what the monitor tells Prometheus.
type meter struct {
	registry  *prometheus.Registry
	collector *metrics.Collector
	lease     *metrics.Lease
	failing   bool // the last renewal failed; read and written by metered only
}

// measure makes the meter, and has the board tell it of every round. It asks nobody.
func (a *App) measure() {
	o := a.cfg.Observe
	lasts := max(leaseRounds*o.Interval, o.Interval+o.Interval/10+o.RoundTimeout)
	lease := metrics.NewLease(a.redis, a.cfg.Store.KeyPrefix+":monitor:lease", lasts, clock.Now)
	collector := metrics.New(metrics.Config{MemberSeries: a.cfg.Monitor.MemberSeries, Stale: a.board.stale}, metrics.Deps{
		Newest: a.board.measured, Holds: lease.Holds, Skipped: a.observer.Skipped, Now: clock.Now,
	})
	a.meter = meter{registry: telemetry.NewRegistry("monitor"), collector: collector, lease: lease}
	a.meter.registry.MustRegister(collector)
	a.board.observed = a.metered
}

// metered takes a round that has just been put up: it is counted, and it renews the lease,
// which a monitor without rounds therefore loses.
func (a *App) metered(round facts.Round) {
	a.meter.collector.Observe(round)
	ctx, cancel := context.WithTimeout(context.Background(), renewTimeout)
	defer cancel()
	held := a.meter.lease.Holds()
	err := a.meter.lease.Renew(ctx)
	if err != nil && !a.meter.failing {
		a.log.Warn("groups, members and shards may be missing from the metrics", "error", err)
	}
	a.meter.failing = err != nil
	if err == nil || redisx.StateOf(err) == redisx.StateNoPerm { // otherwise Redis is away
		a.watchPermissions()
	}
	if now := a.meter.lease.Holds(); err == nil && now != held {
		a.log.Info("who shows groups, members and shards in the metrics has changed", "thisMonitor", now)
	}
}

// giveBack lets another monitor have the lease at once. Where Redis does not answer the lease
// ends by itself, which is no failure of this monitor.
func (a *App) giveBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, renewTimeout)
	defer cancel()
	if err := a.meter.lease.Release(ctx); err != nil {
		a.log.Info("the lease of the metrics ends by itself", "error", err)
	}
}

// Metrics returns what the monitor tells Prometheus. Groups, members and shards are in it
// while this monitor holds the lease.
func (a *App) Metrics() prometheus.Gatherer { return a.meter.registry }

// measured returns the newest look for the metrics.
func (b *board) measured() (metrics.Look, bool) {
	newest := b.newest.Load()
	if newest == nil {
		return metrics.Look{}, false
	}
	return metrics.Look{Round: newest.look.Round, Snapshot: newest.look.Snapshot, At: newest.at}, true
}
