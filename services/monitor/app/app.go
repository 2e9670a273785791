package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry/tracing"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/observe"
)

// ErrSettings comes from New when the settings are not valid.
var ErrSettings = errors.New("monitor settings")

// Deps are what the surrounding program may bring along.
type Deps struct {
	// Logger takes all that the monitor has to say; nil discards it.
	Logger *slog.Logger
	// Redis replaces the client that the settings describe. It must not route commands to
	// replicas (libs/redisx builds such clients), and stays the caller's to close, after
	// Close. Nil makes one. Where traces are recorded the monitor adds a hook to it, which
	// looks at what the monitor asks only.
	Redis redis.UniversalClient
	// Keys verify the tokens of callers in place of those at api.jwks-url: a program that runs
	// the gateway too gives the gateway's own. Nil takes the settings'.
	Keys auth.Keys
}

// App is one monitor.
type App struct {
	cfg Config
	log *slog.Logger

	redis        redis.UniversalClient
	ownsRedis    bool
	coordinators *coordinators
	keys         auth.Keys // nil when nobody can be verified
	forget       func()    // ends the fetching of keys
	gate         *httpx.Gate
	board        *board
	observer     *observe.Observer
	meter        meter
	tracing      *tracing.Tracing
	handler      http.Handler

	stop     context.CancelFunc // ends the rounds; nil before Start
	observed chan struct{}      // closed when they have ended
}

// New returns a monitor that answers through Handler but does not look yet; see Start and Run.
// A Redis, coordinator or gateway that does not answer is no error. It fails with ErrSettings
// when the settings are not valid. After an error there is nothing to close.
func New(ctx context.Context, cfg Config, deps Deps) (*App, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSettings, err)
	}
	a := &App{cfg: cfg, log: httpx.Logger(deps.Logger), gate: httpx.NewGate(), forget: func() {}, observed: make(chan struct{})}
	if err := a.connect(deps); err != nil {
		return nil, err
	}
	if err := a.trace(); err != nil {
		return nil, errors.Join(err, a.disconnect(ctx))
	}
	if err := errors.Join(a.learn(ctx, deps), a.wire()); err != nil {
		return nil, errors.Join(err, a.disconnect(ctx))
	}
	a.measure()
	a.permit()
	a.warnAccess()
	return a, nil
}

// connect sets a.redis.
func (a *App) connect(deps Deps) error {
	if deps.Redis != nil {
		a.redis = deps.Redis
		return nil
	}
	client, err := a.cfg.Redis.Dial("rsc-monitor")
	if err != nil {
		return err
	}
	a.redis, a.ownsRedis = client, true
	return nil
}

// Handler serves the API. It may be used before Start; after Close it answers everything but
// what tells how it is doing with 503 COORDINATOR_TERMINATING.
func (a *App) Handler() http.Handler { return a.handler }

// Start begins to look, once; Close ends it, not the end of ctx.
func (a *App) Start(ctx context.Context) {
	if a.stop != nil {
		return
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	a.stop = stop
	go func() {
		defer close(a.observed)
		a.observer.Run(ctx)
	}()
}

// Close refuses new requests, ends the streams, waits for requests under way and for the
// round, until ctx ends; its error tells what was still under way. It may be called again.
func (a *App) Close(ctx context.Context) error {
	err := a.finish(ctx)
	a.giveBack(ctx)
	return errors.Join(err, a.disconnect(ctx))
}

func (a *App) finish(ctx context.Context) error {
	a.board.feed.Close()
	err := a.gate.Close(ctx)
	if a.stop == nil {
		return err
	}
	a.stop()
	select {
	case <-a.observed:
	case <-ctx.Done():
		err = errors.Join(err, fmt.Errorf("wait for the round to end: %w", ctx.Err()))
	}
	return err
}

// disconnect ends what connects to others, after the work. The traces are flushed until ctx
// ends.
func (a *App) disconnect(ctx context.Context) error {
	a.forget()
	a.tracing.Close(ctx)
	var errs []error
	if a.coordinators != nil {
		errs = append(errs, a.coordinators.close())
	}
	if a.ownsRedis {
		if err := a.redis.Close(); err != nil && !errors.Is(err, redis.ErrClosed) {
			errs = append(errs, fmt.Errorf("close Redis client: %w", err))
		}
	}
	return errors.Join(errs...)
}
