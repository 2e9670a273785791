package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
	gateway "github.com/redis-stream-coordinator/rsc/services/admin-gateway/app"
	coordinator "github.com/redis-stream-coordinator/rsc/services/coordinator/app"
	monitor "github.com/redis-stream-coordinator/rsc/services/monitor/app"
)

// suite is the gateway with the coordinator and the monitor behind it, while they serve.
type suite struct {
	gateway, coordinator, monitor *server

	metrics *telemetry.Server // nil without a metrics port
}

// serve starts the suite. It outlasts ctx, so that what runs on it can leave.
func serve(ctx context.Context, o Options, rdb redis.UniversalClient) (*suite, error) {
	cfg := o.Settings.resolved()
	at, err := listenAll(ctx, cfg)
	if err != nil {
		return nil, err
	}
	cfg.Gateway.Gateway.Coordinators = []string{urlOf(at.inner)}
	cfg.Gateway.Gateway.Monitor, cfg.Monitor.Monitor.Coordinator = urlOf(at.watcher), urlOf(at.inner)
	door, err := gateway.New(ctx, cfg.Gateway, gateway.Deps{Logger: o.Log, Redis: rdb, AuditOut: o.Out})
	if err != nil {
		return nil, errors.Join(err, at.close())
	}
	behind, err := coordinator.New(ctx, cfg.Coordinator, coordinator.Deps{Logger: o.Log, Keys: door.Keys()})
	if err != nil {
		return nil, errors.Join(err, door.Close(ctx), at.close())
	}
	beside, err := monitor.New(ctx, cfg.Monitor, monitor.Deps{Logger: o.Log, Keys: door.Keys()})
	if err != nil {
		return nil, errors.Join(err, behind.Close(ctx), door.Close(ctx), at.close())
	}
	s := &suite{
		coordinator: start(ctx, at.inner, behind.Serve),
		monitor:     start(ctx, at.watcher, beside.Serve),
		gateway:     start(ctx, at.outer, door.Serve),
	}
	fmt.Fprintf(o.Out, "standalone: API on %s%s, described at %s/docs\n", s.gateway.url, cfg.Gateway.API.BasePath, s.gateway.url)
	fmt.Fprintf(o.Out, "standalone: coordinator on %s, changes through the gateway only\n", s.coordinator.url)
	fmt.Fprintf(o.Out, "standalone: monitor on %s, it looks every %v\n", s.monitor.url, cfg.Monitor.Observe.Interval)
	s.metrics = measure(ctx, o, telemetry.Handler(door.Metrics(), behind.Metrics(), beside.Metrics()))
	introduceUsers(o, cfg)
	return s, nil
}

// listeners are where the parts listen.
type listeners struct{ inner, watcher, outer net.Listener }

func listenAll(ctx context.Context, cfg Settings) (at listeners, err error) {
	if at.inner, err = listen(ctx, cfg.Coordinator.Listen, "choose another one with RSC_LISTEN"); err != nil {
		return at, err
	}
	if at.watcher, err = listen(ctx, cfg.Monitor.Monitor.Listen, "choose another one with RSC_MONITOR_LISTEN"); err != nil {
		return at, errors.Join(err, at.inner.Close())
	}
	if at.outer, err = listen(ctx, cfg.Gateway.Gateway.Listen, "choose another address with --addr"); err != nil {
		return at, errors.Join(err, at.inner.Close(), at.watcher.Close())
	}
	return at, nil
}

func (l listeners) close() error {
	return errors.Join(l.inner.Close(), l.watcher.Close(), l.outer.Close())
}

func urlOf(listener net.Listener) string { return "http://" + listener.Addr().String() }

// introduceUsers says how to log in where everybody knows.
func introduceUsers(o Options, cfg Settings) {
	api := cfg.Gateway.API
	none := len(api.Users) == 0 && api.AdminPassword == ""
	if api.Dev && (none || api.AdminPassword == gateway.DefaultPassword) {
		fmt.Fprintf(o.Out, "standalone: development mode, log in as %s with the password %q\n", api.AdminUsername, gateway.DefaultPassword)
	}
}

func listen(ctx context.Context, address, advice string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; %s", address, err, advice)
	}
	return listener, nil
}

// ended is closed when a part has ended, which it should not by itself.
func (s *suite) ended() <-chan struct{} {
	either := make(chan struct{})
	go func() {
		defer close(either)
		select {
		case <-s.gateway.ended:
		case <-s.coordinator.ended:
		case <-s.monitor.ended:
		}
	}()
	return either
}

// stop ends the parts, the outer one first.
func (s *suite) stop(ctx context.Context) error {
	err := errors.Join(s.gateway.stop(), s.monitor.stop(), s.coordinator.stop())
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return errors.Join(err, s.metrics.Close(ending))
}

// server is a part while it serves.
type server struct {
	url    string
	ended  chan struct{}
	err    error // once ended is closed
	cancel context.CancelFunc
}

func start(ctx context.Context, listener net.Listener, serve func(context.Context, net.Listener) error) *server {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &server{url: urlOf(listener), ended: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(s.ended)
		s.err = serve(own, listener)
	}()
	return s
}

func (s *server) stop() error {
	s.cancel()
	<-s.ended
	return s.err
}
