package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/loop"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/peers"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/reshard"
)

// ErrSettings comes from New when the settings are not valid.
var ErrSettings = errors.New("coordinator settings")

// Deps are what the surrounding program may bring along.
type Deps struct {
	// Logger takes all that the coordinator has to say; nil discards it.
	Logger *slog.Logger
	// Redis replaces the client that the settings describe. It must not route commands to
	// replicas (libs/redisx builds such clients), and stays the caller's to close, after
	// Close. Nil makes one where the settings use Redis. Where traces are recorded the
	// coordinator adds a hook to it, which looks at what the coordinator asks only.
	Redis redis.UniversalClient
	// Keys verify the tokens of callers in place of those at api.jwks-url: a program that
	// runs the gateway too gives the gateway's own. Nil takes the settings'.
	Keys auth.Keys
}

// App is one coordinator.
type App struct {
	cfg Config
	log *slog.Logger
	id  string

	redis     redis.UniversalClient // nil when the settings use none
	ownsRedis bool
	postgres  *pgxpool.Pool // nil when the metadata is kept elsewhere
	keys      auth.Keys     // nil when nobody can be verified
	forget    func()        // ends the fetching of keys
	gate      *httpx.Gate
	loop      *loop.Loop
	peers     *peers.Peers
	driver    *reshard.Driver // nil when provisioning is off
	ticking   atomic.Bool
	health    *health
	handler   http.Handler
	registry  *prometheus.Registry
	tracing   *tracing.Tracing
}

// New returns a coordinator that answers through Handler but does not tick yet; see Start
// and Run. A Redis that does not answer is no error: requests are refused until it does. With
// the metadata in PostgreSQL the schema is made or brought up to date before, and a server
// that does not answer is waited for, up to 30 s or the end of ctx.
// A gateway that does not give its keys yet is none either: who cannot be verified is
// refused until it does. It fails with ErrSettings when the settings are not valid. After an
// error there is nothing to close.
func New(ctx context.Context, cfg Config, deps Deps) (*App, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSettings, err)
	}
	a := &App{cfg: cfg, log: orDiscard(deps.Logger), id: settings.Instance(protocol.ServiceCoordinator), gate: httpx.NewGate(), forget: func() {}}
	a.registry = telemetry.NewRegistry("coordinator")
	if err := a.connect(deps); err != nil {
		return nil, err
	}
	if err := a.trace(); err != nil {
		return nil, errors.Join(err, a.disconnect(ctx))
	}
	kept, err := a.openStore(ctx)
	if err != nil {
		return nil, errors.Join(err, a.disconnect(ctx))
	}
	if err := a.learn(ctx, deps); err != nil {
		return nil, errors.Join(err, a.disconnect(ctx))
	}
	a.wire(kept)
	if err := a.announce(ctx); err != nil {
		return nil, errors.Join(err, a.Close(ctx))
	}
	a.warn(ctx)
	return a, nil
}

// warn says at the start what an operator should know.
func (a *App) warn(ctx context.Context) {
	a.warnAccess()
	if a.redis == nil {
		return
	}
	if warning, err := evictionWarning(ctx, a.redis); err != nil {
		a.log.Info("it is not known whether Redis may evict keys", "reason", err)
	} else if warning != "" {
		a.log.Warn("Redis may lose keys", "problem", warning)
	}
	a.health.lacks(ctx, a.health.permissions.Problem) // which logs what it finds
}

// ID names this coordinator: the host and a ULID of this start.
func (a *App) ID() string { return a.id }

// Handler serves the API. It may be used before Start; after Close it answers everything
// but health with 503 COORDINATOR_TERMINATING.
func (a *App) Handler() http.Handler { return a.handler }

// Metrics are the series of this coordinator, which Run serves at metrics-listen.
func (a *App) Metrics() prometheus.Gatherer { return a.registry }

// Start keeps this coordinator known to the others, and begins to look for leases that have run
// out and to carry out reshardings, unless the settings switch that off.
func (a *App) Start() {
	a.peers.Start()
	if a.cfg.Coordination.EventLoop.Enabled && a.ticking.CompareAndSwap(false, true) {
		a.loop.Start()
		if a.driver != nil {
			a.driver.Start()
		}
	}
}

// Close refuses new requests, waits for those under way and stops the ticks, until ctx
// ends; its error tells what was still under way. It may be called again.
func (a *App) Close(ctx context.Context) error {
	return errors.Join(a.finish(ctx), a.disconnect(ctx))
}

// finish ends the work: first the requests, which give their leases back, then the
// reshardings, then the ticks.
func (a *App) finish(ctx context.Context) error {
	errs := []error{a.gate.Close(ctx)}
	if a.driver != nil {
		errs = append(errs, a.driver.Close(ctx))
	}
	errs = append(errs, a.loop.Close(ctx))
	a.peers.Close(ctx)
	a.ticking.Store(false)
	return errors.Join(errs...)
}

// disconnect ends what connects to others, after the work. The traces are flushed until ctx
// ends.
func (a *App) disconnect(ctx context.Context) error {
	a.forget()
	a.tracing.Close(ctx)
	if a.postgres != nil {
		a.postgres.Close() // no call takes longer than storeTimeout
	}
	if !a.ownsRedis {
		return nil
	}
	if err := a.redis.Close(); err != nil && !errors.Is(err, redis.ErrClosed) {
		return fmt.Errorf("close Redis client: %w", err)
	}
	return nil
}
