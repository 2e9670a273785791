package messages

import (
	"context"
	"math"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// floors returns for each shard, by index, the highest id that its server has ceased to give:
// the one before its clock. They are asked for before the page is read, and only where a
// cursor may need them: FORWARD over more shards than it can name in any case. A server that
// does not tell its time has none; if it is away, the reading says so.
func (r *Reader) floors(ctx context.Context, q Query, forward bool) map[int]redisx.EntryID {
	if !forward || !q.AllShards || len(q.Shards) <= alwaysFit {
		return nil
	}
	floors, servers := make(map[int]redisx.EntryID, len(q.Shards)), map[*redis.Client]redisx.EntryID{}
	for _, shard := range q.Shards {
		server, err := redisx.Primary(ctx, r.redis, shard.Key)
		if err != nil {
			continue
		}
		floor, asked := servers[server]
		if !asked {
			if now, err := server.Time(ctx).Result(); err == nil {
				floor = redisx.EntryID{Ms: uint64(max(1, now.UnixMilli())) - 1, Seq: math.MaxUint64}
			}
			servers[server] = floor
		}
		if floor.Seq > 0 {
			floors[shard.Index] = floor
		}
	}
	return floors
}
