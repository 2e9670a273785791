package httpx

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits bound what one connection may cost. A zero field takes its default.
type Limits struct {
	// ReadHeader is the time for a request's head (5 s), Read for head and body (10 s).
	ReadHeader, Read time.Duration
	// Write is the time from the head of a request to the end of its answer (90 s); a
	// handler that streams moves it by http.ResponseController.
	Write time.Duration
	// Idle is how long a connection waits for its next request (60 s).
	Idle time.Duration
	// HeaderBytes bounds the head of a request (64 KiB).
	HeaderBytes int
}

func (l Limits) withDefaults() Limits {
	return Limits{
		ReadHeader:  orDefault(l.ReadHeader, 5*time.Second),
		Read:        orDefault(l.Read, 10*time.Second),
		Write:       orDefault(l.Write, 90*time.Second),
		Idle:        orDefault(l.Idle, 60*time.Second),
		HeaderBytes: orDefault(l.HeaderBytes, 64<<10),
	}
}

// Server serves a handler with every limit of the wire contract set. A chunked request is the
// last one of its connection.
type Server struct{ inner *http.Server }

// NewServer returns a server for handler. What net/http has to say about broken
// connections goes to log as warnings; nil discards it.
func NewServer(handler http.Handler, log *slog.Logger, limits Limits) *Server {
	limits = limits.withDefaults()
	return &Server{inner: &http.Server{
		Handler:           framed(handler),
		ReadHeaderTimeout: limits.ReadHeader,
		ReadTimeout:       limits.Read,
		WriteTimeout:      limits.Write,
		IdleTimeout:       limits.Idle,
		MaxHeaderBytes:    limits.HeaderBytes,
		ErrorLog:          slog.NewLogLogger(Logger(log).Handler(), slog.LevelWarn),
		// "OPTIONS *" goes to the handler like everything else.
		DisableGeneralOptionsHandler: true,
	}}
}

// Serve answers connections of listener, which it closes at the end, until Shutdown;
// then it returns nil at once, before Shutdown does.
func (s *Server) Serve(listener net.Listener) error {
	if err := s.inner.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve HTTP on %s: %w", listener.Addr(), err)
	}
	return nil
}

// Shutdown takes no new connections and waits for the requests under way. When ctx
// ends first it cuts them off and returns ctx's error.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.inner.Shutdown(ctx)
	if err == nil {
		return nil
	}
	return fmt.Errorf("shut the HTTP server down: %w", errors.Join(err, s.inner.Close()))
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}
