package redisx

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// ErrNoPrimary comes from Primary for a client that does not tell which server has a key.
var ErrNoPrimary = errors.New("this kind of client does not tell which server has a key")

// Primary returns a client of the server that has the key, which belongs to the client
// given. It is for what has to be sent over one connection, such as a write and its WAIT.
// ErrNoPrimary for other clients than those of New.
func Primary(ctx context.Context, client redis.UniversalClient, key string) (*redis.Client, error) {
	switch client := client.(type) {
	case *redis.Client:
		return client, nil
	case *redis.ClusterClient:
		node, err := client.MasterForKey(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("find the primary: %w", err)
		}
		return node, nil
	default:
		return nil, fmt.Errorf("%w: %T", ErrNoPrimary, client)
	}
}
