package app

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/settings"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/apidocs"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/exchange"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/login"
	"github.com/redis-stream-coordinator/rsc/services/admin-gateway/internal/route"
)

// probeTimeout bounds what readiness asks of Redis.
const probeTimeout = time.Second

func asked(r *http.Request) route.Route { return exchange.Of(r.Context()).Route }

// own returns the handlers of the gateway's own routes by operation.
func (a *App) own(logins *login.Service, answers httpx.Answers) (map[string]http.Handler, error) {
	docs, err := apidocs.New(a.cfg.API.BasePath)
	if err != nil {
		return nil, fmt.Errorf("API document: %w", err)
	}
	return map[string]http.Handler{
		"LOGIN":       http.HandlerFunc(logins.Login),
		"LOGOUT":      http.HandlerFunc(logins.Logout),
		"GET_SESSION": http.HandlerFunc(logins.Session),

		"CONSOLE_LOGIN":  http.HandlerFunc(logins.ConsoleLogin),
		"CONSOLE_LOGOUT": http.HandlerFunc(logins.ConsoleLogout),

		"LIST_AUDIT": http.HandlerFunc(a.auditor.Query),
		"GET_SYSTEM": a.system(answers),
		"OPENAPI":    docs.Spec(),
		"DOCS":       docs.UI(),
		"JWKS":       a.jwks(answers),
		"LIVE":       up(answers),
		"READY":      a.ready(answers),
		"VERSION": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answers.JSON(w, r, http.StatusOK, settings.Build())
		}),
	}, nil
}

// jwks serves the public keys. Services keep them for minutes, so a rotation needs the
// secret of before as api.previous-token-secret for that long.
func (a *App) jwks(answers httpx.Answers) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=60")
		answers.Bytes(w, r, http.StatusOK, a.ring.JWKS())
	})
}

// ready tells whether the gateway should get requests: not while it ends, and not without
// the Redis or the PostgreSQL that audit and limits need.
func (a *App) ready(answers httpx.Answers) http.Handler {
	well := up(answers)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.gate.Closed() {
			answers.Error(w, r, protocol.Errorf(protocol.CodeTerminating, "this gateway is terminating"))
			return
		}
		for _, look := range []func(context.Context) error{a.readyRedis, a.readyAudit} {
			if err := look(r.Context()); err != nil {
				answers.Error(w, r, err)
				return
			}
		}
		if a.shared != nil && !a.shared.Ready() {
			answers.Error(w, r, protocol.Errorf(protocol.CodeStoreUnavailable, "which tokens are over is not known yet"))
			return
		}
		well.ServeHTTP(w, r)
	})
}

// readyRedis returns what is wrong with Redis, for strangers to read.
func (a *App) readyRedis(ctx context.Context) error {
	if a.redis == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if err := a.redis.Ping(ctx).Err(); err != nil {
		return protocol.Errorf(protocol.CodeStoreUnavailable, "Redis does not answer (%s)", redisx.StateOf(err)).Because(err)
	}
	if a.permissions.Unready(ctx) != "" { // strangers may ask, so the log says what it is
		return protocol.Errorf(protocol.CodeStoreUnavailable, "Redis refuses commands that this gateway needs (NOPERM); its log names them")
	}
	return nil
}

// readyAudit returns what is wrong with the audit in PostgreSQL, for strangers to read.
func (a *App) readyAudit(ctx context.Context) error {
	if a.recorded == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if state, err := a.recorded.Ready(ctx); err != nil {
		return protocol.Errorf(protocol.CodeStoreUnavailable, "the audit cannot be written to PostgreSQL (%s); docs/audit-postgres.md tells what that means",
			state).Because(err)
	}
	return nil
}

// up answers as long as requests are answered at all.
func up(answers httpx.Answers) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers.JSON(w, r, http.StatusOK, map[string]string{"status": protocol.HealthUp})
	})
}
