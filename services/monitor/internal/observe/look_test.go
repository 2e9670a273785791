package observe

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/services/monitor/internal/facts"
)

// reply is an error reply of Redis.
type reply string

func (r reply) Error() string { return string(r) }

// RedisError marks it for the client library.
func (reply) RedisError() {}

// TestFieldF22OnlyAMissingKeyIsMissing: a server that loads, moves or hangs says nothing of it.
func TestFieldF22OnlyAMissingKeyIsMissing(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]facts.Problem{
		reply("ERR no such key"): facts.ProblemMissing,
		reply("WRONGTYPE Operation against a key holding the wrong kind of value"): facts.ProblemWrongType,
		reply("LOADING Redis is loading the dataset in memory"):                    facts.ProblemUnreachable,
		reply("MOVED 1 127.0.0.1:1"):                                               facts.ProblemUnreachable,
		reply("ASK 1 127.0.0.1:1"):                                                 facts.ProblemUnreachable,
		reply("READONLY You can't write against a read only replica."):             facts.ProblemUnreachable,
		reply("CLUSTERDOWN The cluster is down"):                                   facts.ProblemUnreachable,
		reply("NOPERM this user has no permissions"):                               facts.ProblemUnreachable,
		errors.New("anything"):                                                     facts.ProblemUnreachable,
		&net.OpError{Op: "dial", Err: errNotAsked}:                                 facts.ProblemUnreachable,
		fmt.Errorf("w: %w", errNotAsked):                                           facts.ProblemUnreachable,
	} {
		l := &look{target: target{shard: &facts.Shard{Key: "orders:0", Memory: new(int64(3))}}, failure: err}
		require.Empty(t, l.settle(time.UnixMilli(7), nil))
		require.Equal(t, want, l.shard.Problem, err)
		require.Equal(t, err.Error(), l.shard.Detail)
		require.Nil(t, l.shard.Memory)
		require.Equal(t, want == facts.ProblemUnreachable, l.shard.At.IsZero())
	}
}

func TestAMalformedAnswerIsOfOneShardOnly(t *testing.T) {
	t.Parallel()
	l := &look{target: target{shard: &facts.Shard{Key: "orders:0"}}}
	for _, q := range l.first() {
		q.take("OK", nil)
	}
	require.Empty(t, l.settle(time.UnixMilli(7), nil))
	require.Equal(t, facts.ProblemUnreachable, l.shard.Problem)
	require.Contains(t, l.shard.Detail, "unexpected reply")
}
