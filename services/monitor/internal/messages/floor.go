package messages

import (
	"context"
	"fmt"
	"math"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// floors returns for each shard, by index, the highest id that its server has ceased to give:
// the one before its clock. They are asked for before the page is read, and only where a
// cursor may need them: FORWARD over more shards than it can name in any case.
func (r *Reader) floors(ctx context.Context, q Query, forward bool) (map[int]redisx.EntryID, error) {
	if !forward || !q.AllShards || len(q.Shards) <= alwaysFit {
		return nil, nil
	}
	floors, servers := make(map[int]redisx.EntryID, len(q.Shards)), map[*redis.Client]redisx.EntryID{}
	for _, shard := range q.Shards {
		server, err := redisx.Primary(ctx, r.redis, shard.Key)
		if err != nil {
			return nil, protocol.Errorf(protocol.CodeStoreUnavailable, "shard %d of the stream cannot be read now", shard.Index).
				Because(fmt.Errorf("ask for the clock of shard %q: %w", shard.Key, err))
		}
		floor, known := servers[server]
		if !known {
			now, err := server.Time(ctx).Result()
			if err != nil {
				return nil, protocol.Errorf(protocol.CodeStoreUnavailable, "shard %d of the stream cannot be read now", shard.Index).
					Because(fmt.Errorf("ask for the clock of shard %q: %w", shard.Key, err))
			}
			floor = redisx.EntryID{Ms: uint64(max(1, now.UnixMilli())) - 1, Seq: math.MaxUint64}
			servers[server] = floor
		}
		floors[shard.Index] = floor
	}
	return floors, nil
}
