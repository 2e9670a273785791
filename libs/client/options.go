package client

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
)

// TokenSource returns the bearer token for the next request. It is called once for each
// request, from several goroutines, and should keep its token until it is about to end.
type TokenSource func(ctx context.Context) (string, error)

// Options binds a Client. CoordinatorURL is required, everything else may be zero.
type Options struct {
	// CoordinatorURL is where the coordinator or the gateway answers, for example
	// http://localhost:8080. A path in it is kept in front of BasePath.
	CoordinatorURL string
	// BasePath is the prefix of the API's paths; empty means /coord/v1.
	BasePath string
	// Redis is the application's client of the Redis that holds the streams. The
	// application closes it, after the Client. A Client that only administers may do
	// without; producers and consumers need it.
	Redis redis.UniversalClient
	// Token is sent as a bearer token with every request; empty sends none.
	Token string
	// TokenSource replaces Token when it is set.
	TokenSource TokenSource
	// Login gets tokens of the gateway by name and password, and goes with neither Token nor
	// TokenSource; nil does not log in.
	Login *Login
	// Logger receives changes of state, never records or tokens; nil discards them.
	Logger *slog.Logger
	// HTTPClient is used for the coordinator; nil makes one with limits on connecting,
	// on idle connections and on the whole request (30 s), which follows no redirects.
	HTTPClient *http.Client
	// TracerProvider makes the spans of publishing, receiving, handling and administering, and
	// has records carry their trace context, see Tracing in the package's documentation. nil
	// makes no spans and adds nothing to records.
	TracerProvider trace.TracerProvider
}

// check refuses options that contradict each other.
func (o Options) check() error {
	switch {
	case o.Login == nil:
		return nil
	case o.Token != "" || o.TokenSource != nil:
		return errors.New("Options.Login goes with neither Token nor TokenSource")
	case o.Login.Username == "":
		return errors.New("Options.Login has no Username")
	case o.Login.Password == "" && o.Login.PasswordFunc == nil:
		return errors.New("Options.Login has neither Password nor PasswordFunc")
	}
	return nil
}

// gateway returns where logins are sent to.
func (o Options) gateway() api.Options {
	at := api.Options{BaseURL: o.CoordinatorURL, BasePath: o.BasePath, HTTP: o.HTTPClient}
	if o.Login.GatewayURL != "" {
		at.BaseURL = o.Login.GatewayURL
	}
	return at
}

// token returns the credential of options without a login.
func (o Options) token() api.Credential {
	switch {
	case o.TokenSource != nil:
		return api.TokenFunc(o.TokenSource)
	case o.Token != "":
		return api.TokenFunc(func(context.Context) (string, error) { return o.Token, nil })
	default:
		return nil
	}
}
