package rates_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/redisx"
	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestModelCountsAsRedisDoes: what the model says of a stream and its group after each of many
// steps is what a real server says, the older or the newer way of counting.
func TestModelCountsAsRedisDoes(t *testing.T) {
	t.Parallel()
	rdb := redisproc.Start(t).Client(t)
	matches := map[bool]bool{false: true, true: true}
	for seed := range uint64(20) {
		for newer := range matches {
			key := fmt.Sprintf("orders:%d:%t", seed, newer)
			twin := &twin{server: newServer(newer), rdb: rdb, key: key, rand: rand.New(rand.NewPCG(seed, 1))}
			twin.command(t, "XGROUP", "CREATE", key, groupName, "0", "MKSTREAM")
			for range 40 {
				twin.step(t)
				if difference := twin.difference(t); difference != "" {
					t.Logf("newer %t, seed %d: %s", newer, seed, difference)
					matches[newer] = false
					break
				}
			}
		}
	}
	require.True(t, matches[false] || matches[true], "the model counts in no way that Redis does")
}

// twin is a model and a server with which the same is done.
type twin struct {
	server *server
	rdb    *redis.Client
	key    string
	rand   *rand.Rand
}

func (w *twin) command(t *testing.T, args ...any) any {
	t.Helper()
	reply, err := w.rdb.Do(t.Context(), args...).Result()
	if err != nil {
		require.ErrorIs(t, err, redis.Nil)
	}
	return reply
}

func (w *twin) step(t *testing.T) {
	t.Helper()
	n := 1 + w.rand.IntN(5)
	switch w.rand.IntN(6) {
	case 0, 1:
		w.server.add(n)
		for i := range n {
			w.command(t, "XADD", w.key, *id(w.server.clock - int64(n-1-i)), "f", "v")
		}
	case 2, 3:
		w.server.read(n)
		w.command(t, "XREADGROUP", "GROUP", groupName, "c", "COUNT", n, "NOACK", "STREAMS", w.key, ">")
	case 4:
		w.server.trim(n)
		w.command(t, "XTRIM", w.key, "MAXLEN", n)
	case 5:
		if len(w.server.entries) > 0 {
			i := w.rand.IntN(len(w.server.entries))
			w.command(t, "XDEL", w.key, *id(w.server.entries[i]))
			w.server.remove(i)
		}
	}
}

// difference tells what the model has got wrong, empty for nothing.
func (w *twin) difference(t *testing.T) string {
	t.Helper()
	stream, err := w.rdb.XInfoStream(t.Context(), w.key).Result()
	require.NoError(t, err)
	groups, err := redisx.Groups(t.Context(), w.rdb, w.key)
	require.NoError(t, err)
	require.Len(t, groups, 1)
	shard := w.server.shard(false)
	group := shard.Groups[groupName]
	return differ([][3]any{
		{"length", stream.Length, shard.Length},
		{"entries-added", stream.EntriesAdded, *shard.EntriesAdded},
		{"last-generated-id", stream.LastGeneratedID, shown(shard.LastGeneratedID)},
		{"max-deleted-entry-id", stream.MaxDeletedEntryID, shown(shard.MaxDeletedID)},
		{"last-delivered-id", groups[0].LastDeliveredID, shown(group.LastDeliveredID)},
		{"entries-read", groups[0].EntriesRead.String(), count(group.EntriesRead)},
		{"lag", groups[0].Lag.String(), count(group.Lag)},
	})
}

func differ(values [][3]any) string {
	for _, v := range values {
		if v[1] != v[2] {
			return fmt.Sprintf("%s is %v, the model says %v", v[:]...)
		}
	}
	return ""
}

func shown(text *string) string {
	if text == nil {
		return "0-0"
	}
	return *text
}

func count(n *int64) string {
	if n == nil {
		return redisx.Count{}.String()
	}
	return redisx.KnownCount(*n).String()
}
