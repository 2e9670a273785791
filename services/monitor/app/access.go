package app

import (
	"context"
	"fmt"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

// learn sets the keys that callers are verified by: those of the surrounding program, or of
// the gateway that the settings name. Without either there are none.
func (a *App) learn(ctx context.Context, deps Deps) error {
	switch {
	case deps.Keys != nil:
		a.keys = deps.Keys
		return nil
	case a.cfg.API.JWKSURL == "":
		return nil
	}
	fetching, stop := context.WithCancel(context.WithoutCancel(ctx))
	remote, err := auth.NewRemote(fetching, a.cfg.API.JWKSURL, a.log)
	if err != nil {
		stop()
		return fmt.Errorf("api.jwks-url: %w", err)
	}
	a.keys, a.forget = remote, stop
	return nil
}

// warnAccess says who is answered, unless it is the gateway.
func (a *App) warnAccess() {
	switch {
	case a.keys != nil && a.cfg.API.Dev:
		a.log.Info("api.dev has no effect here: there are keys, so only the gateway is answered")
	case a.keys != nil:
	case a.cfg.API.Dev:
		a.log.Warn("everybody who reaches this port may read every record, as api.dev is on and api.jwks-url is not set")
	default:
		a.log.Warn("everybody is refused, as nobody can be verified: set api.jwks-url to the gateway's" +
			" /.well-known/jwks.json, or use --dev to answer everybody")
	}
}
