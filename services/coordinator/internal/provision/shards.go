package provision

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/stream"
)

// Shards provisions whole streams on one Redis. It is safe for concurrent use.
type Shards struct {
	rdb redis.UniversalClient
	log *slog.Logger
}

// NewShards returns Shards on a client that the caller closes.
func NewShards(rdb redis.UniversalClient, log *slog.Logger) *Shards {
	return &Shards{rdb: rdb, log: log}
}

// Provision makes the shard keys 0 … shards-1 of a stream with the groups and returns
// how many groups, counted per shard key, were there before.
func (s *Shards) Provision(ctx context.Context, prefix string, shards int, groups []stream.Group) (int, error) {
	wanted := make([]Group, len(groups))
	for i, g := range groups {
		wanted[i] = Group{Name: g.Name, Start: Earliest}
		if g.FromLatest {
			wanted[i].Start = Latest
		}
	}
	plan, err := NewPlan(prefix, 0, shards, wanted...)
	if err != nil {
		return 0, err
	}
	report, err := Run(ctx, s.rdb, plan, nil)
	if err != nil {
		return report.Existing, fmt.Errorf("provision stream %q: %w", prefix, err)
	}
	s.log.InfoContext(ctx, "shards provisioned", "stream", prefix, "keys", report.Keys,
		"new", report.New, "existing", report.Existing)
	return report.Existing, nil
}

// Destroy ends a group on the shard keys 0 … shards-1 of a stream and deletes the keys
// that no other group uses.
func (s *Shards) Destroy(ctx context.Context, prefix string, shards int, group string) error {
	plan, err := NewPlan(prefix, 0, shards, Group{Name: group, Start: Earliest})
	if err != nil {
		return err
	}
	removal, err := Destroy(ctx, s.rdb, plan, DeleteKeys, nil)
	if err != nil {
		return fmt.Errorf("destroy group %q of stream %q: %w", group, prefix, err)
	}
	s.log.InfoContext(ctx, "group destroyed on its shards", "stream", prefix, "group", group, "keys", removal.Keys,
		"destroyed", removal.Destroyed, "deleted", removal.Deleted, "foreign", removal.Foreign)
	return nil
}
