package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	gateway "github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
	coordinator "github.com/redis-stream-coordinator/rsc/services/coordinator/app"
	monitor "github.com/redis-stream-coordinator/rsc/services/monitor/app"
	console "github.com/redis-stream-coordinator/rsc/web/app"
)

// service is one with the metrics that it registers.
type service struct {
	name, place string
	metrics     []metric
}

// part is a service that was made and is not started.
type part interface {
	Metrics() prometheus.Gatherer
	Close(ctx context.Context) error
}

// services makes every service with its defaults and reads what it registers. None of them is
// started, and nobody is asked anything.
func services(ctx context.Context) ([]service, error) {
	inner, err := coordinator.New(ctx, coordinatorSettings(), coordinator.Deps{})
	if err != nil {
		return nil, fmt.Errorf("make a coordinator: %w", err)
	}
	outer := gateway.DefaultConfig()
	outer.API.Dev = true
	door, err := gateway.New(ctx, outer, gateway.Deps{})
	if err != nil {
		return nil, fmt.Errorf("make a gateway: %w", errors.Join(err, inner.Close(ctx)))
	}
	beside, err := monitor.New(ctx, monitor.DefaultConfig(), monitor.Deps{})
	if err != nil {
		return nil, fmt.Errorf("make a monitor: %w", errors.Join(err, inner.Close(ctx), door.Close(ctx)))
	}
	pages, err := console.New(ctx, console.DefaultConfig(), console.Deps{Keys: door.Keys()})
	if err != nil {
		return nil, fmt.Errorf("make a console: %w", errors.Join(err, inner.Close(ctx), door.Close(ctx), beside.Close(ctx)))
	}
	var found []service
	var errs []error
	for _, of := range []struct {
		name, place string
		part        part
	}{
		{"Coordinator", "metrics-listen, :9081", inner},
		{"Gateway", "gateway.metrics-listen, :9080", door},
		{"Monitor", "monitor.metrics-listen, :9082", beside},
		{"Console", "web.metrics-listen, :9083", pages},
	} {
		metrics, err := registered(of.part.Metrics())
		found = append(found, service{of.name, of.place, metrics})
		errs = append(errs, err, of.part.Close(ctx))
	}
	return found, errors.Join(errs...)
}

// coordinatorSettings need no Redis.
func coordinatorSettings() coordinator.Config {
	cfg := coordinator.DefaultConfig()
	cfg.Store.Type, cfg.Provisioning.Enabled = coordinator.StoreMemory, false
	return cfg
}
