package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/address"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/audit"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/login"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/metrics"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/proxy"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/users"
)

// ErrSettings comes from New when the settings are not valid.
var ErrSettings = errors.New("gateway settings")

// Deps are what the surrounding program may bring along.
type Deps struct {
	// Logger takes all that the gateway has to say; nil discards it.
	Logger *slog.Logger
	// AuditOut takes the records of the sink log, one JSON line each; nil discards them.
	AuditOut io.Writer
	// Redis replaces the client that the settings describe, where they use one. It stays the
	// caller's to close, after Close. Where traces are recorded the gateway adds a hook to it,
	// which looks at what the gateway asks only.
	Redis redis.UniversalClient
}

// App is one gateway.
type App struct {
	cfg Config
	log *slog.Logger
	id  string

	redis     redis.UniversalClient // nil when the settings use none
	ownsRedis bool
	gate      *httpx.Gate
	ring      *auth.Keyring
	users     *users.Directory
	clients   *address.Resolver
	shared    *login.RedisRevocations // nil where they are this process's own
	auditor   *audit.Auditor
	recorded  *audit.Postgres // the audit's sink, nil where it is another one
	proxy     *proxy.Proxy
	tracing   *tracing.Tracing
	registry  *prometheus.Registry
	metrics   *metrics.Metrics
	handler   http.Handler

	permissions *redisx.Permissions // of the Redis user; nil without Redis
}

// New returns a gateway that answers through Handler. A Redis, a PostgreSQL or a coordinator
// that does not answer is no error: what needs it is refused until it does. It fails with
// ErrSettings when the settings are not valid, and where the audit's tables in PostgreSQL are
// a newer gateway's or cannot be made. After an error there is nothing to close.
func New(ctx context.Context, cfg Config, deps Deps) (*App, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSettings, err)
	}
	a := &App{cfg: cfg, log: httpx.Logger(deps.Logger), id: settings.Instance(protocol.ServiceGateway), gate: httpx.NewGate()}
	a.registry = telemetry.NewRegistry("gateway")
	a.metrics = metrics.New(a.registry, cfg.API.BasePath, clock.Now)
	if deps.AuditOut == nil {
		deps.AuditOut = io.Discard
	}
	if err := a.connect(deps); err != nil {
		return nil, err
	}
	if err := a.trace(); err != nil {
		return nil, errors.Join(err, a.Close(ctx))
	}
	if err := a.wire(ctx, deps); err != nil {
		return nil, errors.Join(err, a.Close(ctx))
	}
	a.warn()
	a.permit(ctx)
	return a, nil
}

// connect sets a.redis where the settings use one.
func (a *App) connect(deps Deps) error {
	switch {
	case !a.cfg.usesRedis():
		return nil
	case deps.Redis != nil:
		a.redis = deps.Redis
		return nil
	}
	client, err := a.cfg.Redis.Dial("rsc-gateway")
	if err != nil {
		return err
	}
	a.redis, a.ownsRedis = client, true
	return nil
}

// ID names this gateway: the host and a ULID of this start.
func (a *App) ID() string { return a.id }

// Keys are the keys that verify what this gateway signs, for a coordinator in the same
// process.
func (a *App) Keys() auth.Keys { return a.ring }

// Handler serves the API. After Close it answers everything but what tells how it is doing
// with 503 COORDINATOR_TERMINATING.
func (a *App) Handler() http.Handler { return a.handler }

// Metrics are the series of this gateway, which Run serves at gateway.metrics-listen.
func (a *App) Metrics() prometheus.Gatherer { return a.registry }

// Reload reads the users again. Who is no longer there may do nothing from now on, whatever
// token they hold; settings that are not valid change nothing and are logged.
func (a *App) Reload(load func() (Config, error)) {
	cfg, err := load()
	if err != nil {
		a.log.Error("settings were not read again, the users stay as they were", "error", err)
		return
	}
	table, err := cfg.API.table()
	if err != nil {
		a.log.Error("settings were not read again, the users stay as they were", "error", err)
		return
	}
	a.users.Replace(table)
	a.log.Info("users were read again; other settings need a restart", "users", len(cfg.API.Users))
}

// Close refuses new requests, waits for those under way and writes what the audit still
// holds, until ctx ends; its error tells what was cut off or lost. It may be called again.
func (a *App) Close(ctx context.Context) error {
	if a.proxy != nil {
		a.proxy.EndStreams()
	}
	errs := []error{a.gate.Close(ctx)}
	if a.auditor != nil {
		errs = append(errs, a.auditor.Close(ctx))
	}
	if a.recorded != nil {
		a.recorded.Close()
	}
	if a.proxy != nil {
		a.proxy.Close()
	}
	if a.shared != nil {
		a.shared.Close()
	}
	a.tracing.Close(ctx)
	if a.ownsRedis {
		if err := a.redis.Close(); err != nil && !errors.Is(err, redis.ErrClosed) {
			errs = append(errs, fmt.Errorf("close Redis client: %w", err))
		}
	}
	return errors.Join(errs...)
}

// warn says at the start what an operator should know.
func (a *App) warn() {
	if a.cfg.API.Dev {
		for _, weakness := range a.cfg.API.relaxed() {
			a.log.Warn("development mode takes what production would refuse", "what", weakness)
		}
	}
	if a.cfg.Audit.Sink == SinkLog {
		a.log.Info("the audit goes to standard output and cannot be queried; audit.sink redis or postgres keeps it")
	}
}
