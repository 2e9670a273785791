package app

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"

	gateway "github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
	coordinator "github.com/redis-stream-coordinator/rsc/services/coordinator/app"
	monitor "github.com/redis-stream-coordinator/rsc/services/monitor/app"
	console "github.com/redis-stream-coordinator/rsc/web/app"
)

// parts are the services of the suite, made and not serving yet.
type parts struct {
	gateway     *gateway.App
	coordinator *coordinator.App
	monitor     *monitor.App
	console     *console.App
}

// assemble makes the services, which take the gateway's keys without asking for them. After an
// error there is nothing to close.
func assemble(ctx context.Context, o Options, cfg Settings, rdb redis.UniversalClient) (p parts, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, p.close(ctx))
		}
	}()
	if p.gateway, err = gateway.New(ctx, cfg.Gateway, gateway.Deps{Logger: o.Log, Redis: rdb, AuditOut: o.Out}); err != nil {
		return p, err
	}
	keys := p.gateway.Keys()
	if p.coordinator, err = coordinator.New(ctx, cfg.Coordinator, coordinator.Deps{Logger: o.Log, Keys: keys}); err != nil {
		return p, err
	}
	if p.monitor, err = monitor.New(ctx, cfg.Monitor, monitor.Deps{Logger: o.Log, Keys: keys}); err != nil {
		return p, err
	}
	p.console, err = console.New(ctx, cfg.Console, console.Deps{Logger: o.Log, Keys: keys})
	return p, err
}

// close ends what was made.
func (p parts) close(ctx context.Context) error {
	var errs []error
	if p.console != nil {
		errs = append(errs, p.console.Close(ctx))
	}
	if p.monitor != nil {
		errs = append(errs, p.monitor.Close(ctx))
	}
	if p.coordinator != nil {
		errs = append(errs, p.coordinator.Close(ctx))
	}
	if p.gateway != nil {
		errs = append(errs, p.gateway.Close(ctx))
	}
	return errors.Join(errs...)
}
