// Package pages serves the console: it reads what is asked for, asks the gateway's API in the
// name of who asks, and renders what package model makes of the answer. Each page is a file,
// with the forms that it has; live.go keeps pages up to date.
//
// Every request comes from the gateway and carries its token, which says who looks (ADR 0013).
// Without one, somebody looks who has not logged in, and is sent to do so.
package pages

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/web/internal/static"
)

// Root is the path below which the console is.
const Root = "/console"

// Config is what the pages depend on.
type Config struct {
	// MaxViewers is how many pages are kept up to date at once.
	MaxViewers int
	Build      protocol.VersionResponse
	// BasePath is the prefix of the API's paths (protocol.BasePath where empty), below which the
	// gateway asks for Process: what runs here, with which settings.
	BasePath string
	Process  protocol.SystemProcess
}

// Deps are the parts that the pages stand on. All are required but Log.
type Deps struct {
	API  API
	Keys auth.Keys
	Now  func() time.Time
	Gate *httpx.Gate
	Log  *slog.Logger
}

// Pages is the console's handler. It is safe for concurrent use; Close ends what is kept up to
// date.
type Pages struct {
	cfg      Config
	deps     Deps
	answers  httpx.Answers
	verifier *auth.Verifier
	live     *live
	looks    *looks
	exports  chan struct{} // has room for as many as are made at once
	handler  http.Handler
}

// New returns the console.
func New(cfg Config, deps Deps) *Pages {
	deps.Log = httpx.Logger(deps.Log)
	p := &Pages{
		cfg: cfg, deps: deps, answers: httpx.NewAnswers(deps.Log),
		verifier: auth.NewVerifier(deps.Keys, deps.Now, auth.AudienceWeb), live: newLive(cfg.MaxViewers),
		looks: &looks{}, exports: make(chan struct{}, exportsMost),
	}
	root := chi.NewRouter()
	root.Use(httpx.Identify, httpx.AccessLog(deps.Log, levelOf), p.answers.Recover, harden)
	root.Get("/healthz", p.up)
	root.Get("/readyz", p.ready)
	root.Get("/version", func(w http.ResponseWriter, r *http.Request) { p.answers.JSON(w, r, http.StatusOK, cfg.Build) })
	root.Handle("GET "+Root+"/static/{file}", static.Handler("file"))
	root.Group(func(console chi.Router) {
		console.Use(deps.Gate.Handler(p.answers))
		p.routes(console)
		console.Get(cfg.processPath(), p.process)
	})
	// What is kept up to date lasts: it does not stand behind the gate, which waits for what is
	// inside.
	root.Get(Root+"/live", p.follow)
	root.NotFound(p.show(p.nothing))
	p.handler = root
	return p
}

// routes is the table of pages.
func (p *Pages) routes(to chi.Router) {
	to.Get(Root+"/login", p.open(p.login))
	to.Get(Root, p.show(p.overview))
	p.reshardings(to)
	p.records(to)
	to.Get(Root+"/streams/{stream}/groups/{group}", p.show(p.group))
	p.audits(to)
	to.Get(Root+"/system", p.show(p.system))
}

// ServeHTTP implements http.Handler.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }

// Close ends what is kept up to date, and lets nothing begin any more.
func (p *Pages) Close() { p.live.close() }

func (p *Pages) up(w http.ResponseWriter, r *http.Request) {
	p.answers.JSON(w, r, http.StatusOK, map[string]string{"status": protocol.HealthUp})
}

func (p *Pages) ready(w http.ResponseWriter, r *http.Request) {
	if p.deps.Gate.Closed() {
		p.answers.Error(w, r, protocol.Errorf(protocol.CodeTerminating, "this console is terminating"))
		return
	}
	p.up(w, r)
}

// harden sets what keeps pages from being made to do something else (reliability, Console).
func harden(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		header.Set("X-Frame-Options", "DENY")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// levelOf keeps what browsers ask for again and again out of the normal log.
func levelOf(_ *http.Request, status int) slog.Level {
	if status >= http.StatusInternalServerError {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}
