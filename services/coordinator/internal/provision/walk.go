package provision

import (
	"context"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"
)

// keysPerTrip is the number of shard keys in one pipeline: 1,000 shards take eight
// round trips, and other commands get their turn in between.
const keysPerTrip = 128

// action is what is done to every shard key.
type action struct {
	// queue adds the key's commands to the pipeline.
	queue func(ctx context.Context, pipe redis.Pipeliner, key string) []redis.Cmder
	// settle reads their replies; its error is a *StepError.
	settle func(key string, cmds []redis.Cmder) error
}

// walk carries the action to all keys, pipeline by pipeline, and stops after the
// first pipeline in which a key failed. In a cluster the client splits a pipeline
// between the nodes and follows moved slots.
func walk(ctx context.Context, rdb redis.UniversalClient, keys []string, a action, watch func(Progress)) (Progress, error) {
	at := Progress{Total: len(keys)}
	for batch := range slices.Chunk(keys, keysPerTrip) {
		done, err := trip(ctx, rdb, batch, a)
		at.Done += done
		if step, ok := errors.AsType[*StepError](err); ok {
			step.Done, step.Total = at.Done, at.Total
		}
		at.Err = err
		if watch != nil {
			watch(at)
		}
		if err != nil {
			return at, err
		}
	}
	return at, nil
}

// trip sends one pipeline and returns how many of its keys are done, and the error
// of the first one that is not.
func trip(ctx context.Context, rdb redis.UniversalClient, keys []string, a action) (int, error) {
	pipe := rdb.Pipeline()
	queued := make([][]redis.Cmder, len(keys))
	for i, key := range keys {
		queued[i] = a.queue(ctx, pipe, key)
	}
	_, _ = pipe.Exec(ctx) // every command carries its own error.
	done := 0
	var first error
	for i, key := range keys {
		err := a.settle(key, queued[i])
		switch {
		case err == nil:
			done++
		case first == nil:
			first = err
		}
	}
	return done, first
}
