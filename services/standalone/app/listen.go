package app

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// listeners are where the parts listen.
type listeners struct{ coordinator, monitor, console, gateway net.Listener }

// listenAll opens the addresses of the settings. After an error none is open.
func listenAll(ctx context.Context, cfg Settings) (at listeners, err error) {
	for _, one := range []struct {
		at              *net.Listener
		address, advice string
	}{
		{&at.coordinator, cfg.Coordinator.Listen, "choose another one with RSC_LISTEN"},
		{&at.monitor, cfg.Monitor.Monitor.Listen, "choose another one with RSC_MONITOR_LISTEN"},
		{&at.console, cfg.Console.Web.Listen, "choose another one with RSC_WEB_LISTEN"},
		{&at.gateway, cfg.Gateway.Gateway.Listen, "choose another address with --addr"},
	} {
		if *one.at, err = listen(ctx, one.address, one.advice); err != nil {
			return at, errors.Join(err, at.close())
		}
	}
	return at, nil
}

func listen(ctx context.Context, address, advice string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w; %s", address, err, advice)
	}
	return listener, nil
}

// introduce tells the parts of each other.
func (l listeners) introduce(cfg *Settings) {
	cfg.Gateway.Gateway.Coordinators = []string{urlOf(l.coordinator)}
	cfg.Gateway.Gateway.Monitor = urlOf(l.monitor)
	cfg.Gateway.Gateway.Web = urlOf(l.console)
	cfg.Monitor.Monitor.Coordinator = urlOf(l.coordinator)
	cfg.Console.Web.Gateway = urlOf(l.gateway)
}

// close closes those that are open.
func (l listeners) close() error {
	var errs []error
	for _, one := range []net.Listener{l.coordinator, l.monitor, l.console, l.gateway} {
		if one != nil {
			errs = append(errs, one.Close())
		}
	}
	return errors.Join(errs...)
}

// urlOf is where this machine reaches a listener. One on every interface is reached on the
// loopback interface.
func urlOf(listener net.Listener) string {
	at, is := listener.Addr().(*net.TCPAddr)
	if !is || !at.IP.IsUnspecified() {
		return "http://" + listener.Addr().String()
	}
	return fmt.Sprintf("http://127.0.0.1:%d", at.Port)
}
