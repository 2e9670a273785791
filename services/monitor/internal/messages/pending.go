package messages

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// PendingQuery says which pending entries of a shard are wanted.
type PendingQuery struct {
	Stream, Group string
	Shard         facts.Shard
	// Consumer is the one whose entries are wanted; empty is every one.
	Consumer string
	// Cursor is NextCursor of the page before, or a record id, after which the page begins; empty
	// begins with the lowest id.
	Cursor string
	// Limit is moved into 1 … protocol.MaxMessages.
	Limit int
}

// Pending reads a page of the entries that a group was given and has not acknowledged, with one
// command. Refusals are *protocol.Error: INVALID_REQUEST for a cursor that is none, NOT_FOUND
// where the shard has no such group or is no stream, STORE_UNAVAILABLE when Redis is away.
func (r *Reader) Pending(ctx context.Context, q PendingQuery) (protocol.PendingResponse, error) {
	q.Limit = min(max(q.Limit, 1), protocol.MaxMessages)
	answer := protocol.PendingResponse{
		StreamPrefix: q.Stream, ConsumerGroup: q.Group, Shard: protocol.ShardID{ShardIndex: q.Shard.Index}, StreamKey: q.Shard.Key,
		Limit: q.Limit, Entries: []protocol.PendingEntry{},
	}
	if q.Consumer != "" {
		answer.Consumer = &q.Consumer
	}
	from := "-"
	if q.Cursor != "" {
		last, err := redisx.ParseEntryID(q.Cursor)
		switch {
		case err != nil:
			return answer, protocol.Errorf(protocol.CodeInvalidRequest, "cursor %q is not an id like 1700000000000-0", protocol.Echo(q.Cursor))
		case last == highestID():
			return answer, nil
		}
		from = last.Next().String()
	}
	// One more than fits tells whether there are more.
	found, err := r.redis.XPendingExt(ctx, &redis.XPendingExtArgs{
		Stream: q.Shard.Key, Group: q.Group, Start: from, End: "+", Count: int64(q.Limit) + 1, Consumer: q.Consumer,
	}).Result()
	if err != nil {
		return answer, refusePending(err, q)
	}
	if len(found) > q.Limit {
		found = found[:q.Limit]
		answer.NextCursor = &found[q.Limit-1].ID
	}
	for _, entry := range found {
		shown, err := pendingEntry(entry)
		if err != nil {
			return answer, fmt.Errorf("read what is pending on %q: %w", q.Shard.Key, err)
		}
		answer.Entries = append(answer.Entries, shown)
	}
	return answer, nil
}

func pendingEntry(from redis.XPendingExt) (protocol.PendingEntry, error) {
	id, err := redisx.ParseEntryID(from.ID)
	if err != nil {
		return protocol.PendingEntry{}, err
	}
	_, at := record{id: id}.time()
	return protocol.PendingEntry{
		RecordID: from.ID, Consumer: nameOf(from.Consumer), IdleMs: max(0, from.Idle.Milliseconds()), DeliveryCount: from.RetryCount, RecordTime: at,
	}, nil
}

// refusePending says why nothing can be told of what is pending.
func refusePending(err error, q PendingQuery) error {
	cause := fmt.Errorf("read what is pending on %q: %w", q.Shard.Key, err)
	state := redisx.StateOf(err)
	if state == redisx.StateNoGroup {
		return protocol.Errorf(protocol.CodeNotFound,
			"shard %d has no consumer group %q in Redis, so nothing is pending: it was not made yet, or somebody has deleted it or the stream",
			q.Shard.Index, protocol.Echo(q.Group)).Because(cause)
	}
	if state == redisx.StateWrongType {
		return protocol.Errorf(protocol.CodeNotFound,
			"the key of shard %d is no stream, so nothing is pending: the shard is sealed, or somebody has written something else there",
			q.Shard.Index).Because(cause)
	}
	return protocol.Errorf(protocol.CodeStoreUnavailable, "shard %d of the stream cannot be read now", q.Shard.Index).Because(cause)
}
