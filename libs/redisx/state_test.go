package redisx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// reply is an error reply of a server as go-redis hands it on.
type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}

func TestEveryErrorHasItsState(t *testing.T) {
	t.Parallel()
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	cases := []struct {
		err       error
		state     State
		transient bool
	}{
		{nil, StateOK, false},
		{redis.Nil, StateOK, false},
		{reply("READONLY You can't write against a read only replica."), StateReadOnly, true},
		{reply("LOADING Redis is loading the dataset in memory"), StateLoading, true},
		{reply("MASTERDOWN Link with MASTER is down"), StateMasterDown, true},
		{reply("CLUSTERDOWN Hash slot not served"), StateClusterDown, true},
		{reply("TRYAGAIN Multiple keys request during rehashing of slot"), StateTryAgain, true},
		{reply("MOVED 3999 127.0.0.1:6381"), StateMoved, true},
		{reply("ASK 3999 127.0.0.1:6381"), StateAsk, true},
		{reply("BUSY Redis is busy running a script."), StateBusy, true},
		{reply("OOM command not allowed when used memory > 'maxmemory'."), StateOOM, true},
		{reply("MISCONF Redis is configured to save RDB snapshots"), StateDisk, true},
		{reply("NOREPLICAS Not enough good replicas to write."), StateNoReplicas, true},
		{reply("NOPERM this user has no permissions to run the 'xadd' command"), StateNoPerm, false},
		{reply("NOPERM ACL failure in script: User u has no permissions to run the 'xadd' command"), StateNoPerm, false},
		{reply("ERR The user executing the script can't run this command or subcommand script: 25, on @user_script:1."), StateNoPerm, false},
		{reply("NOAUTH Authentication required."), StateNoPerm, false},
		{reply("WRONGPASS invalid username-password pair"), StateNoPerm, false},
		{reply("NOSCRIPT No matching script. Please use EVAL."), StateNoScript, false},
		{reply("NOGROUP No such key 'k' or consumer group 'g'"), StateNoGroup, false},
		{reply("BUSYGROUP Consumer Group name already exists"), StateBusyGroup, false},
		{reply("BUSYKEY Target key name already exists."), StateOther, false},
		{reply("UNBLOCKED the stream key no longer exists"), StateUnblocked, false},
		{reply("WRONGTYPE Operation against a key holding the wrong kind of value"), StateWrongType, false},
		{reply("ERR max number of clients reached"), StateUnreachable, true},
		{reply("ERR syntax error"), StateOther, false},
		{reply("ERR no such key"), StateOther, false},
		{reply("ERR"), StateOther, false},
		{reply(""), StateOther, false},
		{reply("TIMEOUT is not a code that Redis sends"), StateOther, false},
		{reply("ERR Error running script (call to f_a1): @user_script:1: -OOM command not allowed"), StateOOM, true},
		{reply("ERR Error running script (call to f_a1): @user_script:7: @user_script: 7: -READONLY You can't write"), StateReadOnly, true},
		{reply("ERR Error running script (call to f_a1): @user_script:1: WRONGTYPE Operation against"), StateWrongType, false},
		{reply("ERR Error running script (call to f_a1): @user_script:1: ERR Error running script (x): y"), StateOther, false},
		{reply("OOM command not allowed script: a1, on @user_script:1."), StateOOM, true},
		{context.DeadlineExceeded, StateTimeout, true},
		{os.ErrDeadlineExceeded, StateTimeout, true},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, StateTimeout, true},
		{redis.ErrPoolTimeout, StateTimeout, true},
		{&net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}, StateUnreachable, true},
		{refused, StateUnreachable, true},
		{io.EOF, StateUnreachable, true},
		{io.ErrUnexpectedEOF, StateUnreachable, true},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, StateUnreachable, true},
		{&net.DNSError{Err: "no such host", Name: "redis", IsNotFound: true}, StateUnreachable, true},
		{errors.New("redis: all sentinels specified in configuration are unreachable"), StateUnreachable, true},
		{errors.New("redis: cluster has no nodes"), StateUnreachable, true},
		{context.Canceled, StateOther, false},
		{redis.ErrClosed, StateOther, false},
		{errors.New("READONLY in a text that is no reply"), StateOther, false},
	}
	for _, c := range cases {
		require.Equal(t, c.state, StateOf(c.err), "%v", c.err)
		require.Equal(t, c.transient, StateOf(c.err).Transient(), "%v", c.err)
		if c.err != nil {
			require.Equal(t, c.state, StateOf(fmt.Errorf("read %q: %w", "k", c.err)), "wrapped %v", c.err)
		}
	}
}

func TestFieldF22RetryLaterIsOneClassAndNeverAMissingGroup(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "OOM", "BUSY"} {
		state := StateOf(reply(code + " some text"))
		require.True(t, state.Transient(), code)
		require.NotEqual(t, StateNoGroup, state, code)
	}
}
