package e2e_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

const declaredStreams = `streams:
  - name: orders
    shardCount: 4
    groups:
      - name: readers
      - {name: search, initialPosition: latest}
  - name: mails
    shardCount: 1
    groups: [{name: senders}]
`

// A file is applied twice, which changes nothing the second time; what has drifted is told
// before it is mended; and a broken file changes nothing (monitoring, rscctl).
func TestRscctlMakesStreamsAsAFileSays(t *testing.T) {
	t.Parallel()
	o := startOperated(t)
	file := filepath.Join(t.TempDir(), "streams.yaml")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	write(declaredStreams)
	execute := []string{"apply", "-f", file, "--execute", "--wait", "--reason", "change 4711"}

	dry := o.does("", "apply", "-f", file, "--detailed-exitcode")
	require.Equal(t, 4, dry.code, dry.err)
	require.Contains(t, dry.out, "Nothing was changed: this is a dry run")
	require.Contains(t, o.succeeds("", "streams", "list"), "No streams yet.")

	require.Equal(t, 3, strings.Count(o.succeeds("", execute...), "\nDONE "))
	require.Contains(t, o.succeeds("", "groups", "describe", "orders", "search"), "shards:                  4\n")
	before := o.succeeds("", "streams", "list")
	require.Equal(t, "Nothing to do: all is as "+file+" says (2 streams).\n", o.succeeds("", execute...))
	require.Zero(t, o.does("", "plan", "-f", file, "--detailed-exitcode").code)
	require.Equal(t, before, o.succeeds("", "streams", "list"))

	// Somebody scales by hand, and makes a stream that no file knows.
	o.succeeds("", "streams", "scale", "orders", "6", "--reason", "by hand", "--yes", "--watch")
	o.succeeds("", "streams", "create", "zoo", "--shards", "1", "--reason", "by hand")
	drifted := o.does("", "plan", "-f", file, "--detailed-exitcode")
	require.Equal(t, 4, drifted.code)
	require.Contains(t, drifted.out, "Drift: stream orders has 6 shards, the file says 4.\n")
	require.Contains(t, drifted.out, "  removed: 4-5, read until they are proven empty, then sealed\n")
	require.Contains(t, drifted.out, "Unmanaged, left alone: stream zoo\n")

	// A file that is not right changes nothing, also not what is right in it.
	write(strings.Replace(declaredStreams, "groups: [{name: senders}]", "shards: 2", 1))
	broken := o.does("", execute...)
	require.Equal(t, 2, broken.code)
	require.Contains(t, broken.err, file+`:9: a stream has no key "shards"`)
	require.Contains(t, o.succeeds("", "streams", "describe", "orders"), "shards:            6\n")

	write(declaredStreams)
	mended := o.succeeds("", execute...)
	require.Contains(t, mended, "6 -> 4 shards  DEPRECATED")
	require.Contains(t, o.succeeds("", "streams", "describe", "orders"), "shards:            4\n")

	prune := slices.Concat(execute, []string{"--prune"})
	require.Equal(t, 2, o.does("", prune...).code, "pruning wants a word")
	require.Contains(t, o.succeeds("", "streams", "list"), "zoo")
	o.succeeds("", slices.Concat(prune, []string{"--yes"})...)
	require.NotContains(t, o.succeeds("", "streams", "list"), "zoo")

	// Who is bound to some streams may apply a file of those.
	write(strings.Split(declaredStreams, "  - name: mails")[0])
	bound := *o
	bound.home = t.TempDir()
	bound.succeeds(passwordOf(userScoped)+"\n", "login", "--user", userScoped, "--password-stdin")
	require.Contains(t, bound.succeeds("", execute...), "Nothing to do: all is as "+file+" says (1 streams).\n")

	audited := answerOf[protocol.AuditResponse](o, "audit", "list", "--stream", "orders", "--limit", "0")
	reasons := map[string]bool{}
	for _, record := range audited.Records {
		require.Equal(t, userOps, record.Principal)
		reasons[record.Reason] = true
	}
	require.True(t, reasons["change 4711"] && reasons["by hand"], "%v", reasons)
}

// The count goes from 4 to 6 and to 3 with rscctl alone, and back once in between.
func TestRscctlScalesAndRollsBack(t *testing.T) {
	t.Parallel()
	o := startOperated(t)
	o.succeeds("", "streams", "create", stream, "--shards", "4", "--group", group, "--reason", "new")
	require.Contains(t, o.succeeds("", "streams", "scale", stream, "6", "--reason", "load", "--yes", "--watch"), "4 -> 6 shards  DEPRECATED")

	// An unread record keeps shard 5 from its end, until the resharding is undone.
	id, err := o.redis.XAdd(t.Context(), &redis.XAddArgs{Stream: "orders:5", Values: []string{"a", "b"}}).Result()
	require.NoError(t, err)
	o.succeeds("", "streams", "scale", stream, "3", "--reason", "less", "--yes")
	require.Eventually(t, func() bool {
		return strings.Contains(o.does("", "migrations", "show", stream).out, "UNREAD")
	}, patience, seldom, "the record is waited for")
	undone := o.succeeds("", "migrations", "rollback", stream, "--reason", "not read", "--yes", "--watch")
	require.Contains(t, undone, "6 -> 3 shards  ROLLED_BACK")
	require.Contains(t, o.succeeds("", "streams", "describe", stream), "shards:            6\n")

	read, err := o.redis.XReadGroup(t.Context(), &redis.XReadGroupArgs{
		Group: group, Consumer: "hand", Streams: []string{"orders:5", ">"}, Count: 1, Block: -1,
	}).Result()
	require.NoError(t, err)
	require.Equal(t, id, read[0].Messages[0].ID)
	require.NoError(t, o.redis.XAck(t.Context(), "orders:5", group, id).Err())
	watched := o.succeeds("", "streams", "scale", stream, "3", "--reason", "less", "--yes", "--watch")
	require.Contains(t, watched, "6 -> 3 shards  DEPRECATED")
	require.Contains(t, o.succeeds("", "streams", "describe", stream), "shards:            3\n")
}
