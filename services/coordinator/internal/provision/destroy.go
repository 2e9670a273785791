package provision

import (
	"context"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Keep says what becomes of a shard key that no group uses any more.
type Keep bool

// The choices of Destroy.
const (
	// KeepKeys leaves the shard keys and their entries.
	KeepKeys Keep = true
	// DeleteKeys deletes every shard key on which no consumer group is left, with its
	// marker, and the string that a seal left in a key's place. Retired data stays.
	DeleteKeys Keep = false
)

// Removal is what a group's end came to.
type Removal struct {
	// Keys of Total shard keys do not carry the group any more.
	Keys, Total int
	// Destroyed is how many keys had the group.
	Destroyed int
	// Deleted is how many shard keys are gone because no group was left on them.
	Deleted int
	// Foreign are shard keys that hold something else than a stream; they are left alone.
	Foreign []string
}

// end ends a group on the shards. Errors and repetition are those of Make; a missing key
// or group is already as wanted.
func (s *Shards) end(ctx context.Context, prefix string, indexes []int, group string, keep Keep) (Removal, error) {
	var removal Removal
	if err := protocol.CheckConsumerGroup(group); err != nil {
		return removal, err
	}
	shards, err := s.keys.shardsOf(prefix, indexes)
	if err != nil {
		return removal, err
	}
	mayDelete := 1
	if keep == KeepKeys {
		mayDelete = 0
	}
	removal.Total = len(shards)
	err = s.walk(ctx, shards, action{
		script: s.scripts.destroy,
		args:   func(shard) []any { return []any{"", mayDelete, group} },
		settle: removal.settle,
	})
	return removal, err
}

func (r *Removal) settle(on shard, word string, rest []any) error {
	if word == wordForeign {
		r.Foreign = append(r.Foreign, on.key)
		r.Keys++
		return nil
	}
	if word != wordOK || len(rest) != 2 {
		return unexpected(word, rest)
	}
	destroyed, deleted := number(rest[0]), number(rest[1])
	if destroyed == nil || deleted == nil {
		return unexpected(word, rest)
	}
	r.Keys++
	r.Destroyed += int(*destroyed)
	r.Deleted += int(*deleted)
	return nil
}
