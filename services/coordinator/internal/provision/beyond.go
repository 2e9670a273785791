package provision

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Beyond looks for shards that a stream's record has forgotten: streams at the indexes from
// on, without a gap, whose marker is above mark, the stream's creation. Marks follow the
// store's clock, so these were made in this stream's life, and the record has lost the phase
// that made them (protocol L1). It returns the index behind the last one, from when there is
// none. Each look is one round trip; normally there is one.
func (s *Shards) Beyond(ctx context.Context, prefix string, from int, mark int64) (int, error) {
	if err := protocol.CheckStreamPrefix(prefix, s.keys.prefix); err != nil {
		return from, err
	}
	for index := from; ; index++ {
		forgotten, err := s.forgotten(ctx, s.keys.shard(prefix, index), mark)
		if err != nil {
			return index, fmt.Errorf("look behind the shards of stream %q: %w", prefix, err)
		}
		if !forgotten {
			return index, nil
		}
	}
}

func (s *Shards) forgotten(ctx context.Context, on shard, mark int64) (bool, error) {
	pipe := s.rdb.Pipeline()
	kind, marker := pipe.Type(ctx, on.key), pipe.Get(ctx, on.marker)
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return false, err
	}
	number, _, _ := strings.Cut(marker.Val(), ":")
	found, err := strconv.ParseInt(number, 10, 64)
	return kind.Val() == "stream" && err == nil && found > mark, nil
}
