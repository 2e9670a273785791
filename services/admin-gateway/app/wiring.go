package app

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/address"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/audit"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/idempotency"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/limits"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/login"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/pipeline"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/proxy"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/ratelimit"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/users"
)

const (
	// auditTimeout bounds one try to write a record of the audit.
	auditTimeout = 2 * time.Second
	// localKeys bounds what is counted and kept in memory by key.
	localKeys = 100_000
	// maxStreams is how many answers without an end may be open at once.
	maxStreams = 256
)

// wire builds the pipeline.
func (a *App) wire(ctx context.Context, deps Deps) error {
	answers := httpx.NewAnswers(a.log)
	var err error
	if a.clients, err = address.New(a.cfg.Gateway.TrustedProxies); err != nil {
		return fmt.Errorf("gateway.trusted-proxies: %w", err)
	}
	logins, err := a.logins(ctx)
	if err != nil {
		return err
	}
	if a.proxy, err = a.upstreams(answers); err != nil {
		return err
	}
	if a.auditor, err = a.audits(ctx, deps); err != nil {
		return err
	}
	most := a.cfg.Gateway.MaxInFlight
	own, err := a.own(logins, answers)
	if err != nil {
		return err
	}
	inFlight := limits.NewInFlight(limits.Budgets{Members: most, Others: most, Streams: maxStreams}, answers)
	a.watch(inFlight)
	a.handler = pipeline.New(pipeline.Parts{
		Routes: route.New(route.Config{
			BasePath: a.cfg.API.BasePath, KeyPrefix: a.cfg.Store.KeyPrefix, Monitor: a.cfg.Gateway.Monitor != "",
		}),
		Clients:      a.clients,
		Measure:      a.metrics.Stage,
		Trace:        a.traced(),
		Audit:        a.auditor.Surround,
		Intend:       a.auditor.Intend,
		Body:         limits.NewBody(answers).Stage,
		Legacy:       a.proxy.Legacy,
		InFlight:     inFlight.Stage,
		Authenticate: logins.Stage,
		Authorise:    logins.Authorise,
		RateLimit:    a.limiter().Stage,
		Idempotency:  idempotency.New(a.kept(), clock.Now, a.log).Stage,
		Gate:         a.gate,
		Serve:        dispatch(own, a.proxy),
		Log:          a.log,
		Now:          clock.Now,
	})
	return nil
}

// logins returns the service that says who asks, and sets keys, users and revocations.
func (a *App) logins(ctx context.Context) (*login.Service, error) {
	table, err := a.cfg.API.table()
	if err != nil {
		return nil, err
	}
	a.users = users.NewDirectory(table)
	secret := a.cfg.API.secret()
	if a.ring, err = a.cfg.API.keyring(secret); err != nil {
		return nil, err
	}
	var previous []string
	if a.cfg.API.PreviousTokenSecret != "" {
		previous = append(previous, a.cfg.API.PreviousTokenSecret.Reveal())
	}
	session, err := login.NewSession(secret, previous...)
	if err != nil {
		return nil, fmt.Errorf("api.token-secret: %w", err)
	}
	revoked := a.revocations(ctx)
	return login.New(login.Config{
		TokenTTL: a.cfg.API.TokenTTL, Secure: a.cfg.API.SecureCookies, AuthenticateMembers: a.cfg.API.AuthenticateMemberAPI,
	}, login.Deps{Ring: a.ring, Users: a.users, Revoked: revoked, Session: session, Now: clock.Now, Log: a.log, Refused: a.metrics.LoginRefused}), nil
}

// revocations are this process's or shared, as the counters are.
func (a *App) revocations(ctx context.Context) login.Revocations {
	if a.cfg.API.RateLimit.Store == StoreLocal {
		return login.NewLocalRevocations(clock.Now)
	}
	a.shared = login.NewRedisRevocations(ctx, a.redis, a.cfg.Store.KeyPrefix, clock.Now, a.log)
	return a.shared
}

func (a *App) upstreams(answers httpx.Answers) (*proxy.Proxy, error) {
	upstreams := make(map[route.Service][]string)
	upstreams[route.Coordinator] = a.cfg.Gateway.Coordinators
	if a.cfg.Gateway.Monitor != "" {
		upstreams[route.Monitor] = []string{a.cfg.Gateway.Monitor}
	}
	if a.cfg.Gateway.Web != "" {
		upstreams[route.Web] = []string{a.cfg.Gateway.Web}
	}
	made, err := proxy.New(proxy.Config{Upstreams: upstreams, MaxInFlight: a.cfg.Gateway.MaxInFlight, LegacyRetry: a.cfg.API.LegacyRetry},
		proxy.Deps{Ring: a.ring, Now: clock.Now, Log: a.log, Answers: answers, Tracing: a.tracing, Failed: a.metrics.UpstreamFailed})
	if err != nil {
		return nil, fmt.Errorf("gateway.coordinators, gateway.monitor or gateway.web: %w", err)
	}
	return made, nil
}

func (a *App) audits(ctx context.Context, deps Deps) (*audit.Auditor, error) {
	config := audit.Config{
		GatewayID: a.id, OnFailure: audit.OnFailure(a.cfg.Audit.OnFailure), Buffer: a.cfg.Audit.Buffer, Timeout: auditTimeout,
	}
	switch a.cfg.Audit.Sink {
	case SinkLog:
		return audit.New(config, audit.NewLog(deps.AuditOut, a.id), nil, clock.Now, a.log), nil
	case SinkPostgres:
		sink, err := audit.OpenPostgres(ctx, a.cfg.Audit.Postgres, a.log)
		if err != nil {
			return nil, fmt.Errorf("audit.sink %s: %w", SinkPostgres, err)
		}
		a.recorded = sink
		return audit.New(config, sink, sink, clock.Now, a.log), nil
	default:
		sink := audit.NewRedis(a.redis, audit.RedisConfig{
			KeyPrefix: a.cfg.Store.KeyPrefix, GatewayID: a.id, Cap: int64(a.cfg.Audit.MaxRecords),
		}, a.log)
		return audit.New(config, sink, sink, clock.Now, a.log), nil
	}
}

func (a *App) limiter() *ratelimit.Limiter {
	limit := a.cfg.API.RateLimit
	var counter ratelimit.Counter = ratelimit.NewLocal(limit.Window, localKeys)
	if limit.Store == StoreRedis {
		counter = ratelimit.NewRedis(a.redis, a.cfg.Store.KeyPrefix, limit.Window)
	}
	return ratelimit.New(ratelimit.Config{Enabled: limit.Enabled, Limit: limit.MaxRequests, Window: limit.Window}, counter, clock.Now, a.log)
}

func (a *App) kept() idempotency.Store {
	if a.cfg.API.RateLimit.Store == StoreRedis {
		return idempotency.NewRedis(a.redis, a.cfg.Store.KeyPrefix)
	}
	return idempotency.NewLocal(localKeys)
}

// dispatch answers what is let through: the gateway's own routes by operation, all else by
// the proxy.
func dispatch(own map[string]http.Handler, proxied http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if handler, is := own[asked(r).Operation]; is && asked(r).Service == route.Gateway {
			handler.ServeHTTP(w, r)
			return
		}
		proxied.ServeHTTP(w, r)
	})
}
