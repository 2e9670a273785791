package e2e_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/testkit/redisproc"
)

// rollbacks are by how many commits the metadata is put back.
func rollbacks() []int64 { return []int64{1, 5, 50} }

// Protocol M1–M5, reliability FT08: the server stays the same, so that only members, and
// the coordinator's own memory, can tell that something was lost.
func TestMembersSurviveAnOlderHashOfTheirGroup(t *testing.T) {
	t.Parallel()
	for _, commits := range rollbacks() {
		t.Run(fmt.Sprintf("put back by %d", commits), func(t *testing.T) {
			t.Parallel()
			putHashBack(t, "older hash", commits, hashPut{})
		})
	}
}

// Protocol M1: a coordinator that has just started remembers nothing, so that members alone
// can tell.
func TestMembersTellANewCoordinatorThatTheHashOfTheirGroupIsOlder(t *testing.T) {
	t.Parallel()
	putHashBack(t, "older hash and a new coordinator", 5, hashPut{newCoordinator: true})
}

// Protocol M1: members that report while the record is away have nothing to tell any more,
// those that do not still read. What the coordinator has seen stands against the old state.
func TestMembersSurviveAnOlderHashThatComesSomeTimeAfterTheirsIsDeleted(t *testing.T) {
	t.Parallel()
	putHashBack(t, "older hash after a gap", 5, hashPut{gap: true})
}

// hashPut is how the older record comes.
type hashPut struct {
	// newCoordinator has a new coordinator, which remembers nothing, come with it.
	newCoordinator bool
	// gap has the first member that reports told that there is no record.
	gap bool
}

// putHashBack puts back the group's record alone, on the live server.
func putHashBack(t *testing.T, what string, commits int64, how hashPut) {
	t.Helper()
	server := redisproc.Start(t)
	c := startScene(t, newSuite(t, server.URL(), onServer(t, server)))
	hashes := keepCopies(t, server, func(rdb *redis.Client) (map[string]string, error) {
		return rdb.HGetAll(t.Context(), metadataKey).Result()
	})
	c.unsettle(commits, hashes.has)
	hashes.stop()
	older, rdb := hashes.at(c.version-commits), server.Client(t)

	c.lose(func() {
		if how.newCoordinator {
			c.coordinator.kill()
		}
		if how.gap {
			deleted := time.Now()
			require.NoError(t, rdb.Del(t.Context(), metadataKey).Err())
			c.eventually(func() bool { return len(c.record.since(deleted)) > 0 }, "a member is told that the group is unknown")
		}
		_, err := rdb.TxPipelined(t.Context(), func(p redis.Pipeliner) error {
			p.Del(t.Context(), metadataKey)
			p.HSet(t.Context(), metadataKey, older)
			return nil
		})
		require.NoError(t, err)
	})
	if how.newCoordinator {
		c.startCoordinator()
	}
	r := c.settle()
	proof := c.finish(c.published(), c.names, c.consumers)
	require.Zero(t, proof.Lost)
	c.tell(what, commits, r, proof)
}

// Protocol M1–M5, reliability FT08 and C7: Redis comes back with an older file.
func TestMembersSurviveARedisThatComesBackWithAnOlderFile(t *testing.T) {
	t.Parallel()
	for _, commits := range rollbacks() {
		t.Run(fmt.Sprintf("put back by %d", commits), func(t *testing.T) {
			t.Parallel()
			server := redisproc.Start(t)
			file := filepath.Join(server.Dir(), "dump.rdb")
			c := startScene(t, newSuite(t, server.URL(), onServer(t, server)))
			files := keepCopies(t, server, func(rdb *redis.Client) ([]byte, error) {
				if err := rdb.Save(t.Context()).Err(); err != nil {
					return nil, err
				}
				return os.ReadFile(file)
			})
			c.unsettle(commits, files.has)
			files.stop()
			older := files.at(c.version - commits)

			c.lag()
			c.lose(func() {
				server.Kill()
				require.NoError(t, os.WriteFile(file, older, 0o600))
				server.Restart()
			})
			r := c.settle()
			c.published()
			proof := c.finishAfterLoss(server)
			c.tell("older file", commits, r, proof)
		})
	}
}

// onServer returns the settings of a coordinator of a scene on the server.
func onServer(t *testing.T, server *redisproc.Server) []string {
	t.Helper()
	host, port, err := net.SplitHostPort(server.Addr())
	require.NoError(t, err)
	return append(sceneTiming(), "--redis-host", host, "--redis-port", port)
}

// place is where an entry of a stream is.
type place struct {
	shard int
	id    string
}

// finishAfterLoss waits until everything is handled that Redis still has, has the consumers
// leave, and makes the proof: what is not handled is only what Redis has lost (reliability
// C7).
func (c *scene) finishAfterLoss(server *redisproc.Server) report {
	c.t.Helper()
	kept := c.entries(server.Client(c.t))
	c.finally(func() bool {
		handled := c.handledPlaces()
		for at := range kept {
			if !handled[at] {
				return false
			}
		}
		return true
	}, "everything that Redis has is handled")
	for _, one := range c.consumers {
		one.release()
	}
	p := start(c.t, "check", "replay", "check", "--ledgers", c.ledgers, "--json")
	<-p.done
	r := parse(c.t, p)
	require.Zero(c.t, r.DoubleReaders+r.StaleTokens+r.Strangers+r.Altered+r.OutOfOrderKeys+r.Killed, "%+v", r)
	require.Equal(c.t, r.Records, r.Published)

	handled, ended := c.handledPlaces(), map[int64]bool{}
	for _, name := range c.names {
		for _, one := range of("end", c.ledger(name)) {
			ended[one.Seq] = true
		}
	}
	lost, dropped := 0, 0
	for _, one := range of("ack", c.ledger("publisher")) {
		at := place{one.Shard, one.ID}
		if !kept[at] {
			dropped++
		}
		if !ended[one.Seq] {
			lost++
			require.False(c.t, kept[at] || handled[at], "record %d is in Redis and was not handled", one.Seq)
		}
	}
	require.Equal(c.t, r.Lost, lost, "as the test reads the ledgers")
	require.Positive(c.t, dropped, "Redis has lost acknowledged records")
	require.Positive(c.t, lost, "some of them before they were handled")
	c.t.Logf("Redis lost %d acknowledged records, of which %d had not been handled", dropped, lost)
	return r
}

// entries returns what the shards of the stream hold.
func (c *scene) entries(rdb *redis.Client) map[place]bool {
	c.t.Helper()
	kept := map[place]bool{}
	for shard := range shards {
		entries, err := rdb.XRange(c.t.Context(), fmt.Sprintf("%s:%d", stream, shard), "-", "+").Result()
		require.NoError(c.t, err)
		for _, one := range entries {
			kept[place{shard, one.ID}] = true
		}
	}
	return kept
}

func (c *scene) handledPlaces() map[place]bool {
	c.t.Helper()
	handled := map[place]bool{}
	for _, name := range c.names {
		for _, one := range of("end", c.ledger(name)) {
			handled[place{one.Shard, one.ID}] = true
		}
	}
	return handled
}
