package provision

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// Shards works on the shards of streams on one Redis. It is safe for concurrent use.
type Shards struct {
	rdb     redis.UniversalClient
	keys    keyspace
	scripts scripts
	log     *slog.Logger
}

// NewShards returns Shards on a client that the caller closes. keyPrefix is the prefix of
// the coordinator's own keys, empty for protocol.DefaultKeyPrefix.
func NewShards(rdb redis.UniversalClient, keyPrefix string, log *slog.Logger) *Shards {
	if keyPrefix == "" {
		keyPrefix = protocol.DefaultKeyPrefix
	}
	return &Shards{rdb: rdb, keys: keyspace{prefix: keyPrefix}, scripts: compile(), log: log}
}

// Provision marks shards of a stream for a creation, makes them with the groups, and
// returns how many groups, counted per shard, were there before. mark grows with every
// creation and resharding of the stream; HigherMarkError comes when a shard carries a higher
// one, and nothing is made then (protocol L2).
func (s *Shards) Provision(ctx context.Context, prefix string, indexes []int, groups []stream.Group, mark int64) (int, error) {
	token := Creation(mark)
	if _, err := starts(prefix, groups); err != nil {
		return 0, err
	}
	higher, err := s.Mark(ctx, prefix, indexes, token)
	if err != nil {
		return 0, fmt.Errorf("provision stream %q: %w", prefix, err)
	}
	if higher > 0 {
		return 0, fmt.Errorf("provision stream %q: %w", prefix, &HigherMarkError{Mark: mark, Higher: higher})
	}
	existing, err := s.Make(ctx, prefix, indexes, token, groups, nil)
	if err != nil {
		return existing, fmt.Errorf("provision stream %q: %w", prefix, err)
	}
	s.log.InfoContext(ctx, "shards provisioned", "stream", prefix, "keys", len(indexes),
		"new", len(indexes)*len(groups)-existing, "existing", existing)
	return existing, nil
}

// Destroy ends a group on the shards 0 … shards-1 of a stream and deletes the keys that no
// other group uses, as DeleteKeys says.
func (s *Shards) Destroy(ctx context.Context, prefix string, shards int, group string) error {
	if shards < 0 {
		return fmt.Errorf("%w: %d shards of stream %q", ErrInvalid, shards, prefix)
	}
	removal, err := s.end(ctx, prefix, upTo(shards), group, DeleteKeys)
	if err != nil {
		return fmt.Errorf("destroy group %q of stream %q: %w", group, prefix, err)
	}
	s.log.InfoContext(ctx, "group destroyed on its shards", "stream", prefix, "group", group, "keys", removal.Keys,
		"destroyed", removal.Destroyed, "deleted", removal.Deleted, "foreign", removal.Foreign)
	return nil
}
