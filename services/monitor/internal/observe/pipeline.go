package observe

import (
	"context"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

// question is one command. take is given its answer, once.
type question struct {
	args []any
	// keyAt is which of args is the key, by which a cluster finds the server.
	keyAt int8
	take  func(reply any, err error)
}

// maxQuestions bounds a pipeline where many groups are on the same shards.
const maxQuestions = 1024

// send asks the questions, in one pipeline unless there are very many. The error tells that
// the server answers nothing at all; other errors are those of single questions.
func send(ctx context.Context, rdb redis.UniversalClient, questions []question) error {
	for batch := range slices.Chunk(questions, maxQuestions) {
		if err := sendBatch(ctx, rdb, batch); err != nil {
			return err
		}
	}
	return nil
}

func sendBatch(ctx context.Context, rdb redis.UniversalClient, questions []question) error {
	pipe := rdb.Pipeline()
	asked := make([]*redis.Cmd, len(questions))
	for i, q := range questions {
		asked[i] = redis.NewCmd(ctx, q.args...)
		asked[i].SetFirstKeyPos(q.keyAt)
		_ = pipe.Process(ctx, asked[i])
	}
	_, failed := pipe.Exec(ctx)
	answered := false
	for i, q := range questions {
		reply, err := asked[i].Result()
		if errors.Is(err, redis.Nil) {
			reply, err = nil, nil
		}
		answered = answered || err == nil || !away(err)
		q.take(reply, err)
	}
	if answered {
		return nil
	}
	return failed
}

// away tells whether err says that nobody answers.
func away(err error) bool {
	state := redisx.StateOf(err)
	return state == redisx.StateTimeout || state == redisx.StateUnreachable || errors.Is(err, context.Canceled)
}
