package e2e_test

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Timing of the scenes: short, so that what takes leases is over soon.
const (
	sceneHeartbeat = 300 * time.Millisecond
	sceneLease     = 4 * time.Second
	sceneRebalance = 8 * time.Second
	// sceneClientLease is for how long members go on unheard, entryDelay the time between
	// their last look at it and the entry in the ledger.
	sceneClientLease = 3200 * time.Millisecond
	entryDelay       = 50 * time.Millisecond
	// convergence is within how much time a group is stable again (protocol V1).
	convergence = 2*sceneLease + sceneRebalance + 4*sceneHeartbeat
	// grain is how exactly the ends of a barrier can be told.
	grain = 5 * time.Millisecond
	// unheard is how often c2 does not hear that it is to synchronise.
	unheard = 3
	// sceneRate is how many records a second are published meanwhile, sceneBatch how many
	// at once, sceneWork how long the handling of one takes.
	sceneRate, sceneBatch, sceneWork = "400", "200", "3ms"
	// sceneRead is how many records one read takes: what is read outlives its Redis.
	sceneRead = "2"
	// backlog is how many published records are not handled when Redis loses some.
	backlog = 100
)

// sceneTiming returns the settings of the coordinator of a scene.
func sceneTiming() []string {
	return []string{
		"--coordination-heartbeat-interval", sceneHeartbeat.String(), "--coordination-hint-interval", "100ms",
		"--coordination-member-lease-ttl", sceneLease.String(), "--coordination-client-lease", sceneClientLease.String(),
		"--coordination-rebalance-timeout", sceneRebalance.String(),
	}
}

// scene is three consumers of a stream that is lightly published to, and what is known of
// them right before the store loses what it had committed.
type scene struct {
	*suite
	record    *recorder
	names     []string
	consumers []*process
	publisher *process
	guests    int

	lineage string
	version int64
	readers map[int]reading
	// lost is before the loss begins, gone after it has happened.
	lost, gone time.Time
}

// reading is by whom and by which grant a shard is read.
type reading struct {
	name  string
	fence int64
}

// startScene starts two of the consumers; the third comes with unsettle. The publisher goes
// on until it is told to stop: there are records however long all that takes.
func startScene(t *testing.T, s *suite) *scene {
	t.Helper()
	c := &scene{suite: s, record: startRecorder(t, s.url())}
	s.front = c.record.url
	s.createStream()
	c.join("c1")
	c.join("c2")
	s.stable(2)
	c.publisher = s.publish(endless, "--attached", "--rate", sceneRate, "--publish-batch", sceneBatch)
	return c
}

func (c *scene) join(name string) {
	c.t.Helper()
	c.names = append(c.names, name)
	c.consumers = append(c.consumers, c.consume(name, "--work", sceneWork, "--batch", sceneRead))
}

// unsettle has guests come and go, and the third consumer join, until at least so many
// structural commits lie behind and the version before the last of them is one that can be
// gone back to. The members are at rest then.
func (c *scene) unsettle(commits int64, possible func(version int64) bool) {
	c.t.Helper()
	const joining = 3 // commits at least: c3 joins, and two others give something back
	start := c.view().MetadataVersion
	for c.view().MetadataVersion < start+commits-joining {
		c.visit(c.guests%3 == 0)
	}
	c.join("c3")
	c.rest()
	for !possible(c.version - commits) {
		c.visit(true)
		c.rest()
	}
}

// visit has one more guest come and go.
func (c *scene) visit(stay bool) {
	c.t.Helper()
	c.guests++
	c.guest(c.guests).visit(stay)
}

// rest waits until the group is stable, every consumer knows its last version, and every
// shard is read by its owner.
func (c *scene) rest() {
	c.t.Helper()
	c.eventually(func() bool {
		view, err := c.admin.Group(c.t.Context(), stream, group)
		require.NoError(c.t, err)
		members, err := c.admin.Members(c.t.Context(), stream, group)
		require.NoError(c.t, err)
		live := 0
		for _, one := range members {
			if one.State == protocol.MemberActive && one.MetadataVersion == view.MetadataVersion {
				live++
			}
		}
		c.version, c.lineage = view.MetadataVersion, view.Lineage
		return view.State == protocol.GroupStable && live == 3
	}, "all three are stable and know the last version")
	owners := c.owners()
	require.Len(c.t, owners, shards)
	c.eventually(func() bool {
		c.readers = c.lastReaders()
		return maps.EqualFunc(owners, c.readers, func(name string, r reading) bool { return r.name == name })
	}, "every shard is read by its owner")
}

// lag waits until records are published, from now on, that nobody has handled.
func (c *scene) lag() {
	c.t.Helper()
	before := len(of("ack", c.ledger("publisher")))
	c.eventually(func() bool {
		left := map[int64]bool{}
		for _, one := range of("ack", c.ledger("publisher"))[before:] {
			left[one.Seq] = true
		}
		for _, name := range c.names {
			for _, one := range of("end", c.ledger(name)) {
				delete(left, one.Seq)
			}
		}
		return len(left) >= backlog
	}, "records are left to handle")
}

// published has the publisher stop and returns how many records Redis has acknowledged.
func (c *scene) published() int {
	c.t.Helper()
	c.publisher.release()
	return len(of("ack", c.ledger("publisher")))
}

func (c *scene) view() *protocol.GroupResponse {
	c.t.Helper()
	view, err := c.admin.Group(c.t.Context(), stream, group)
	require.NoError(c.t, err)
	return view
}

// lastReaders returns who last began to handle a record of each shard.
func (c *scene) lastReaders() map[int]reading {
	c.t.Helper()
	last, readers := map[int]int64{}, map[int]reading{}
	for _, name := range c.names {
		for _, one := range of("start", c.ledger(name)) {
			if one.Wall > last[one.Shard] {
				last[one.Shard], readers[one.Shard] = one.Wall, reading{name, one.Fence}
			}
		}
	}
	return readers
}

// lose carries out the loss. Afterwards c2 hears only after some time that it is to
// synchronise.
func (c *scene) lose(loss func()) {
	told := 0
	c.record.lose(func(e exchange) bool {
		if e.request.MemberID != "c2" || e.answer.Status != protocol.StatusSyncMetadata {
			return false
		}
		told++
		return told <= unheard
	})
	c.lost = time.Now()
	loss()
	c.gone = time.Now()
}
