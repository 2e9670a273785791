package redisstore_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/redisstore"
)

func connect(t *testing.T, addr string) redis.UniversalClient {
	t.Helper()
	client, err := redisx.New(redisx.Options{Addrs: []string{addr}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// everyCall makes each call of the store on orders() and hands its error to check.
func everyCall(t *testing.T, kept *redisstore.Store, check func(t *testing.T, writes bool, err error)) {
	t.Helper()
	version := store.Version{Revision: 1, Token: "first"}
	_, err := kept.Load(t.Context(), orders(), store.Version{})
	check(t, false, err)
	_, err = kept.Load(t.Context(), orders(), version)
	check(t, false, err)
	_, err = kept.Ping(t.Context())
	check(t, false, err)
	_, err = kept.History(t.Context(), orders(), "", 1)
	check(t, false, err)
	_, err = kept.Touch(t.Context(), store.Touch{Key: orders(), Version: version, Identity: store.IdentityUnknown, Beats: []store.Beat{beat("m1", 1)}})
	check(t, true, err)
	_, err = kept.Commit(t.Context(), change(version))
	check(t, true, err)
	_, err = kept.Delete(t.Context(), orders(), version, nil)
	check(t, true, err)
	_, err = kept.Lease(t.Context(), orders(), time.Minute)
	check(t, true, err)
	_, err = kept.Create(t.Context(), store.Create{Key: orders(), Token: "first", Aggregate: []byte("{}")})
	check(t, true, err)
}

// Field cases F21 and F22: none of these is ever read as a group that is missing.
func TestARefusingServerIsUnavailableWithItsStateNamed(t *testing.T) {
	t.Parallel()
	for state, answer := range map[string]string{
		"LOADING":     "-LOADING Redis is loading the dataset in memory",
		"MASTERDOWN":  "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
		"CLUSTERDOWN": "-CLUSTERDOWN Hash slot not served",
		"TRYAGAIN":    "-TRYAGAIN Multiple keys request during rehashing of slot",
		"BUSY":        "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
		"READONLY":    "-READONLY You can't write against a read only replica.",
		"OOM":         "-OOM command not allowed when used memory > 'maxmemory'.",
		"MISCONF":     "-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
		"NOPERM":      "-NOPERM this user has no permissions to run the 'evalsha' command",
		"NOREPLICAS":  "-NOREPLICAS Not enough good replicas to write.",
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			kept := newStore(t, connect(t, newStub(t, answer).addr()), redisstore.Options{})
			everyCall(t, kept, func(t *testing.T, _ bool, err error) {
				t.Helper()
				requireState(t, state, err)
			})
		})
	}
}

func requireState(t *testing.T, state string, err error) {
	t.Helper()
	require.ErrorIs(t, err, store.ErrUnavailable)
	for _, other := range []error{store.ErrNotFound, store.ErrConflict, store.ErrCorrupt, store.ErrExists, store.ErrBusy} {
		require.NotErrorIs(t, err, other)
	}
	var unavailable *store.UnavailableError
	require.ErrorAs(t, err, &unavailable)
	require.Equal(t, state, unavailable.State, err)
}

func TestAnAnswerThatNoScriptGivesIsUnavailable(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		"+OK", ":1", "$-1", "*-1", "*0", "*1\r\n:1", "*1\r\n$2\r\nok", "*1\r\n$3\r\nwho", "*2\r\n$2\r\nok\r\n$1\r\nx",
		"*3\r\n$2\r\nok\r\n:1\r\n:1", "*4\r\n$2\r\nok\r\n:1\r\n$1\r\ni\r\n:1", "-ERR some error", "-WHAT else",
	} {
		kept := newStore(t, connect(t, newStub(t, answer).addr()), redisstore.Options{})
		_, err := kept.Load(t.Context(), orders(), store.Version{})
		requireState(t, "OTHER", err)
		_, err = kept.Touch(t.Context(), store.Touch{Key: orders(), Beats: []store.Beat{beat("m1", 1)}})
		requireState(t, "OTHER", err)
	}
}

func TestAnUnreachableServerHasCertainlyNotWritten(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	kept := newStore(t, connect(t, server.Addr()), redisstore.Options{})
	server.Kill()
	everyCall(t, kept, func(t *testing.T, _ bool, err error) {
		t.Helper()
		requireState(t, "UNREACHABLE", err)
	})
	var unavailable *store.UnavailableError
	_, err := kept.Touch(t.Context(), store.Touch{Key: orders()})
	require.ErrorAs(t, err, &unavailable)
	require.False(t, unavailable.Written, "no connection was made")
}

