package client

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/api"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// PendingQuery is which pending entries are asked for.
type PendingQuery struct {
	// Consumer is the one whose entries are wanted, a member's id; empty is every one.
	Consumer string
	// Cursor is where the page begins, as the page before said, or a record id, after which it
	// begins; empty begins with the lowest id.
	Cursor string
	// Limit is 1 … protocol.MaxMessages; 0 takes protocol.DefaultMessages.
	Limit int
}

// Pending returns a page of the entries of one shard that a group was given and has not
// acknowledged, those with the lowest ids first. The monitor asks Redis for them. NOT_FOUND
// where the shard has no such group in Redis, or is no stream, as when it is sealed.
func (a *Admin) Pending(
	ctx context.Context, stream, group string, shard int, query PendingQuery,
) (*protocol.PendingResponse, error) {
	return a.api.Pending(ctx, stream, group, shard, api.PendingQuery(query))
}
