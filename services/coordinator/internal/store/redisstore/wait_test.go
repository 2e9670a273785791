package redisstore_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/redisstore"
	"github.com/redis-stream-coordinator/rsc/services/coordinator/internal/store/storetest"
)

// pair is a primary with one replica in step, and a store on the primary.
type pair struct {
	primary, replica *redisproc.Server
	client, follower *redis.Client
	kept             *redisstore.Store
}

// patient waits for a replica on a busy machine too, hasty not for one that is stopped.
func patient() redisstore.Options { return redisstore.Options{WaitTimeout: 2 * time.Second} }

func hasty() redisstore.Options { return redisstore.Options{WaitTimeout: 100 * time.Millisecond} }

func startPair(t *testing.T, options redisstore.Options) pair {
	t.Helper()
	p := pair{primary: redisproc.Start(t, redisproc.WithArgs("--enable-debug-command", "yes")), replica: redisproc.Start(t)}
	p.replica.Follow(t, p.primary)
	p.client, p.follower = p.primary.Client(t), p.replica.Client(t)
	p.kept = newStore(t, p.client, options)
	inStep(t, p.client)
	return p
}

// inStep returns when the primary knows what the replica knew a moment before: that it
// has copied all.
func inStep(t *testing.T, primary *redis.Client) {
	t.Helper()
	require.Eventually(t, func() bool {
		return strings.Contains(primary.Info(t.Context(), "replication").Val(), "state=online")
	}, 10*time.Second, time.Millisecond)
}

// signal stops the replica, which stays connected, or lets it go on.
func (p pair) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	require.NoError(t, syscall.Kill(p.replica.PID(), signal))
}

func requireUnconfirmed(t *testing.T, err error) {
	t.Helper()
	requireState(t, "NOREPLICAS", err)
	var unavailable *store.UnavailableError
	require.ErrorAs(t, err, &unavailable)
	require.True(t, unavailable.Written)
}

// sent returns the names of the commands that the client sends while act runs.
func sent(t *testing.T, addr string, client *redis.Client, act func()) []string {
	t.Helper()
	var names []string
	for _, line := range monitor(t, addr, client, act) {
		if words := strings.SplitN(line, " ", 3); words[0] == "client" {
			names = append(names, strings.Trim(words[1], `"`))
		}
	}
	return names
}

func TestContractOnAServerWithAReplica(t *testing.T) {
	t.Parallel()
	p := startPair(t, patient())
	var harnesses atomic.Int64
	t.Run("all", func(t *testing.T) {
		storetest.Run(t, func(t *testing.T) storetest.Harness {
			t.Helper()
			return open(t, p.client, fmt.Sprintf("contract%d", harnesses.Add(1)), wait)
		})
	})
	require.Positive(t, calls(t, p.client, "wait"))
}

// Protocol M3.
func TestAStructuralWriteIsAnsweredWhenAReplicaHasIt(t *testing.T) {
	t.Parallel()
	p := startPair(t, patient())
	version := create(t, p.kept)
	require.Equal(t, "first", p.follower.HGet(t.Context(), metadata, "token").Val())
	for range 200 {
		next := change(version)
		next.Token = fmt.Sprintf("t%d", version.Revision)
		done, err := p.kept.Commit(t.Context(), next)
		require.NoError(t, err)
		version = done.Version
		require.Equal(t, version.Token, p.follower.HGet(t.Context(), metadata, "token").Val())
	}
	require.Equal(t, 201, calls(t, p.client, "wait"))
}

func TestACommitIsHeldBackUntilTheReplicaHasIt(t *testing.T) {
	t.Parallel()
	p := startPair(t, patient())
	version := create(t, p.kept)
	p.signal(t, syscall.SIGSTOP)
	answered := make(chan error, 1)
	go func() {
		_, err := p.kept.Commit(t.Context(), change(version))
		answered <- err
	}()
	require.Eventually(t, func() bool {
		return strings.Contains(p.client.Info(t.Context(), "clients").Val(), "blocked_clients:1\r\n")
	}, 10*time.Second, time.Millisecond, "the commit waits")
	require.Equal(t, "2", p.client.HGet(t.Context(), metadata, "revision").Val())
	require.Empty(t, answered)
	p.signal(t, syscall.SIGCONT)
	require.NoError(t, <-answered)
	require.Equal(t, "2", p.follower.HGet(t.Context(), metadata, "revision").Val())
}

