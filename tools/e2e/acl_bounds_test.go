package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// TestNoRoleMayDoMoreThanItsOwn: what the shipped lines have to refuse (reliability 5, Redis).
func TestNoRoleMayDoMoreThanItsOwn(t *testing.T) {
	t.Parallel()
	root := redisproc.Start(t).Client(t)
	for _, line := range shippedACL(t) {
		rules := []any{"ACL", "SETUSER"}
		for _, word := range aclWords(line) {
			rules = append(rules, word)
		}
		require.NoError(t, root.Do(t.Context(), rules...).Err(), line)
	}
	const metadata, audit, shard = "redis-stream:coord:{orders:readers}:metadata", "redis-stream:coord:gateway:audit", "orders:0"
	own := map[string][]string{ // what is theirs
		roleCoordinator: {"HSET " + metadata + " f v", "XGROUP CREATE " + shard + " g 0 MKSTREAM", "UNLINK " + shard},
		roleGateway:     {"XADD " + audit + " * f v", "ZADD redis-stream:coord:gateway:revoked 1 m"},
		roleMonitor:     {"XRANGE " + shard + " - +", "XREVRANGE " + audit + " + -", "SET redis-stream:coord:monitor:lease v"},
		roleProducer:    {"XADD " + shard + " NOMKSTREAM * f v"},
		roleConsumer:    {"XREADGROUP GROUP g c STREAMS " + shard + " >", "XACK " + shard + " g 1-0", "XADD orders-dead-letter * f v"},
	}
	nobodys := []string{ // and what is nobody's
		"FLUSHALL", "FLUSHDB", "KEYS *", "CONFIG GET *", "CONFIG SET save x", "DEBUG SLEEP 1", "SHUTDOWN", "ACL WHOAMI", "ACL SETUSER eve",
		"REPLICAOF NO ONE", "MONITOR", "CLIENT KILL ID 1", "SWAPDB 0 1", "MIGRATE h 1 k 0 1", "SCRIPT FLUSH", "FUNCTION FLUSH",
		"CLUSTER RESET", "PUBLISH c m", "SUBSCRIBE c", "SET another v", "GET another", "XTRIM " + shard + " MAXLEN 0",
	}
	others := map[string][]string{
		roleCoordinator: {"DEL " + audit, "GET redis-stream:coord:gateway:rate:x", "XREADGROUP GROUP g c STREAMS " + shard + " >"},
		roleGateway:     {"HGETALL " + metadata, "XRANGE " + shard + " - +", "DEL redis-stream:coord:monitor:lease"},
		roleMonitor:     {"SET " + shard + " v", "DEL " + audit, "HSET " + metadata + " f v", "XACK " + shard + " g 1-0", "EVAL x 1 " + shard},
		roleProducer:    {"XRANGE " + shard + " - +", "XADD payments:0 * f v", "DEL " + shard, "EVAL x 1 " + shard, "XREAD STREAMS " + shard + " 0"},
		roleConsumer:    {"XADD " + shard + " * f v", "XRANGE payments:0 - +", "XGROUP DESTROY " + shard + " g", "DEL " + shard, "XRANGE orders-dead-letter - +"},
	}
	may := func(role, command string) bool {
		args := []any{"ACL", "DRYRUN", role}
		for word := range strings.FieldsSeq(command) {
			args = append(args, word)
		}
		answer, err := root.Do(t.Context(), args...).Text()
		require.NoError(t, err, "%s: %s", role, command)
		return answer == "OK"
	}
	for role := range own {
		for _, command := range own[role] {
			require.True(t, may(role, command), "%s may %s", role, command)
		}
		for _, command := range append(others[role], nobodys...) {
			require.False(t, may(role, command), "%s may not %s", role, command)
		}
		err := root.Do(t.Context(), "AUTH", role, "").Err()
		require.Error(t, err, "a line without a password lets nobody in")
	}
}

// aclWords splits a line behind its first word, a selector in parentheses being one.
func aclWords(line string) []string {
	var words []string
	open := false
	for word := range strings.FieldsSeq(strings.TrimPrefix(line, "user ")) {
		if open {
			words[len(words)-1] += " " + word
		} else {
			words = append(words, word)
		}
		open = (open || strings.HasPrefix(word, "(")) && !strings.HasSuffix(word, ")")
	}
	return words
}

func TestTheGuideShowsTheLinesAsTheyAreShipped(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "redis-acl.md"))
	require.NoError(t, err)
	for user, line := range shippedACL(t) {
		require.Contains(t, string(text), "\n```\n"+line+"\n```\n", user)
	}
}
