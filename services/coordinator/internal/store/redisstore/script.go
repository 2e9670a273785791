package redisstore

import (
	"context"
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

//go:embed lua/*.lua
var sources embed.FS

// tries is how often a call is sent when it can be sent again.
const tries = 3

// retryPause is the longest pause before a call is sent again.
const retryPause = 20 * time.Millisecond

// effect tells whether a script may write.
type effect bool

const (
	reads  effect = false
	writes effect = true
)

type script struct {
	sha, source string
}

type scripts struct {
	load, create, commit, touch, remove, purge, history, follow, take, extend, release, ping, announce script
}

// compile puts the scripts together from their files.
func compile() (scripts, error) {
	var compiled scripts
	for _, part := range []struct {
		into  *script
		files []string
	}{
		{&compiled.load, []string{"common", "load"}},
		{&compiled.create, []string{"common", "create"}},
		{&compiled.commit, []string{"common", "hear", "commit"}},
		{&compiled.touch, []string{"common", "hear", "touch"}},
		{&compiled.remove, []string{"common", "delete"}},
		{&compiled.purge, []string{"common", "purge"}},
		{&compiled.history, []string{"common", "history"}},
		{&compiled.follow, []string{"common", "follow"}},
		{&compiled.take, []string{"take"}},
		{&compiled.extend, []string{"extend"}},
		{&compiled.release, []string{"release"}},
		{&compiled.ping, []string{"common", "ping"}},
		{&compiled.announce, []string{"common", "announce"}},
	} {
		for _, file := range part.files {
			source, err := sources.ReadFile("lua/" + file + ".lua")
			if err != nil {
				return scripts{}, fmt.Errorf("read script: %w", err)
			}
			part.into.source += string(source)
		}
		sum := sha1.Sum([]byte(part.into.source))
		part.into.sha = hex.EncodeToString(sum[:])
	}
	return compiled, nil
}

// run runs a script with its KEYS and ARGV and returns its answer. It sends a call
// again after a broken connection or a refusal that passes: every script may run twice.
// Its error is a callError.
func (s *Store) run(ctx context.Context, script script, effect effect, keys []string, args ...any) (reply, error) {
	written := false
	for try := 1; ; try++ {
		answer, err := s.send(ctx, script, keys, args)
		if err == nil {
			return newReply(answer)
		}
		written = written || bool(effect) && !undelivered(err)
		state := stateOf(err)
		if state == redisx.StateReadOnly {
			s.dropDemoted(ctx)
		}
		if !passes(state, err) || try == tries || clock.Sleep(ctx, rand.N(retryPause)) != nil {
			return reply{}, &callError{cause: err, written: written}
		}
	}
}

// passes tells that the same call may work at once. A dial is not repeated here: go-redis
// has done so.
func passes(state redisx.State, err error) bool {
	return state == redisx.StateReadOnly || state == redisx.StateTryAgain ||
		state == redisx.StateUnreachable && !undelivered(err)
}

// send sends a script once, by its digest, and with its source where Redis does not
// have it yet or not any more.
func (s *Store) send(ctx context.Context, script script, keys []string, args []any) (any, error) {
	words := make([]any, 0, 3+len(keys)+len(args))
	words = append(words, "evalsha", script.sha, len(keys))
	for _, key := range keys {
		words = append(words, key)
	}
	words = append(words, args...)
	answer, err := s.once(ctx, words)
	if redisx.StateOf(err) != redisx.StateNoScript {
		return answer, err
	}
	words[0], words[1] = "eval", script.source
	return s.once(ctx, words)
}

func (s *Store) once(ctx context.Context, words []any) (any, error) {
	cmd := redis.NewCmd(ctx, words...)
	cmd.SetFirstKeyPos(3)
	err := s.client.Process(ctx, singly{cmd})
	if errors.Is(err, redis.Nil) {
		return nil, fmt.Errorf("%w: nothing", errReply)
	}
	return cmd.Val(), err
}

// singly is a command that go-redis does not repeat by itself, so that run knows
// whether a try may have had its effect.
type singly struct {
	*redis.Cmd
}

// NoRetry implements redis.Cmder.
func (singly) NoRetry() bool { return true }

// dropDemoted closes pooled connections to a primary that has become a replica, so that
// the next call dials anew and reaches the primary that the address stands for now
// (field case F21). go-redis closes a connection when it answers READONLY, which the
// ping does on a replica. A cluster client finds the primary by itself.
func (s *Store) dropDemoted(ctx context.Context) {
	single, ok := s.client.(*redis.Client)
	if !ok {
		return
	}
	for range single.PoolStats().IdleConns {
		_, err := s.once(ctx, []any{"eval", s.scripts.ping.source, 1, s.keys.index()})
		if redisx.StateOf(err) != redisx.StateReadOnly {
			return
		}
	}
}