func TestABrokenConnectionMayHaveWrittenAndTheCallIsSentAgain(t *testing.T) {
	t.Parallel()
	server := newStub(t, "")
	kept := newStore(t, connect(t, server.addr()), redisstore.Options{})
	_, err := kept.Touch(t.Context(), store.Touch{Key: orders()})
	requireState(t, "UNREACHABLE", err)
	var unavailable *store.UnavailableError
	require.ErrorAs(t, err, &unavailable)
	require.True(t, unavailable.Written)
	require.Len(t, server.scripts, 3)
	_, err = kept.Load(t.Context(), orders(), store.Version{})
	require.ErrorAs(t, err, &unavailable)
	require.False(t, unavailable.Written, "a load never writes")

	server.say("*3\r\n$2\r\nok\r\n:1000\r\n$4\r\nnone")
	clock, err := kept.Ping(t.Context())
	require.NoError(t, err)
	require.Equal(t, store.Millis(1000), clock)
}

func TestAServerThatIsSilentTimesOutAndMayHaveWritten(t *testing.T) {
	t.Parallel()
	_, client, _, version := start(t)
	kept := newStore(t, connect(t, client.Options().Addr), redisstore.Options{})
	require.NoError(t, client.Do(t.Context(), "client", "pause", 60_000, "all").Err())
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := kept.Commit(ctx, change(version))
	requireState(t, "TIMEOUT", err)
	var unavailable *store.UnavailableError
	require.ErrorAs(t, err, &unavailable)
	require.True(t, unavailable.Written)
}

func TestAWriteThatRedisRefusesIsNotHalfDone(t *testing.T) {
	t.Parallel()
	for state, setting := range map[string][]any{
		"OOM":        {"config", "set", "maxmemory", "1"},
		"NOREPLICAS": {"config", "set", "min-replicas-to-write", "3"},
		"READONLY":   {"replicaof", "127.0.0.1", "1"},
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			_, client, kept, version := start(t)
			_, err := kept.Touch(t.Context(), store.Touch{
				Key: orders(), Version: version, Identity: store.IdentityUnknown, Beats: []store.Beat{beat("m1", 1), beat("m2", 1)},
			})
			require.NoError(t, err)
			before, history := client.HGetAll(t.Context(), metadata).Val(), client.XLen(t.Context(), events).Val()
			require.NoError(t, client.Do(t.Context(), setting...).Err())

			all := change(version)
			all.Beats, all.Forget = []store.Beat{beat("m1", 2)}, []string{"m2"}
			_, err = kept.Commit(t.Context(), all)
			requireState(t, state, err)
			var unavailable *store.UnavailableError
			require.ErrorAs(t, err, &unavailable)
			require.False(t, unavailable.Written)
			_, err = kept.Touch(t.Context(), store.Touch{Key: orders(), Version: version, Identity: store.IdentityUnknown, Beats: []store.Beat{beat("m1", 2)}})
			requireState(t, state, err)
			_, err = kept.Lease(t.Context(), orders(), time.Minute)
			requireState(t, state, err)
			require.Equal(t, before, client.HGetAll(t.Context(), metadata).Val())
			require.Equal(t, history, client.XLen(t.Context(), events).Val())
		})
	}
}

func TestAReplicaAnswersNothingAboutARecord(t *testing.T) {
	t.Parallel()
	_, client, kept, _ := start(t)
	require.NoError(t, client.Do(t.Context(), "replicaof", "127.0.0.1", "1").Err())
	check := func(t *testing.T, _ bool, err error) {
		t.Helper()
		requireState(t, "READONLY", err)
	}
	everyCall(t, kept, check)
	require.NoError(t, client.Do(t.Context(), "config", "set", "replica-read-only", "no").Err())
	require.NoError(t, client.FlushAll(t.Context()).Err())
	require.NoError(t, client.Do(t.Context(), "config", "set", "replica-read-only", "yes").Err())
	everyCall(t, kept, check) // it lacks the record, as during a full synchronisation
}

