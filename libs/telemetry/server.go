package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
)

// Place is where the metrics port is.
type Place struct {
	// Key is the setting that says so; an address that cannot be had is reported under it.
	Key string
	// Address is host:port. Empty has no metrics port.
	Address string
}

// Validate reports an address that is neither empty nor host:port, under the key.
func (p Place) Validate() error {
	if p.Address == "" {
		return nil
	}
	if _, _, err := net.SplitHostPort(p.Address); err != nil {
		return fmt.Errorf("%s is %q, it must be host:port, or empty for none", p.Key, p.Address)
	}
	return nil
}

// Server serves the metrics port. A nil one is a port that is switched off.
type Server struct {
	inner   *httpx.Server
	address string
	ended   chan error
}

// Start listens at place and serves handler there until Close. Without an address it returns nil
// and no error. An address in use is an error that names the setting.
func Start(ctx context.Context, place Place, handler http.Handler, log *slog.Logger) (*Server, error) {
	if place.Address == "" {
		return nil, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", place.Address)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place.Key, err)
	}
	s := &Server{
		inner:   httpx.NewServer(handler, log, httpx.Limits{Write: 30 * time.Second}),
		address: listener.Addr().String(), ended: make(chan error, 1),
	}
	httpx.Logger(log).Info("serving metrics", "address", s.address)
	go func() { s.ended <- s.inner.Serve(listener) }()
	return s, nil
}

// Address is where it listens, with the port it was given for port 0; empty when it is off.
func (s *Server) Address() string {
	if s == nil {
		return ""
	}
	return s.address
}

// Close ends it and waits for scrapes under way until ctx ends. It is called once.
func (s *Server) Close(ctx context.Context) error {
	if s == nil {
		return nil
	}
	if err := s.inner.Shutdown(ctx); err != nil {
		return fmt.Errorf("close metrics port: %w", err)
	}
	return <-s.ended
}
