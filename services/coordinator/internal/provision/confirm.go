package provision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// confirmWait is how long a replica may take to have a seal.
const confirmWait = time.Second

var (
	errNoReplica = errors.New("no replica has the seal yet")
	errNoSeal    = errors.New("the seal is gone from the server that has the shard now")
)

// confirm returns when a replica of each primary has the seals of the shards. A seal that
// has gone is an error: the same call to Seal makes it anew.
func (s *Shards) confirm(ctx context.Context, shards []shard, t Token) error {
	byNode := map[*redis.Client][]shard{}
	for _, on := range shards {
		node, err := redisx.Primary(ctx, s.rdb, on.key)
		if err != nil {
			return &StepError{Key: on.key, Total: len(shards), Err: err}
		}
		byNode[node] = append(byNode[node], on)
	}
	for node, there := range byNode {
		for batch := range slices.Chunk(there, keysPerTrip) {
			if err := s.confirmOn(ctx, node, batch, t); err != nil {
				return &StepError{Key: batch[0].key, Total: len(shards), Err: err}
			}
		}
	}
	return nil
}

// confirmOn has one more write follow behind each seal, on one connection, and waits for
// these: WAIT counts what its own connection wrote, and replicas take writes in order.
func (s *Shards) confirmOn(ctx context.Context, node *redis.Client, shards []shard, t Token) error {
	pipe := node.Pipeline()
	found := make([]*redis.Cmd, len(shards))
	for i, on := range shards {
		found[i] = pipe.Eval(ctx, s.scripts.confirm.source, []string{on.key, on.marker}, t.String(), t.ReshardingID)
	}
	confirmed := pipe.Do(ctx, "wait", 1, confirmWait.Milliseconds())
	_, _ = pipe.Exec(ctx) // every command carries its own error.
	for i, on := range shards {
		err := settle(on, found[i], action{settle: func(_ shard, word string, rest []any) error {
			id, _ := text(rest, 0)
			switch {
			case word != wordOK:
				return unexpected(word, rest)
			case id != t.ReshardingID:
				return fmt.Errorf("%w: %s", errNoSeal, on.key)
			}
			return nil
		}})
		if err != nil {
			return err
		}
	}
	replicas, err := confirmed.Int64()
	if err != nil {
		return fmt.Errorf("wait for a replica: %w", err)
	}
	if replicas < 1 {
		return fmt.Errorf("%w after %v", errNoReplica, confirmWait)
	}
	return nil
}
