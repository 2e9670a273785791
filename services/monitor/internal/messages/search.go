package messages

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// search finds the records that have exactly one id, at most one in each shard.
func (r *Reader) search(ctx context.Context, q Query) (page, error) {
	id, err := redisx.ParseEntryID(q.RecordID)
	if err != nil {
		return page{}, protocol.Errorf(protocol.CodeInvalidRequest, "recordId %q is not an id like 1700000000000-0", protocol.Echo(q.RecordID))
	}
	pipe := r.redis.Pipeline()
	asked := make([]*redis.Cmd, len(q.Shards))
	for i, shard := range q.Shards {
		asked[i] = pipe.Do(ctx, "XRANGE", shard.Key, id.String(), id.String(), "COUNT", 1)
	}
	_, _ = pipe.Exec(ctx) // each command carries its own error.
	var found page
	for i, shard := range q.Shards {
		entries, err := entriesOf(asked[i], shard)
		if err != nil {
			return page{}, err
		}
		for _, entry := range entries {
			if len(found.records) < q.Limit {
				found.add(recordOf(shard, id, entry))
			}
		}
	}
	return found, nil
}
