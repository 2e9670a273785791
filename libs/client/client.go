package client

import (
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
)

// Client is the entry to consumers, producers and administration. It is safe for use by
// several goroutines and is meant to live as long as the application.
type Client struct {
	api   *api.Client
	redis redis.UniversalClient
	log   *slog.Logger
}

// New returns a Client; it does not connect. It fails when opts.CoordinatorURL is not an
// absolute http or https URL without credentials.
func New(opts Options) (*Client, error) {
	transport, err := api.New(api.Options{
		BaseURL:  opts.CoordinatorURL,
		BasePath: opts.BasePath,
		HTTP:     opts.HTTPClient,
		Token:    opts.token(),
	})
	if err != nil {
		return nil, fmt.Errorf("new client: %w", err)
	}
	log := opts.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Client{api: transport, redis: opts.Redis, log: log}, nil
}

// Close gives back the connections to the coordinator that the Client made itself. It
// ends neither producers, which are closed on their own, nor the Redis client or an
// HTTPClient of the application.
func (c *Client) Close() error {
	c.api.Close()
	return nil
}
