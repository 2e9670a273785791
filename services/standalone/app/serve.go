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
)

// suite is the gateway with the coordinator, the monitor and the console behind it, while they
// serve.
type suite struct {
	gateway, coordinator, monitor, console *server

	metrics *telemetry.Server // nil without a metrics port
}

// serve starts the suite. It outlasts ctx, so that what runs on it can leave.
func serve(ctx context.Context, o Options, rdb redis.UniversalClient) (*suite, error) {
	cfg := o.Settings.resolved()
	at, err := listenAll(ctx, cfg)
	if err != nil {
		return nil, err
	}
	at.introduce(&cfg)
	p, err := assemble(ctx, o, cfg, rdb)
	if err != nil {
		return nil, errors.Join(err, at.close())
	}
	s := &suite{
		coordinator: start(ctx, at.coordinator, p.coordinator.Serve),
		monitor:     start(ctx, at.monitor, p.monitor.Serve),
		console:     start(ctx, at.console, p.console.Serve),
		gateway:     start(ctx, at.gateway, p.gateway.Serve),
	}
	s.introduce(o, cfg)
	s.metrics = measure(ctx, o, telemetry.Handler(p.gateway.Metrics(), p.coordinator.Metrics(), p.monitor.Metrics(), p.console.Metrics()))
	return s, nil
}

// introduce says where the parts are, and how to log in where everybody knows.
func (s *suite) introduce(o Options, cfg Settings) {
	fmt.Fprintf(o.Out, "standalone: API on %s%s, described at %s/docs\n", s.gateway.url, cfg.Gateway.API.BasePath, s.gateway.url)
	fmt.Fprintf(o.Out, "standalone: console on %s/console%s\n", s.gateway.url, knownLogin(cfg.Gateway.API))
	fmt.Fprintf(o.Out, "standalone: coordinator on %s, changes through the gateway only\n", s.coordinator.url)
	fmt.Fprintf(o.Out, "standalone: monitor on %s, it looks every %v\n", s.monitor.url, cfg.Monitor.Observe.Interval)
}

// knownLogin is the login of development mode, empty where users have passwords of their own.
func knownLogin(api gateway.API) string {
	none := len(api.Users) == 0 && api.AdminPassword == ""
	if api.Dev && (none || api.AdminPassword == gateway.DefaultPassword) {
		return fmt.Sprintf(", log in as %s with the password %q (development mode)", api.AdminUsername, gateway.DefaultPassword)
	}
	return ""
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
		case <-s.console.ended:
		}
	}()
	return either
}

// stop ends the parts, the outer one first: it takes nothing new from then on. Streams of events
// that pass it end where they come from, so console and monitor do not wait for it.
func (s *suite) stop(ctx context.Context) error {
	s.gateway.cancel()
	err := errors.Join(s.console.stop(), s.monitor.stop(), s.gateway.stop(), s.coordinator.stop())
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
