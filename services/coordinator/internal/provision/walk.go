package provision

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// keysPerTrip is the number of shard keys in one pipeline: 1,000 shards take eight
// round trips, and other commands get their turn in between.
const keysPerTrip = 128

// action is one script on every shard.
type action struct {
	script script
	// args are the script's ARGV for a shard.
	args func(shard) []any
	// retiredBy is the resharding whose retired data the script may touch, "" for none.
	retiredBy string
	// settle reads what the script answered behind its word. Nil takes no more than ok.
	settle func(on shard, word string, rest []any) error
	// watch, unless it is nil, is told after every pipeline, from the same goroutine.
	watch func(Progress)
}

func (a action) keys(on shard) []string {
	if a.retiredBy == "" {
		return []string{on.key, on.marker}
	}
	return []string{on.key, on.marker, on.retired + a.retiredBy}
}

// walk carries the action to all shards, pipeline by pipeline, and stops after the
// first pipeline in which a shard failed. In a cluster the client splits a pipeline
// between the nodes and follows moved slots.
func (s *Shards) walk(ctx context.Context, shards []shard, a action) error {
	at := Progress{Total: len(shards)}
	for batch := range slices.Chunk(shards, keysPerTrip) {
		done, err := s.trip(ctx, batch, a)
		at.Done += done
		if step, ok := errors.AsType[*StepError](err); ok {
			step.Done, step.Total = at.Done, at.Total
		}
		at.Err = err
		if a.watch != nil {
			a.watch(at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// trip sends one pipeline and returns how many of its shards are done, and the error
// of the first one that is not.
func (s *Shards) trip(ctx context.Context, shards []shard, a action) (int, error) {
	done := 0
	var first error
	for i, cmd := range s.send(ctx, shards, a) {
		err := settle(shards[i], cmd, a)
		switch {
		case err == nil:
			done++
		case first == nil:
			first = &StepError{Key: shards[i].key, Err: err}
		}
	}
	return done, first
}

// send has the script run on every shard, by its digest, and once more with its source
// where a server does not have it yet or not any more.
func (s *Shards) send(ctx context.Context, shards []shard, a action) []*redis.Cmd {
	sent := make([]*redis.Cmd, len(shards))
	pipe := s.rdb.Pipeline()
	for i, on := range shards {
		sent[i] = pipe.EvalSha(ctx, a.script.sha, a.keys(on), a.args(on)...)
	}
	_, _ = pipe.Exec(ctx) // every command carries its own error.
	pipe = s.rdb.Pipeline()
	for i, on := range shards {
		if redisx.StateOf(sent[i].Err()) == redisx.StateNoScript {
			sent[i] = pipe.Eval(ctx, a.script.source, a.keys(on), a.args(on)...)
		}
	}
	if pipe.Len() > 0 {
		_, _ = pipe.Exec(ctx)
	}
	return sent
}

// settle reads the answer about one shard.
func settle(on shard, cmd *redis.Cmd, a action) error {
	reply, err := cmd.Slice()
	if err != nil {
		return err
	}
	if len(reply) == 0 {
		return fmt.Errorf("%w: an empty list", redisx.ErrReply)
	}
	word, _ := reply[0].(string)
	switch {
	case a.settle != nil:
		return a.settle(on, word, reply[1:])
	case word == wordOK:
		return nil
	default:
		return unexpected(word, reply[1:])
	}
}
