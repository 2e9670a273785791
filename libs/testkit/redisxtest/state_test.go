package redisxtest

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

const patience = time.Minute

func stateOf(t *testing.T, rdb redisx.Doer, args ...any) redisx.State {
	t.Helper()
	return redisx.StateOf(rdb.Do(t.Context(), args...).Err())
}

func TestStatesOfOneServerAreNamed(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	do(t, rdb, "SET", "text", "v")
	do(t, rdb, "XGROUP", "CREATE", "k", "g", "0", "MKSTREAM")
	do(t, rdb, "ACL", "SETUSER", "reader", "on", ">pw", "~*", "+get")
	require.Equal(t, redisx.StateOK, stateOf(t, rdb, "GET", "missing"))
	require.Equal(t, redisx.StateWrongType, stateOf(t, rdb, "XLEN", "text"))
	require.Equal(t, redisx.StateNoGroup, stateOf(t, rdb, "XREADGROUP", "GROUP", "no", "c", "STREAMS", "k", ">"))
	require.Equal(t, redisx.StateNoGroup, stateOf(t, rdb, "XREADGROUP", "GROUP", "g", "c", "STREAMS", "missing", ">"))
	require.Equal(t, redisx.StateBusyGroup, stateOf(t, rdb, "XGROUP", "CREATE", "k", "g", "0"))
	require.Equal(t, redisx.StateNoScript, stateOf(t, rdb, "EVALSHA", "ffffffffffffffffffffffffffffffffffffffff", 0))
	require.Equal(t, redisx.StateWrongType, stateOf(t, rdb, "EVAL", "return redis.call('XLEN', KEYS[1])", 1, "text"))
	require.Equal(t, redisx.StateOther, stateOf(t, rdb, "NOSUCHCOMMAND"))

	conn := rdb.Conn()
	t.Cleanup(func() { _ = conn.Close() })
	require.Equal(t, redisx.StateNoPerm, redisx.StateOf(conn.AuthACL(t.Context(), "reader", "wrong").Err()))
	require.NoError(t, conn.AuthACL(t.Context(), "reader", "pw").Err())
	require.Equal(t, redisx.StateNoPerm, redisx.StateOf(conn.Set(t.Context(), "k", "v", 0).Err()))
}

func TestStatesOfRefusedWritesAreNamed(t *testing.T) {
	t.Parallel()
	full := redisproc.Start(t, redisproc.WithArgs("--maxmemory", "1")).Client(t)
	require.Equal(t, redisx.StateOOM, stateOf(t, full, "XADD", "k", "*", "f", "v"))
	require.Equal(t, redisx.StateOOM, stateOf(t, full, "EVAL", "return redis.call('SET', KEYS[1], '1')", 1, "k"))
	lonely := redisproc.Start(t, redisproc.WithArgs("--min-replicas-to-write", "1")).Client(t)
	require.Equal(t, redisx.StateNoReplicas, stateOf(t, lonely, "SET", "k", "v"))
}

func TestFieldF20AReplicaRefusesGroupReadsAsReadOnly(t *testing.T) {
	t.Parallel()
	primary := redisproc.Start(t, redisproc.WithArgs("--repl-diskless-sync-delay", "0"))
	host, port, err := net.SplitHostPort(primary.Addr())
	require.NoError(t, err)
	do(t, primary.Client(t), "XGROUP", "CREATE", "k", "g", "0", "MKSTREAM")
	rdb := redisproc.Start(t, redisproc.WithArgs("--replicaof", host+" "+port)).Client(t)
	require.Eventually(t, func() bool { return rdb.Exists(t.Context(), "k").Val() == 1 }, patience, time.Millisecond)
	require.Equal(t, redisx.StateReadOnly, stateOf(t, rdb, "XREADGROUP", "GROUP", "g", "c", "STREAMS", "k", ">"))

	do(t, rdb, "CONFIG", "SET", "replica-serve-stale-data", "no")
	primary.Kill()
	require.Eventually(t, func() bool { return stateOf(t, rdb, "XLEN", "k") == redisx.StateMasterDown }, patience, time.Millisecond)
}

func TestBusyScriptIsNamed(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t, redisproc.WithArgs("--busy-reply-threshold", "1"))
	rdb, victim := server.Client(t), server.Client(t)
	done := make(chan error, 1)
	go func() { done <- victim.Eval(context.WithoutCancel(t.Context()), "while true do end", nil).Err() }()
	require.Eventually(t, func() bool { return stateOf(t, rdb, "GET", "k") == redisx.StateBusy }, patience, time.Millisecond)
	do(t, rdb, "SCRIPT", "KILL")
	require.Error(t, <-done)
}

func TestFieldF15AStreamThatGoesAwayEndsABlockedReadWithANamedState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cause  []any
		states []redisx.State // more than one where servers differ.
	}{
		{[]any{"DEL", "k"}, []redisx.State{redisx.StateUnblocked}},
		{[]any{"XGROUP", "DESTROY", "k", "g"}, []redisx.State{redisx.StateNoGroup}},
		{[]any{"SET", "k", "x"}, []redisx.State{redisx.StateUnblocked, redisx.StateWrongType}},
	} {
		server := redisproc.Start(t)
		rdb := server.Client(t)
		do(t, rdb, "XGROUP", "CREATE", "k", "g", "0", "MKSTREAM")
		got := make(chan error, 1)
		reader := server.Client(t)
		ctx := t.Context()
		go func() {
			got <- reader.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "c", Streams: []string{"k", ">"}, Block: patience}).Err()
		}()
		awaitBlocked(t, rdb, 1)
		do(t, rdb, c.cause...)
		require.Contains(t, c.states, redisx.StateOf(<-got), "%v", c.cause)
	}
}

func TestLostAndMissingServersAreUnreachable(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = rdb.Close() })
	do(t, rdb, "PING")
	server.Kill()
	require.Equal(t, redisx.StateUnreachable, stateOf(t, rdb, "PING"), "a connection that broke")
	require.Equal(t, redisx.StateUnreachable, stateOf(t, rdb, "PING"), "a connection refused")
}

func TestFullServerIsUnreachable(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t, redisproc.WithArgs("--maxclients", "2"))
	require.Eventually(t, func() bool {
		state := redisx.StateOK
		for range 3 {
			rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1})
			t.Cleanup(func() { _ = rdb.Close() })
			if s := stateOf(t, rdb, "PING"); s != redisx.StateOK {
				state = s
			}
		}
		return state == redisx.StateUnreachable
	}, patience, time.Millisecond)
}

func TestASlowAnswerIsATimeout(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	rdb := redis.NewClient(&redis.Options{Addr: server.Addr(), MaxRetries: -1, ReadTimeout: time.Millisecond})
	t.Cleanup(func() { _ = rdb.Close() })
	require.Equal(t, redisx.StateTimeout, stateOf(t, rdb, "BLPOP", "nothing", 1))
}

func awaitBlocked(t *testing.T, rdb *redis.Client, clients int) {
	t.Helper()
	require.Eventually(t, func() bool {
		info, err := rdb.InfoMap(t.Context(), "clients").Result()
		return err == nil && info["Clients"]["blocked_clients"] == itoa(clients)
	}, patience, time.Millisecond)
}
