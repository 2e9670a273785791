package client

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/redis/go-redis/v9"

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
	// Logger receives changes of state, never records or tokens; nil discards them.
	Logger *slog.Logger
	// HTTPClient is used for the coordinator; nil makes one with limits on connecting,
	// on idle connections and on the whole request (30 s), which follows no redirects.
	HTTPClient *http.Client
}

func (o Options) token() api.TokenFunc {
	switch {
	case o.TokenSource != nil:
		return api.TokenFunc(o.TokenSource)
	case o.Token != "":
		return func(context.Context) (string, error) { return o.Token, nil }
	default:
		return nil
	}
}
