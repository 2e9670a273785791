package client

import (
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/trace"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
)

// Client is the entry to consumers, producers and administration. It is safe for use by
// several goroutines and is meant to live as long as the application.
type Client struct {
	api     *api.Client
	gateway *api.Client // for logins, nil when there are none
	redis   redis.UniversalClient
	log     *slog.Logger
	tracer  trace.Tracer // nil makes no spans
}

// New returns a Client; it does not connect. It fails when opts.CoordinatorURL is not an
// absolute http or https URL without credentials, and when opts.Login is not complete.
func New(opts Options) (*Client, error) {
	if err := opts.check(); err != nil {
		return nil, fmt.Errorf("new client: %w", err)
	}
	log := opts.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &Client{redis: opts.Redis, log: log, tracer: newTracer(opts.TracerProvider)}
	credential := opts.token()
	if opts.Login != nil {
		gateway, err := api.New(opts.gateway())
		if err != nil {
			return nil, fmt.Errorf("new client: login: %w", err)
		}
		c.gateway, credential = gateway, newTokens(*opts.Login, gateway, log)
	}
	transport, err := api.New(api.Options{
		BaseURL:  opts.CoordinatorURL,
		BasePath: opts.BasePath,
		HTTP:     opts.HTTPClient,
		Token:    credential,
	})
	if err != nil {
		return nil, fmt.Errorf("new client: %w", err)
	}
	c.api = transport
	return c, nil
}

// Close gives back the connections to the coordinator that the Client made itself. It
// ends neither producers, which are closed on their own, nor the Redis client or an
// HTTPClient of the application.
func (c *Client) Close() error {
	c.api.Close()
	if c.gateway != nil {
		c.gateway.Close()
	}
	return nil
}