func TestAUserWithoutPermissionIsNamed(t *testing.T) {
	t.Parallel()
	server, client, _, version := start(t)
	user := func(name string, rules ...any) *redisstore.Store {
		rules = append([]any{"acl", "setuser", name, "on", ">secret"}, rules...)
		require.NoError(t, client.Do(t.Context(), rules...).Err())
		limited, err := redisx.New(redisx.Options{Addrs: []string{server.Addr()}, Username: name, Password: "secret"})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, limited.Close()) })
		return newStore(t, limited, redisstore.Options{})
	}
	touch := store.Touch{Key: orders(), Version: version, Identity: store.IdentityUnknown, Beats: []store.Beat{beat("m1", 1)}}
	_, err := user("noscript", "~*", "+@all", "-evalsha", "-eval").Touch(t.Context(), touch)
	requireState(t, "NOPERM", err)
	_, err = user("nokeys", "~other:*", "+@all").Touch(t.Context(), touch)
	requireState(t, "NOPERM", err)
	_, err = user("nohset", "~*", "+@all", "-hset").Touch(t.Context(), touch)
	requireState(t, "NOPERM", err)

	blind := user("noinfo", "~*", "+@all", "-info")
	ability, err := blind.Probe(t.Context())
	require.NoError(t, err)
	require.Equal(t, store.IdentityUnknown, ability.Identity, "INFO is refused, and that is no failure")
	snapshot, err := blind.Load(t.Context(), orders(), store.Version{})
	require.NoError(t, err)
	require.Equal(t, store.IdentityUnknown, snapshot.Identity)
}

// Field case F21: the address stands for another server now, but the pool still holds
// connections to the demoted one.
func TestFieldF21AfterAFailoverTheNextCallReachesTheNewPrimary(t *testing.T) {
	t.Parallel()
	const pooled = 20
	former, formerClient, _, version := start(t, redisproc.WithArgs("--repl-diskless-sync-delay", "0"))
	successor := redisproc.Start(t)
	successorClient := successor.Client(t)
	host, port, err := net.SplitHostPort(former.Addr())
	require.NoError(t, err)
	require.NoError(t, successorClient.Do(t.Context(), "replicaof", host, port).Err())
	require.Eventually(t, func() bool { return successorClient.Exists(t.Context(), metadata).Val() == 1 },
		10*time.Second, 10*time.Millisecond)

	var current atomic.Pointer[string]
	addr := former.Addr()
	current.Store(&addr)
	client := redis.NewClient(&redis.Options{
		Addr: addr, PoolSize: pooled,
		Dialer: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, *current.Load())
		},
	})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	fillPool(t, client, pooled)
	kept := newStore(t, client, redisstore.Options{})
	before, err := kept.Load(t.Context(), orders(), store.Version{})
	require.NoError(t, err)

	require.NoError(t, successorClient.Do(t.Context(), "replicaof", "no", "one").Err())
	host, port, err = net.SplitHostPort(successor.Addr())
	require.NoError(t, err)
	require.NoError(t, formerClient.Do(t.Context(), "replicaof", host, port).Err())
	addr = successor.Addr()
	current.Store(&addr)

	_, err = kept.Touch(t.Context(), store.Touch{Key: orders(), Version: version, Identity: store.IdentityUnknown, Beats: []store.Beat{beat("m1", 1)}})
	require.NoError(t, err, "though every pooled connection leads to the demoted server")
	require.True(t, successorClient.HExists(t.Context(), metadata, "l:m1").Val(), "written at the new primary")

	after, err := kept.Load(t.Context(), orders(), store.Version{})
	require.NoError(t, err)
	require.NotEqual(t, before.Identity, after.Identity)
	guarded := change(version)
	guarded.Identity = before.Identity
	_, err = kept.Commit(t.Context(), guarded)
	require.ErrorIs(t, err, store.ErrConflict, "a failover changes the identity (M1)")
}

// fillPool makes the pool hold so many idle connections.
func fillPool(t *testing.T, client *redis.Client, connections int) {
	t.Helper()
	held := make([]*redis.Conn, connections)
	for i := range held {
		held[i] = client.Conn()
		require.NoError(t, held[i].Ping(t.Context()).Err())
	}
	for _, conn := range held {
		require.NoError(t, conn.Close())
	}
	require.Equal(t, uint32(connections), client.PoolStats().IdleConns)
}

func TestARestartKeepsRecordsAndChangesTheIdentity(t *testing.T) {
	t.Parallel()
	server, _, _, version := start(t, redisproc.WithAOF("always"))
	kept := newStore(t, connect(t, server.Addr()), redisstore.Options{})
	before, err := kept.Load(t.Context(), orders(), store.Version{})
	require.NoError(t, err)
	require.NotEqual(t, store.IdentityUnknown, before.Identity)
	server.Restart()
	after, err := kept.Load(t.Context(), orders(), store.Version{})
	require.NoError(t, err)
	require.Equal(t, before.Record, after.Record)
	require.NotEqual(t, before.Identity, after.Identity)
	guarded := change(version)
	guarded.Identity = before.Identity
	_, err = kept.Commit(t.Context(), guarded)
	require.ErrorIs(t, err, store.ErrConflict)
	guarded.Identity = after.Identity
	_, err = kept.Commit(t.Context(), guarded)
	require.NoError(t, err)
}
