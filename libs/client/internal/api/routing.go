package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// RoutingAnswer is the answer to a routing request.
type RoutingAnswer struct {
	// Routing is nil when NotModified is set.
	Routing *protocol.ProducerRouting
	// ETag goes with the next request; empty if the server gave none.
	ETag string
	// NotModified tells that the routing of the given etag is current now.
	NotModified bool
}

// Routing asks where producers write. With an etag the answer may be NotModified.
func (c *Client) Routing(ctx context.Context, stream, group, etag string) (*RoutingAnswer, error) {
	path, err := groupPath(c.base, stream, group, "/producer-routing")
	if err != nil {
		return nil, fmt.Errorf("routing: %w", err)
	}
	var routing protocol.ProducerRouting
	got, err := c.do(ctx, call{method: http.MethodGet, url: path, etag: etag}, &routing)
	if err != nil {
		return nil, fmt.Errorf("routing of %s/%s: %w", stream, group, err)
	}
	if got.status == http.StatusNotModified {
		return &RoutingAnswer{ETag: etag, NotModified: true}, nil
	}
	if err := checkRouting(&routing, stream, group); err != nil {
		return nil, fmt.Errorf("routing of %s/%s: %w: %w", stream, group, ErrUnavailable, err)
	}
	return &RoutingAnswer{Routing: &routing, ETag: got.etag}, nil
}

// checkRouting refuses an answer that would send records to the wrong place.
func checkRouting(routing *protocol.ProducerRouting, stream, group string) error {
	if routing.StreamPrefix != stream || routing.ConsumerGroup != group {
		return fmt.Errorf("the answer is for %s/%s",
			protocol.Echo(routing.StreamPrefix), protocol.Echo(routing.ConsumerGroup))
	}
	if routing.RoutingProtocol > protocol.RoutingProtocol {
		return fmt.Errorf("routing protocol %d is not spoken here", routing.RoutingProtocol)
	}
	if routing.ShardCount < 0 || routing.ShardCount != len(routing.Shards) {
		return fmt.Errorf("shardCount %d with %d shards", routing.ShardCount, len(routing.Shards))
	}
	seen := make([]bool, routing.ShardCount)
	for _, shard := range routing.Shards {
		index := shard.ShardIndex
		if index < 0 || index >= len(seen) || seen[index] || shard.StreamKey == "" {
			return fmt.Errorf("shard list is not 0 … %d with a key each", routing.ShardCount-1)
		}
		seen[index] = true
	}
	return nil
}
