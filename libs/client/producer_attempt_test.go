package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/client/internal/route"
)

// replyError is an error reply of Redis.
type replyError string

func (e replyError) Error() string { return string(e) }
func (replyError) RedisError()     {}

func TestOutcomeOfAWriteThatFailed(t *testing.T) {
	t.Parallel()
	dial := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for _, c := range []struct {
		err  error
		want outcome
	}{
		{redis.Nil, outcomeStale},
		{replyError("WRONGTYPE Operation against a key holding the wrong kind of value"), outcomeStale},
		{replyError("LOADING Redis is loading the dataset in memory"), outcomeTransient},
		{replyError("READONLY You can't write against a read only replica."), outcomeTransient},
		{replyError("CLUSTERDOWN The cluster is down"), outcomeTransient},
		{replyError("TRYAGAIN Multiple keys request during rehashing of slot"), outcomeTransient},
		{replyError("MASTERDOWN Link with MASTER is down"), outcomeTransient},
		{replyError("NOREPLICAS Not enough good replicas to write."), outcomeTransient},
		{replyError("OOM command not allowed when used memory > 'maxmemory'."), outcomeTransient},
		{replyError("BUSY Redis is busy running a script."), outcomeTransient},
		{replyError("ERR max number of clients reached"), outcomeTransient},
		{replyError("MOVED 1234 127.0.0.1:7000"), outcomeTransient},
		{replyError("NOPERM this user has no permissions to run the 'xadd' command"), outcomeRejected},
		{replyError("ERR wrong number of arguments for 'xadd' command"), outcomeRejected},
		{redis.ErrClosed, outcomeRejected},
		{fmt.Errorf("%w: %w", errNotSent, context.Canceled), outcomeRejected},
		{dial, outcomeTransient},
		{fmt.Errorf("%w: %w", context.DeadlineExceeded, dial), outcomeTransient},
		{redis.ErrPoolTimeout, outcomeTransient},
		{redis.ErrPoolExhausted, outcomeTransient},
		{io.EOF, outcomeUncertain},
		{io.ErrUnexpectedEOF, outcomeUncertain},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, outcomeUncertain},
		{&net.OpError{Op: "write", Err: errors.New("broken pipe")}, outcomeUncertain},
		{context.DeadlineExceeded, outcomeUncertain},
		{context.Canceled, outcomeUncertain},
		{errors.New("something new"), outcomeUncertain},
	} {
		require.Equal(t, c.want, outcomeOf(fmt.Errorf("hook: %w", c.err)), "%v", c.err)
	}
}

func TestWriteThatMayHaveHappenedStaysUncertainWhateverComesLater(t *testing.T) {
	t.Parallel()
	opts := ProducerOptions{RetryUncertain: true, Retries: 2}
	w := write{}
	require.Equal(t, stepWait, w.failed(outcomeUncertain, io.EOF, &opts))
	require.Equal(t, stepWait, w.failed(outcomeTransient, replyError("LOADING Redis is loading"), &opts))
	require.Equal(t, stepGiveUp, w.failed(outcomeTransient, replyError("LOADING Redis is loading"), &opts))
	require.ErrorIs(t, w.err, ErrUncertain)

	w = write{}
	w.failed(outcomeUncertain, io.EOF, &opts)
	require.Equal(t, stepGiveUp, w.failed(outcomeRejected, route.ErrExpired, &opts))
	require.ErrorIs(t, w.err, ErrUncertain)
	require.ErrorIs(t, w.err, ErrRoutingExpired)
}

func TestUncertainWriteIsNotRepeatedUnlessAskedFor(t *testing.T) {
	t.Parallel()
	w := write{}
	require.Equal(t, stepGiveUp, w.failed(outcomeUncertain, io.EOF, &ProducerOptions{Retries: 9}))
	require.ErrorIs(t, w.err, ErrUncertain)
	require.ErrorIs(t, w.err, io.EOF)
}

func TestStaleRouteIsFollowedOnce(t *testing.T) {
	t.Parallel()
	w := write{}
	opts := ProducerOptions{Retries: 9}
	require.Equal(t, stepRefresh, w.failed(outcomeStale, redis.Nil, &opts))
	require.Equal(t, stepWait, w.failed(outcomeTransient, replyError("LOADING Redis is loading"), &opts), "does not use it up")
	require.Equal(t, stepGiveUp, w.failed(outcomeStale, redis.Nil, &opts))
	require.ErrorIs(t, w.err, ErrStaleRoute)
	require.NotErrorIs(t, w.err, ErrUncertain)
}

func TestIDThatWasReadIsASuccessWhateverBrokeAfterwards(t *testing.T) {
	t.Parallel()
	cmd := newAppendCommand(t.Context(), []any{"XADD"})
	cmd.SetVal("1-1")
	cmd.SetErr(io.EOF)
	w := write{}
	_, done := w.conclude(cmd, &ProducerOptions{})
	require.True(t, done)
	require.NoError(t, w.err)
	require.Equal(t, "1-1", w.result.ID)
}

func TestCommandThatAHookSwallowedIsNotASuccess(t *testing.T) {
	t.Parallel()
	w := write{}
	next, done := w.conclude(newAppendCommand(t.Context(), []any{"XADD"}), &ProducerOptions{})
	require.False(t, done)
	require.Equal(t, stepGiveUp, next)
	require.ErrorIs(t, w.err, ErrUncertain)
}

func TestLaterRecordOfAShardKeepsAnEarlierOneFromBeingTriedAgain(t *testing.T) {
	t.Parallel()
	p := &Producer{opts: ProducerOptions{Retries: 3}}
	sent := []*write{{shard: 0}, {shard: 1}, {shard: 0}, {shard: 0}, {shard: 1}}
	commands := make([]appendCommand, len(sent))
	for i := range commands {
		commands[i] = newAppendCommand(t.Context(), []any{"XADD"})
		commands[i].SetErr(replyError("LOADING Redis is loading"))
	}
	commands[2].SetVal("1-1")
	again, refresh := p.gather([]*write{sent[0], sent[1], sent[2], sent[3], sent[4]}, commands)
	require.False(t, refresh)
	require.Equal(t, []*write{sent[1], sent[3], sent[4]}, again)
	require.Error(t, sent[0].err)
	require.NoError(t, sent[2].err)
}
