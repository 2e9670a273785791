package redisxtest

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// limited returns a client of a user with these rules.
func limited(t *testing.T, server *redisproc.Server, rules ...any) redis.UniversalClient {
	t.Helper()
	do(t, server.Client(t), append([]any{"ACL", "SETUSER", "limited", "reset", "on", ">pw"}, rules...)...)
	rdb, err := redisx.New(redisx.Options{Addrs: []string{server.Addr()}, Username: "limited", Password: "pw"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = rdb.Close() })
	return rdb
}

func needs() []redisx.Need {
	return []redisx.Need{
		redisx.NeedScript("ours:a"),
		redisx.NeedOn("ours:a", "GET"),
		redisx.NeedOn("ours:a", "SET", "v"),
		redisx.NeedOn("ours:s", "XINFO STREAM"),
		redisx.NeedOn("", "TIME"),
		redisx.NeedOn("ours:a", "NOSUCHCOMMAND"),
	}
}

func named(needs []redisx.Need) []string {
	names := make([]string, len(needs))
	for i, need := range needs {
		names[i] = need.String()
	}
	return names
}

func TestWhatAUserMayNotDoIsFoundWithoutDoingIt(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	root := server.Client(t)
	for _, c := range []struct {
		rules   []any
		refused []string
	}{
		{[]any{"+@all", "~*"}, []string{}},
		{[]any{"+eval", "+evalsha", "+get", "+set", "+xinfo|stream", "+time", "~ours:*"}, []string{}},
		{[]any{"+@all", "-xinfo|stream", "-time", "~ours:*"}, []string{"XINFO STREAM on ours:s", "TIME"}},
		{[]any{"+@all", "~theirs:*"}, []string{"EVALSHA on ours:a", "GET on ours:a", "SET on ours:a", "XINFO STREAM on ours:s"}},
		{[]any{"+@all", "%R~ours:*"}, []string{"EVALSHA on ours:a", "SET on ours:a"}},
		{[]any{"+@all", "-eval", "~*"}, []string{"EVAL"}},
	} {
		refused, err := redisx.Refused(t.Context(), limited(t, server, c.rules...), needs())
		require.NoError(t, err, c.rules)
		require.Equal(t, c.refused, named(refused), c.rules)
	}
	require.Zero(t, root.DBSize(t.Context()).Val(), "nothing is done")
	entries, err := root.ACLLog(t.Context(), 10).Result()
	require.NoError(t, err)
	for _, one := range entries {
		require.Equal(t, "eval", one.Object, "asking is no denial in the log of Redis")
	}
}

func TestEveryNodeOfAClusterIsAsked(t *testing.T) {
	t.Parallel()
	cluster := redisproc.StartCluster(t, 3)
	for i := range 3 {
		rules := []any{"ACL", "SETUSER", "limited", "on", ">pw", "+@all", "~*"}
		if i == 1 {
			rules = append(rules, "-set")
		}
		do(t, cluster.Node(i).Client(t), rules...)
	}
	rdb, err := redisx.New(redisx.Options{Addrs: cluster.Addrs(), Cluster: true, Username: "limited", Password: "pw"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = rdb.Close() })
	refused, err := redisx.Refused(t.Context(), rdb, needs())
	require.NoError(t, err)
	require.Equal(t, []string{"SET on ours:a"}, named(refused))
}

// storage, Failure: NOPERM is a state with a name, told once.
func TestMissingPermissionsAreToldOnceAndByName(t *testing.T) {
	t.Parallel()
	server := redisproc.Start(t)
	rdb := limited(t, server, "+@all", "-set", "~ours:*")
	var log bytes.Buffer
	permissions := redisx.NewPermissions(rdb, needs(), slog.New(slog.NewTextHandler(&log, nil)))
	for range 3 {
		require.Equal(t, `the access control list of Redis (NOPERM) refuses to user "limited": SET on ours:a; allow it, see docs/redis-acl.md`,
			permissions.Problem(t.Context()))
		require.NotEmpty(t, permissions.Unready(t.Context()))
	}
	require.Equal(t, 1, strings.Count(log.String(), "lacks permissions"), log.String())

	do(t, server.Client(t), "ACL", "SETUSER", "limited", "+set")
	require.Empty(t, permissions.Problem(t.Context()))
	require.Equal(t, 1, strings.Count(log.String(), "has all permissions again"))
	do(t, server.Client(t), "ACL", "SETUSER", "limited", "-get")
	require.Contains(t, permissions.Problem(t.Context()), "GET on ours:a")
	require.Empty(t, permissions.Unready(t.Context()), "what worked goes on")

	server.Kill()
	require.Contains(t, permissions.Problem(t.Context()), "GET on ours:a", "a server that is away has changed nothing")
}
