package trial

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/routing"
)

// The deletion of the stream is tried again after a pause until its budget is used up.
const (
	removePause  = 200 * time.Millisecond
	removeBudget = 10 * time.Second
)

// errLeftOver comes when Redis still has records that nobody handled, or whose handling
// nobody acknowledged.
var errLeftOver = errors.New("records are left over")

// Create creates the stream with one group and so many shards.
func Create(ctx context.Context, c *client.Client, stream, group string, shards int) error {
	_, err := c.Admin().CreateStream(ctx, stream, protocol.CreateStreamRequest{
		InitialShardCount: &shards, RequestedBy: "replay", ConsumerGroups: []string{group},
	})
	if err != nil {
		return fmt.Errorf("create stream %s: %w", stream, err)
	}
	return nil
}

// remove deletes the stream with its records. A consumer that was killed a moment ago
// still counts as a member, so it is forced.
func (t *Trial) remove(ctx context.Context) error {
	if t.Keep {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, removeBudget)
	defer cancel()
	for {
		_, err := t.Client.Admin().DeleteStream(ctx, t.Stream, protocol.DeleteRequest{
			RequestedBy: "replay", Reason: "the replay is over", Force: true, DeleteStreams: true,
		})
		if err == nil {
			return nil
		}
		if clock.Sleep(ctx, removePause) != nil {
			return fmt.Errorf("delete stream %s: %w", t.Stream, err)
		}
	}
}

// settled returns nil when Redis has nothing left to deliver and nothing unacknowledged,
// and errLeftOver or why Redis cannot be asked otherwise.
func (t *Trial) settled(ctx context.Context) error {
	for shard := range t.Shards {
		groups, err := redisx.Groups(ctx, t.Redis, routing.StreamKey(t.Stream, shard))
		if err != nil {
			return fmt.Errorf("look at shard %d: %w", shard, err)
		}
		for _, group := range groups {
			if group.Name == t.Group && (group.Pending > 0 || !group.Lag.IsZero()) {
				return fmt.Errorf("%w: shard %d has %d unacknowledged and %s undelivered",
					errLeftOver, shard, group.Pending, group.Lag)
			}
		}
	}
	return nil
}
