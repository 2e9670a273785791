package app

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/httpapi"
)

// validate reports every problem of the section but the base path's.
func (api API) validate() error {
	if api.JWKSURL == "" {
		return nil
	}
	parsed, err := url.Parse(api.JWKSURL)
	switch {
	case err != nil: // the parser's text repeats the URL, which may hold a password
		return errors.New("api.jwks-url is not a URL")
	case parsed.Scheme != "http" && parsed.Scheme != "https", parsed.Host == "":
		return errors.New("api.jwks-url is not an absolute http or https URL, for example" +
			" http://gateway:8080/.well-known/jwks.json")
	case parsed.User != nil:
		return errors.New("api.jwks-url holds a user or password; the keys are public, none is needed")
	}
	return nil
}

// learn sets the keys that callers are verified by: those of the surrounding program, or
// of the gateway that the settings name. Without either there are none.
func (a *App) learn(ctx context.Context, deps Deps) error {
	api := a.cfg.API
	switch {
	case deps.Keys != nil:
		a.keys = deps.Keys
		return nil
	case api.JWKSURL == "" && api.AuthenticateMemberAPI:
		return fmt.Errorf("%w: api.authenticate-member-api needs api.jwks-url, the keys that tokens are verified by", ErrSettings)
	case api.JWKSURL == "":
		return nil
	}
	fetching, stop := context.WithCancel(context.WithoutCancel(ctx))
	remote, err := auth.NewRemote(fetching, api.JWKSURL, a.log)
	if err != nil {
		stop()
		return fmt.Errorf("api.jwks-url: %w", err)
	}
	a.keys, a.forget = remote, stop
	return nil
}

// guard returns who lets callers in (gateway, Authentication).
func (a *App) guard() *httpapi.Guard {
	return httpapi.NewGuard(httpapi.GuardConfig{
		Keys: a.keys, Members: a.cfg.API.AuthenticateMemberAPI, Dev: a.cfg.API.Dev, Now: clock.Now,
	})
}

// warnAccess says whom changes are taken from, unless it is the gateway.
func (a *App) warnAccess() {
	switch {
	case a.keys != nil && a.cfg.API.Dev:
		a.log.Info("api.dev has no effect here: there are keys, so changes are taken through the gateway only")
	case a.keys != nil:
	case a.cfg.API.Dev:
		a.log.Warn("mutations are accepted from everybody who reaches this port, as api.dev is on and api.jwks-url is not set")
	default:
		a.log.Warn("mutations are refused, as nobody can be verified: set api.jwks-url to the gateway's" +
			" /.well-known/jwks.json, or use --dev to accept them from everybody")
	}
}
