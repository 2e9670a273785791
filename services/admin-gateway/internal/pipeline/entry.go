package pipeline

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// Routes tells what is asked for.
type Routes interface {
	// Match reads a method and a path as they were sent. Errors are *protocol.Error.
	Match(method, escapedPath, rawQuery string) (route.Route, error)
	// Allowed lists the methods that a path takes.
	Allowed(escapedPath string) []string
}

// Clients tells who asks.
type Clients interface {
	Client(r *http.Request) exchange.Client
}

// entry makes the exchange of a request that asks for something that there is.
type entry struct {
	routes  Routes
	clients Clients
	answers httpx.Answers
	now     func() time.Time
}

// Stage refuses what is no endpoint, and gives every other request its exchange.
func (s entry) Stage(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found, err := s.routes.Match(r.Method, r.URL.EscapedPath(), r.URL.RawQuery)
		if err != nil {
			var refusal *protocol.Error
			if errors.As(err, &refusal) && refusal.Code == protocol.CodeMethodNotAllowed {
				w.Header().Set("Allow", strings.Join(s.routes.Allowed(r.URL.EscapedPath()), ", "))
			}
			s.answers.Error(w, r, err)
			return
		}
		r.Pattern = found.Pattern     // for the access log
		e := exchange.Of(r.Context()) // that of the metrics, which look at it afterwards
		*e = exchange.Exchange{Began: s.now(), Client: s.clients.Client(r), Route: found}
		next.ServeHTTP(w, r.WithContext(exchange.With(r.Context(), e)))
	})
}

// gated refuses while the process terminates all but what tells how it is doing.
func gated(gate *httpx.Gate, answers httpx.Answers) Wrap {
	return func(next http.Handler) http.Handler {
		closed := gate.Handler(answers)(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if e := exchange.Of(r.Context()); e.Route.Service == route.Gateway && e.Route.Access.Public {
				next.ServeHTTP(w, r)
				return
			}
			if gate.Closed() {
				exchange.Of(r.Context()).Code = protocol.CodeTerminating
			}
			closed.ServeHTTP(w, r)
		})
	}
}

// levelOf keeps heartbeats and the checks of probes out of the normal log.
func levelOf(r *http.Request, status int) slog.Level {
	switch {
	case status >= http.StatusInternalServerError:
		return slog.LevelWarn
	case strings.HasSuffix(r.Pattern, "/heartbeat"), strings.HasSuffix(r.Pattern, "/heartbeats"), strings.HasSuffix(r.Pattern, "z"):
		return slog.LevelDebug
	default:
		return slog.LevelInfo
	}
}
