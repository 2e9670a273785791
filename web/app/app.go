package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
	"github.com/redis-stream-coordinator/rsc/libs/telemetry"
	"github.com/redis-stream-coordinator/rsc/web/internal/backend"
	"github.com/redis-stream-coordinator/rsc/web/internal/pages"
)

// ErrSettings comes from New when the settings are not valid.
var ErrSettings = errors.New("console settings")

// Deps are what the surrounding program may bring along.
type Deps struct {
	// Logger takes all that the console has to say; nil discards it.
	Logger *slog.Logger
	// Keys verify the tokens of callers in place of those at api.jwks-url: a program that runs
	// the gateway too gives the gateway's own. Nil takes the settings'.
	Keys auth.Keys
}

// App is one console.
type App struct {
	cfg      Config
	log      *slog.Logger
	keys     auth.Keys
	forget   func() // ends the fetching of keys
	gate     *httpx.Gate
	backend  *backend.Backend
	registry *prometheus.Registry
	pages    *pages.Pages
}

// New returns a console that answers through Handler; see Run. A gateway that does not answer is
// no error. It fails with ErrSettings when the settings are not valid. After an error there is
// nothing to close.
func New(ctx context.Context, cfg Config, deps Deps) (*App, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSettings, err)
	}
	a := &App{cfg: cfg, log: httpx.Logger(deps.Logger), gate: httpx.NewGate(), forget: func() {}, registry: telemetry.NewRegistry("web")}
	if err := a.learn(ctx, deps); err != nil {
		return nil, err
	}
	var err error
	if a.backend, err = backend.New(cfg.Web.Gateway, cfg.API.BasePath, a.log); err != nil {
		a.forget()
		return nil, fmt.Errorf("web.gateway: %w", err)
	}
	a.pages = pages.New(pages.Config{
		MaxViewers: cfg.Web.MaxViewers, Build: settings.Build(), BasePath: cfg.API.BasePath,
		Process: settings.Process(protocol.ServiceConsole, settings.Instance(protocol.ServiceConsole), clock.Now(), cfg),
	}, pages.Deps{
		API: a.backend, Keys: a.keys, Now: clock.Now, Gate: a.gate, Log: a.log,
	})
	return a, nil
}

// learn sets the keys that callers are verified by.
func (a *App) learn(ctx context.Context, deps Deps) error {
	if a.keys = deps.Keys; a.keys != nil {
		return nil
	}
	at := a.cfg.API.JWKSURL
	if at == "" {
		at = strings.TrimRight(a.cfg.Web.Gateway, "/") + "/.well-known/jwks.json"
	}
	fetching, stop := context.WithCancel(context.WithoutCancel(ctx))
	remote, err := auth.NewRemote(fetching, at, a.log)
	if err != nil {
		stop()
		return fmt.Errorf("api.jwks-url: %w", err)
	}
	a.keys, a.forget = remote, stop
	return nil
}

// Handler serves the pages. After Close it answers with 503.
func (a *App) Handler() http.Handler { return a.pages }

// Metrics gathers the console's series.
func (a *App) Metrics() prometheus.Gatherer { return a.registry }

// Close refuses new requests, ends what is kept up to date and waits for requests under way until
// ctx ends; its error tells what was still under way. It may be called again.
func (a *App) Close(ctx context.Context) error {
	a.pages.Close()
	err := a.gate.Close(ctx)
	a.forget()
	return errors.Join(err, a.backend.Close())
}