func TestAWriteThatNoReplicaConfirmsIsThereButNotAnswered(t *testing.T) {
	t.Parallel()
	p := startPair(t, patient())
	version := create(t, p.kept)
	p.kept = newStore(t, p.client, hasty())
	p.signal(t, syscall.SIGSTOP)

	begun := time.Now()
	next := change(version)
	_, err := p.kept.Commit(t.Context(), next)
	requireUnconfirmed(t, err)
	require.Less(t, time.Since(begun), 2*time.Second)
	_, err = p.kept.Commit(t.Context(), next)
	requireUnconfirmed(t, err) // the same request again is no proof either
	_, err = p.kept.Create(t.Context(), store.Create{Key: store.Key{Stream: "orders"}, Token: "s", Aggregate: []byte("{}")})
	requireUnconfirmed(t, err)

	snapshot, err := p.kept.Load(t.Context(), orders(), version)
	require.NoError(t, err)
	require.Equal(t, store.Version{Revision: 2, Token: next.Token}, snapshot.Version)
	require.Equal(t, "s", p.client.HGet(t.Context(), "redis-stream:coord:{orders}:stream", "token").Val())
	_, err = p.kept.Touch(t.Context(), store.Touch{Key: orders(), Version: snapshot.Version, Identity: store.IdentityUnknown, Beats: []store.Beat{beat("m1", 1)}})
	require.NoError(t, err, "liveness does not wait")

	p.signal(t, syscall.SIGCONT)
	require.Eventually(t, func() bool {
		done, err := p.kept.Commit(t.Context(), next)
		return err == nil && done.Version == snapshot.Version
	}, 10*time.Second, time.Millisecond)
	require.Equal(t, "2", p.follower.HGet(t.Context(), metadata, "revision").Val())
}

func TestWithoutReplicasNothingWaits(t *testing.T) {
	t.Parallel()
	p := startPair(t, patient())
	version := create(t, p.kept)
	commit := func() {
		done, err := p.kept.Commit(t.Context(), change(version))
		require.NoError(t, err)
		version = done.Version
	}
	commit()
	require.Equal(t, []string{"evalsha", "eval", "wait"}, sent(t, p.primary.Addr(), p.client, commit))
	lines := monitor(t, p.primary.Addr(), p.client, commit)
	require.Contains(t, lines[len(lines)-2], `lua "HSET" "`+metadata+`" "token"`, "the wait has a write of its own connection")
	require.Contains(t, lines[len(lines)-1], `client "wait" "1" "2000"`)
	touch := func() {
		_, err := p.kept.Touch(t.Context(), store.Touch{Key: orders(), Version: version})
		require.NoError(t, err)
	}
	touch()
	require.Equal(t, []string{"evalsha"}, sent(t, p.primary.Addr(), p.client, touch), "a heartbeat never waits")

	p.replica.Kill()
	require.Eventually(t, func() bool {
		return strings.Contains(p.client.Info(t.Context(), "replication").Val(), "connected_slaves:0\r\n")
	}, 10*time.Second, time.Millisecond)
	require.Equal(t, []string{"evalsha"}, sent(t, p.primary.Addr(), p.client, commit))
}

func TestOffNeverWaits(t *testing.T) {
	t.Parallel()
	p := startPair(t, redisstore.Options{WaitReplicas: redisstore.WaitOff})
	p.signal(t, syscall.SIGSTOP)
	version := create(t, p.kept)
	_, err := p.kept.Commit(t.Context(), change(version))
	require.NoError(t, err)
	require.Zero(t, calls(t, p.client, "wait"))
}

func TestAReplicaThatStillCopiesIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	server, client, kept, version := start(t, redisproc.WithArgs("--repl-diskless-sync-delay", "600"))
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.Addr())
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprint(conn, "PSYNC ? -1\r\n")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		return strings.Contains(client.Info(t.Context(), "replication").Val(), "state=wait_bgsave")
	}, 10*time.Second, time.Millisecond)
	_, err = kept.Commit(t.Context(), change(version))
	require.NoError(t, err)
	require.Zero(t, calls(t, client, "wait"))
}

// between is a hook that runs ahead of every pipeline: after the write, before its wait.
type between func()

func (between) DialHook(next redis.DialHook) redis.DialHook { return next }

func (between) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (act between) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if cmds[len(cmds)-1].Name() == "wait" {
			act()
		}
		return next(ctx, cmds)
	}
}

func TestAnotherServersReplicaConfirmsNothing(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string][]any{
		"another history": {"debug", "change-repl-id"},
		"demoted":         {"replicaof", "127.0.0.1", "1"},
		"deleted":         {"del", metadata},
		"not allowed":     {"acl", "setuser", "limited", "-wait"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startPair(t, patient())
			version := create(t, p.kept)
			require.NoError(t, p.client.Do(t.Context(), "acl", "setuser", "limited", "on", "nopass", "~*", "&*", "+@all").Err())
			limited := redis.NewClient(&redis.Options{Addr: p.primary.Addr(), Username: "limited", Password: "any"})
			t.Cleanup(func() { require.NoError(t, limited.Close()) })
			limited.AddHook(between(func() {
				require.NoError(t, p.client.Do(t.Context(), meanwhile...).Err())
			}))
			_, err := newStore(t, limited, patient()).Commit(t.Context(), change(version))
			requireUnconfirmed(t, err)
		})
	}
}

func TestAWaitInAClusterIsForAReplicaOfTheKeysOwner(t *testing.T) {
	t.Parallel()
	const nodes, slots = 3, 16_384
	cluster := redisproc.StartCluster(t, nodes)
	client := cluster.Client(t)
	slot, err := client.ClusterKeySlot(t.Context(), metadata).Result()
	require.NoError(t, err)
	owner := int(slot) * nodes / slots
	replica := cluster.AddReplica(t, owner)
	follower := replica.Client(t).Conn()
	defer follower.Close()
	require.NoError(t, follower.ReadOnly(t.Context()).Err())
	inStep(t, cluster.Node(owner).Client(t))

	kept := newStore(t, client, patient())
	version := create(t, kept)
	for range 50 {
		next := change(version)
		next.Token = fmt.Sprintf("t%d", version.Revision)
		done, err := kept.Commit(t.Context(), next)
		require.NoError(t, err)
		version = done.Version
		require.Equal(t, version.Token, follower.HGet(t.Context(), metadata, "token").Val())
	}
	require.Equal(t, 51, calls(t, cluster.Node(owner).Client(t), "wait"))
	for i := range 20 { // on every node
		_, err := kept.Create(t.Context(), store.Create{Key: store.Key{Stream: fmt.Sprint("s", i)}, Token: "t", Aggregate: []byte("{}")})
		require.NoError(t, err)
	}
	require.Zero(t, calls(t, cluster.Node((owner+1)%nodes).Client(t), "wait"), "it has no replica")

	require.NoError(t, syscall.Kill(replica.PID(), syscall.SIGSTOP))
	_, err = newStore(t, client, hasty()).Commit(t.Context(), change(version))
	requireUnconfirmed(t, err)
}

func TestAWaitWithoutMeaningIsRefused(t *testing.T) {
	t.Parallel()
	client := redis.NewClient(&redis.Options{})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	for _, options := range []redisstore.Options{
		{WaitReplicas: "AUTO"}, {WaitReplicas: "2"}, {WaitTimeout: -1}, {WaitTimeout: time.Millisecond - 1},
	} {
		_, err := redisstore.New(client, options)
		require.ErrorIs(t, err, store.ErrInvalid)
	}
}
